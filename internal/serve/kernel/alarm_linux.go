package kernel

import (
	"os"
	"syscall"
	"time"
	"unsafe"
)

// Alarm is a timer of the kernel that two processes share by a descriptor. One process sets it, again and again, and that wakes no process. The other one waits until
// it expires. See timerfd_create(2).
type Alarm struct{ Descriptor uintptr }

// NewAlarm makes an alarm that is not set. A process that this one starts does not inherit it.
func NewAlarm() (*Alarm, error) {
	descriptor, _, errno := syscall.RawSyscall(syscall.SYS_TIMERFD_CREATE, clockMonotonic, syscall.O_CLOEXEC, 0)
	if errno != 0 {
		return nil, os.NewSyscallError("timerfd_create", errno)
	}
	return &Alarm{descriptor}, nil
}

// Set sets the time after which the alarm goes off, in place of the one before; 0 is as soon as possible. It does not wait.
func (a *Alarm) Set(after time.Duration) error {
	setting := struct{ interval, value syscall.Timespec }{value: syscall.NsecToTimespec(max(after, 1).Nanoseconds())}
	if _, _, errno := syscall.RawSyscall6(syscall.SYS_TIMERFD_SETTIME, a.Descriptor, 0, uintptr(unsafe.Pointer(&setting)), 0, 0, 0); errno != 0 {
		return os.NewSyscallError("timerfd_settime", errno)
	}
	return nil
}

// Await waits until the alarm goes off, or has gone off since it was set. The thread waits in the kernel: so it runs at once, if it runs before others.
func (a *Alarm) Await() error {
	var times [8]byte
	for {
		_, err := syscall.Read(int(a.Descriptor), times[:])
		if err != syscall.EINTR {
			return os.NewSyscallError("read", err)
		}
	}
}
