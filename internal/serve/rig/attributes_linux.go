package rig

import "syscall"

// attributes put a process into a process group of its own, so that the terminal's Ctrl-C reaches its parent only, and
// have the kernel kill it, paused or not, when the thread that started it ends.
func attributes() *syscall.SysProcAttr {
	return &syscall.SysProcAttr{Setpgid: true, Pdeathsig: syscall.SIGKILL}
}
