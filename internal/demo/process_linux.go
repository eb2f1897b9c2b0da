package demo

import "syscall"

// memberAttributes put a member into a process group of its own, so that the terminal's Ctrl-C reaches
// the demo only, and have the kernel kill it, paused or not, when the thread that started it ends.
func memberAttributes() *syscall.SysProcAttr {
	return &syscall.SysProcAttr{Setpgid: true, Pdeathsig: syscall.SIGKILL}
}
