//go:build unix

package agent

import (
	"errors"
	"os"
	"os/exec"
	"path/filepath"
	"syscall"
)

// system returns what a process of the user starts with. Only root may change groups, and only root runs commands of other users.
func (c *credential) system() *syscall.Credential {
	return &syscall.Credential{Uid: c.user, Gid: c.group, Groups: c.groups, NoSetGroups: os.Getuid() != 0}
}

// Reaches reports whether a user, as of [Config.User], can open files in the folder of a path. A process of the user tries it: modes alone do not tell.
func Reaches(name, path string) bool {
	as, _, err := lookUser(name)
	if as == nil || err != nil {
		return err == nil
	}
	try := exec.Command("/bin/sh", "-c", `test -x "$1"`, "sh", filepath.Dir(path))
	try.SysProcAttr = &syscall.SysProcAttr{Credential: as.system()}
	return !errors.As(try.Run(), new(*exec.ExitError)) // another error: this host cannot tell
}
