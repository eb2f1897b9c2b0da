//go:build unix

package agent

import (
	"os"
	"syscall"
)

// system returns what a process of the user starts with. Only root may change groups, and only root runs commands of other users.
func (c *credential) system() *syscall.Credential {
	return &syscall.Credential{Uid: c.user, Gid: c.group, Groups: c.groups, NoSetGroups: os.Getuid() != 0}
}
