package kernel

import (
	"bytes"
	"os"
	"runtime"
	"strconv"
	"syscall"
	"testing"
)

func TestAVisitIsToEachProcessorAndChangesNothing(t *testing.T) {
	t.Parallel()
	runtime.LockOSThread() // for ever: the thread ends with the test
	var before, after, seen processors
	if err := before.call(syscall.SYS_SCHED_GETAFFINITY); err != nil {
		t.Fatal(err)
	}
	longest, err := visit(func() {
		stat, err := os.ReadFile("/proc/thread-self/stat")
		if err != nil {
			t.Fatal(err)
		}
		_, after, _ := bytes.Cut(stat, []byte(") "))
		at, err := strconv.Atoi(string(bytes.Fields(after)[36])) // the field 39 of all
		if err != nil {
			t.Fatal(err)
		}
		seen[at/64] |= 1 << (at % 64)
	})
	if err != nil || longest <= 0 {
		t.Errorf("%v, %v", longest, err)
	}
	if err := after.call(syscall.SYS_SCHED_GETAFFINITY); err != nil {
		t.Fatal(err)
	}
	if seen != before || after != before {
		t.Errorf("the thread was on %x and may run on %x, and before on %x", seen, after, before)
	}
}
