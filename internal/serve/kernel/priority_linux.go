package kernel

import (
	"errors"
	"fmt"
	"os"
	"runtime"
	"strconv"
	"sync"
	"syscall"
	"time"
	"unsafe"
)

// What sched_setscheduler(2) takes: a policy, a flag, and the least priority of what is not ordinary.
const (
	ordinary    = 0       // SCHED_OTHER
	roundRobin  = 2       // SCHED_RR
	resetOnFork = 1 << 30 // SCHED_RESET_ON_FORK
	least       = 1
)

// own are the threads that have asked for themselves: what is asked for all leaves them as they are.
var own struct {
	mu      sync.Mutex
	threads map[int]bool
}

// Hurry lets the calling thread run before those of ordinary processes, and so all threads and processes that it starts, so that these end at
// once when they are killed: a thread that dies needs a processor for that. It needs CAP_SYS_NICE, or an RLIMIT_RTPRIO above 0. The
// caller has locked the thread to its goroutine.
func Hurry() error { return hurry(roundRobin, least) }

// HurryAlone is [Hurry] without what the thread starts from now on: that runs as ordinary processes do from its first instruction on. The thread
// watches others, so it runs before those, too, that hurry and are in a loop, if an RLIMIT_RTPRIO above 1 allows that.
func HurryAlone() error {
	if err := hurry(roundRobin|resetOnFork, least+1); err == nil {
		return nil
	}
	return hurry(roundRobin|resetOnFork, least)
}

func hurry(policy uintptr, priority int32) error {
	thread := syscall.Gettid()
	own.mu.Lock()
	defer own.mu.Unlock()
	if own.threads == nil {
		own.threads = map[int]bool{}
	}
	own.threads[thread] = true
	return schedule(thread, policy, priority)
}

// HurryAll is [Hurry] for all threads of this process.
func HurryAll() error { return all("self", roundRobin, least) }

// HurryProcess is [Hurry] for all threads of another process.
func HurryProcess(pid int) error { return all(strconv.Itoa(pid), roundRobin, least) }

// Hurries reports whether a thread of any process runs before ordinary ones; 0 is the calling thread.
func Hurries(thread int) bool {
	policy, _, errno := syscall.Syscall(syscall.SYS_SCHED_GETSCHEDULER, uintptr(thread), 0, 0)
	return errno == 0 && policy&^resetOnFork != ordinary
}

// asOrdinary calls a function in a thread that runs as ordinary ones do meanwhile. That is not the calling thread, which might not be allowed to run before
// others again.
func asOrdinary(do func()) {
	done := make(chan struct{})
	go func() {
		defer close(done)
		runtime.LockOSThread()
		var priority int32
		policy, _, _ := syscall.Syscall(syscall.SYS_SCHED_GETSCHEDULER, 0, 0, 0)
		_, _, _ = syscall.Syscall(syscall.SYS_SCHED_GETPARAM, 0, uintptr(unsafe.Pointer(&priority)), 0)
		_ = RelaxThread(0) // that is always allowed
		do()
		if schedule(0, policy, priority) == nil {
			runtime.UnlockOSThread() // else the thread ends with this goroutine
		}
	}()
	<-done
}

// RelaxThread lets a thread of any process run as ordinary ones do; 0 is the calling thread.
func RelaxThread(thread int) error { return schedule(thread, ordinary, 0) }

// RelaxAll takes [HurryAll] back, but for threads that have called [Hurry] or [HurryAlone] themselves.
func RelaxAll() error { return all("self", ordinary, 0) }

// Retire lets all threads of this process run as ordinary ones until it ends, also those that have asked for themselves. The end of a process takes a
// processor for milliseconds.
func Retire() error {
	own.mu.Lock()
	clear(own.threads)
	own.mu.Unlock()
	return RelaxAll()
}

// all sets the policy of all threads of a process, but for those of this one that have asked for themselves. A thread that appears meanwhile has that
// of the thread that started it, which may not have been set: so it looks until it finds no other.
func all(process string, policy uintptr, priority int32) error {
	own.mu.Lock()
	defer own.mu.Unlock()
	for set := map[int]bool{}; ; {
		tasks, err := os.ReadDir("/proc/" + process + "/task")
		if err != nil {
			return err
		}
		found := false
		for _, task := range tasks {
			thread, err := strconv.Atoi(task.Name())
			if err != nil || set[thread] || own.threads[thread] {
				continue
			}
			set[thread], found = true, true
			if err := schedule(thread, policy, priority); err != nil && !errors.Is(err, syscall.ESRCH) { // it may have ended
				return err
			}
		}
		if !found {
			return nil
		}
	}
}

// schedule sets the policy of a thread. One that is to run as ordinary ones keeps SCHED_RESET_ON_FORK, which only a process with CAP_SYS_NICE may take back.
func schedule(thread int, policy uintptr, priority int32) error {
	if policy == ordinary {
		now, _, _ := syscall.Syscall(syscall.SYS_SCHED_GETSCHEDULER, uintptr(thread), 0, 0) // if that fails, so does the next call
		policy |= now & resetOnFork
	}
	if _, _, errno := syscall.Syscall(syscall.SYS_SCHED_SETSCHEDULER, uintptr(thread), policy, uintptr(unsafe.Pointer(&priority))); errno != 0 {
		return fmt.Errorf("sched_setscheduler: %w", errno)
	}
	return nil
}

// Used is how long this process has had a processor, with all of its threads.
func Used() time.Duration {
	var u syscall.Rusage
	if syscall.Getrusage(syscall.RUSAGE_SELF, &u) != nil {
		return 0 // it does not fail for this process
	}
	return time.Duration(u.Utime.Nano() + u.Stime.Nano())
}
