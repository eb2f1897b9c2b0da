package kernel

import (
	"fmt"
	"syscall"
	"time"
	"unsafe"
)

// The clock that goes on while the machine is suspended, and the flag by which a moment on it is absolute.
const (
	clockBoottime = 7 // CLOCK_BOOTTIME
	timerAbsolute = 1 // TIMER_ABSTIME
)

// event is a struct sigevent with SIGEV_SIGNAL.
type event struct {
	value  uintptr
	signal int32
	notify int32 // SIGEV_SIGNAL is 0
	_      [56 - unsafe.Sizeof(uintptr(0))]byte
}

// Timer is a timer of the kernel that sends a signal to this process: see timer_create(2). It needs nothing of the process, so with SIGKILL
// it also kills one that is stopped, or gets no processor. A process that this one starts does not inherit it.
type Timer struct{ id int32 }

// NewTimer makes a timer that is not set, and sends a signal.
func NewTimer(s syscall.Signal) (*Timer, error) {
	var t Timer
	e := event{signal: int32(s)}
	if _, _, errno := syscall.Syscall(syscall.SYS_TIMER_CREATE, clockBoottime, uintptr(unsafe.Pointer(&e)), uintptr(unsafe.Pointer(&t.id))); errno != 0 {
		return nil, fmt.Errorf("timer_create: %w", errno)
	}
	return &t, nil
}

// Set sets the moment at which the kernel sends the signal, a reading of CLOCK_BOOTTIME, in place of the one before. With
// [Never] it sends none. For a moment that is over it does so at once.
func (t *Timer) Set(at time.Duration) error {
	var setting struct{ interval, value syscall.Timespec } // all zero: none
	if at != Never {
		setting.value = syscall.NsecToTimespec(max(at, 1).Nanoseconds())
	}
	if _, _, errno := syscall.Syscall6(syscall.SYS_TIMER_SETTIME, uintptr(t.id), timerAbsolute, uintptr(unsafe.Pointer(&setting)), 0, 0, 0); errno != 0 {
		return fmt.Errorf("timer_settime: %w", errno)
	}
	return nil
}

// Close removes the timer.
func (t *Timer) Close() error {
	if _, _, errno := syscall.Syscall(syscall.SYS_TIMER_DELETE, uintptr(t.id), 0, 0); errno != 0 {
		return fmt.Errorf("timer_delete: %w", errno)
	}
	return nil
}
