//go:build unix && !linux

package rig

import "syscall"

// attributes put a process into a process group of its own, so that the terminal's Ctrl-C reaches its parent only. There
// is no parent-death signal on this system: a member of a demo that was killed ends by --stop-with-stdin, or, if it is
// paused, when it is resumed.
func attributes() *syscall.SysProcAttr {
	return &syscall.SysProcAttr{Setpgid: true}
}
