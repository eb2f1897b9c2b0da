package kernel

import (
	"syscall"
	"unsafe"
)

// What waitid(2) takes.
const (
	process = 1          // P_PID
	exited  = 4          // WEXITED
	noWait  = 0x01000000 // WNOWAIT
)

// Ended reports whether a child of this process has ended. It does not reap it, and does not wait.
func Ended(pid int) bool {
	var information [32]int32 // a siginfo_t: the first number is 0 if the child runs
	_, _, errno := syscall.Syscall6(syscall.SYS_WAITID, process, uintptr(pid), uintptr(unsafe.Pointer(&information)), exited|syscall.WNOHANG|noWait, 0, 0)
	return errno != 0 || information[0] != 0
}
