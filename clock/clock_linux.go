package clock

import (
	"syscall"
	"time"
	"unsafe"
)

// boottime is CLOCK_BOOTTIME.
const boottime = 7

// Boottime returns the reading of CLOCK_BOOTTIME, from the start of the system.
func (s *system) Boottime() time.Duration {
	var t syscall.Timespec
	if _, _, errno := syscall.RawSyscall(syscall.SYS_CLOCK_GETTIME, boottime, uintptr(unsafe.Pointer(&t)), 0); errno != 0 {
		panic(errno) // the clock exists since Linux 2.6.39
	}
	return time.Duration(t.Nano())
}
