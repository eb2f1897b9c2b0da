package rig

import "syscall"

// attributes put a process into a process group of its own, so that the console's Ctrl-C reaches its parent only. A member
// of a demo that was killed ends by --stop-with-stdin.
func attributes() *syscall.SysProcAttr {
	return &syscall.SysProcAttr{CreationFlags: syscall.CREATE_NEW_PROCESS_GROUP}
}
