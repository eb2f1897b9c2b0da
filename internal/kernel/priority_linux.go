package kernel

import (
	"errors"
	"fmt"
	"os"
	"strconv"
	"syscall"
	"unsafe"
)

// The policies of scheduling, and the least priority of the first.
const (
	roundRobin = 2 // SCHED_RR
	ordinary   = 0 // SCHED_OTHER
	least      = 1
)

// Hurry lets all threads of this process run before those of ordinary processes, so that it ends at once when it is killed:
// a thread that dies needs a processor for that. Threads and processes that they start do so, too: see [Calm]. It needs
// CAP_SYS_NICE, or an RLIMIT_RTPRIO above 0.
func Hurry() error {
	if !Numbered() {
		return errors.New("/proc is that of another PID namespace")
	}
	threads, err := os.ReadDir("/proc/self/task")
	if err != nil {
		return err
	}
	for _, thread := range threads {
		id, err := strconv.Atoi(thread.Name())
		if err != nil {
			return err
		}
		if errno := schedule(id, roundRobin, least); errno != 0 && errno != syscall.ESRCH { // it may have ended
			return fmt.Errorf("sched_setscheduler: %w", errno)
		}
	}
	return nil
}

// Calm lets the calling thread run as those of ordinary processes do, and so what it starts. The caller has locked it to its
// goroutine.
func Calm() error {
	if errno := schedule(0, ordinary, 0); errno != 0 {
		return fmt.Errorf("sched_setscheduler: %w", errno)
	}
	return nil
}

// schedule sets the policy and the priority of a thread; 0 is the calling one.
func schedule(thread int, policy uintptr, priority int32) syscall.Errno {
	_, _, errno := syscall.Syscall(syscall.SYS_SCHED_SETSCHEDULER, uintptr(thread), policy, uintptr(unsafe.Pointer(&priority)))
	return errno
}

// Numbered reports whether /proc has the numbers by which this process knows itself and others. It does not in a PID namespace with
// the /proc of another one.
func Numbered() bool {
	own, err := os.Readlink("/proc/self")
	return err == nil && own == strconv.Itoa(os.Getpid())
}
