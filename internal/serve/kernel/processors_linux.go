package kernel

import (
	"fmt"
	"math/bits"
	"syscall"
	"time"
	"unsafe"
)

// processors is a set of processors, as sched_setaffinity(2) takes it.
type processors [16]uint64

func (p *processors) call(number uintptr) error {
	if _, _, errno := syscall.Syscall(number, 0, unsafe.Sizeof(*p), uintptr(unsafe.Pointer(p))); errno != 0 {
		return fmt.Errorf("the affinity of a thread: %w", errno)
	}
	return nil
}

// Visit lets the calling thread run on each processor on which it may, one after the other, and returns the longest time that one of them let it
// wait. A processor of a virtual machine may stand still while the others work: the visit ends when it works again. The caller has locked the
// thread to its goroutine, and it hurries: one that does not waits for other processes, too.
func Visit() (longest time.Duration, err error) { return visit(func() {}) }

// visit is [Visit], and calls there on each processor.
func visit(there func()) (longest time.Duration, err error) {
	var allowed processors
	if err := allowed.call(syscall.SYS_SCHED_GETAFFINITY); err != nil {
		return 0, err
	}
	for i, word := range allowed {
		for ; word != 0; word &= word - 1 {
			var one processors
			one[i] = 1 << bits.TrailingZeros64(word)
			begun := time.Now()
			if one.call(syscall.SYS_SCHED_SETAFFINITY) != nil {
				continue // it was taken away meanwhile
			}
			longest = max(longest, time.Since(begun))
			there()
		}
	}
	return longest, allowed.call(syscall.SYS_SCHED_SETAFFINITY)
}
