//go:build unix && !linux

package demo

import "syscall"

// memberAttributes put a member into a process group of its own, so that the terminal's Ctrl-C reaches
// the demo only. There is no parent-death signal on this system: a member of a demo that was killed
// ends by --stop-with-stdin, or, if it is paused, when it is resumed.
func memberAttributes() *syscall.SysProcAttr {
	return &syscall.SysProcAttr{Setpgid: true}
}

func isPaused(int) bool { return false } // a member is our child here
