package kernel

import (
	"fmt"
	"syscall"
	"unsafe"
)

// What sched_setscheduler(2) takes: a policy, a flag, and the least priority.
const (
	roundRobin  = 2       // SCHED_RR
	resetOnFork = 1 << 30 // SCHED_RESET_ON_FORK
	least       = 1
)

// Hurry lets the calling thread run before those of ordinary processes, and so all threads and processes that it starts, so that these end at
// once when they are killed: a thread that dies needs a processor for that. It needs CAP_SYS_NICE, or an RLIMIT_RTPRIO above 0. The
// caller has locked the thread to its goroutine.
func Hurry() error { return schedule(roundRobin) }

// HurryAlone is [Hurry] without what the thread starts from now on: that runs as ordinary processes do from its first instruction on.
func HurryAlone() error { return schedule(roundRobin | resetOnFork) }

// schedule sets the policy of the calling thread.
func schedule(policy uintptr) error {
	priority := int32(least)
	if _, _, errno := syscall.Syscall(syscall.SYS_SCHED_SETSCHEDULER, 0, policy, uintptr(unsafe.Pointer(&priority))); errno != 0 {
		return fmt.Errorf("sched_setscheduler: %w", errno)
	}
	return nil
}
