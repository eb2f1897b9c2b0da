package kernel

import (
	"os"
	"syscall"
	"unsafe"
)

// IsRead reports whether all that was written to a pipe is read, or that is not known.
func IsRead(pipe *os.File) bool {
	raw, err := pipe.SyscallConn()
	if err != nil {
		return true // it is closed
	}
	var left int32
	_ = raw.Control(func(descriptor uintptr) {
		_, _, _ = syscall.Syscall(syscall.SYS_IOCTL, descriptor, syscall.TIOCINQ, uintptr(unsafe.Pointer(&left)))
	})
	return left == 0
}
