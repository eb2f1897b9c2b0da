package kernel

import (
	"syscall"
	"time"
	"unsafe"
)

const clockMonotonic = 1 // CLOCK_MONOTONIC

// Clocks returns the readings of CLOCK_BOOTTIME and of CLOCK_MONOTONIC, as other processes of the machine read them.
func Clocks() (boottime, monotonic time.Duration) {
	return reading(clockBoottime), Monotonic()
}

// Monotonic is the second of [Clocks].
func Monotonic() time.Duration { return reading(clockMonotonic) }

func reading(clock uintptr) time.Duration {
	var t syscall.Timespec
	if _, _, errno := syscall.RawSyscall(syscall.SYS_CLOCK_GETTIME, clock, uintptr(unsafe.Pointer(&t)), 0); errno != 0 {
		panic(errno) // both clocks exist since Linux 2.6.39
	}
	return time.Duration(t.Nano())
}
