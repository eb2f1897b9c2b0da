package memory_test

import (
	"runtime"
	"runtime/debug"
	"testing"

	"ringleader.example/ringleader/internal/core/memory"
)

func TestWhatIsAllocatedIsUsedUntilItIsReleased(t *testing.T) {
	memory.Release()
	before := memory.Used()
	const size = 256 << 20
	block := make([]byte, size)
	for i := 0; i < size; i += 4096 {
		block[i] = 1
	}
	with := memory.Used()
	runtime.KeepAlive(block)
	block = nil
	memory.Release()
	// What else is in use changes, too: garbage that was left at the first look, and what the runtime needs for itself.
	if after := memory.Used(); with < before+size*3/4 || after > with-size/2 {
		t.Errorf("%d bytes before, %d with %d more, %d after", before, with, size, after)
	}
}

func TestALimitIsUndone(t *testing.T) {
	limit := func() int64 { return debug.SetMemoryLimit(-1) }
	before := limit()
	undo := memory.Limited(1 << 30)
	if limit() != 1<<30 {
		t.Errorf("the limit is %d", limit())
	}
	usual := debug.SetGCPercent(100)
	debug.SetGCPercent(usual)
	memory.Sparing()
	undo()
	percent := debug.SetGCPercent(usual)
	if limit() != before || percent != usual {
		t.Errorf("the limit was %d and is %d; the percentage was %d and is %d", before, limit(), usual, percent)
	}
}

// Two checks at a time: the end of one must not restore the limit of the other.
func TestTheLeastOfSeveralLimitsHoldsAndTheEndOfTheLastRestores(t *testing.T) {
	limit := func() int64 { return debug.SetMemoryLimit(-1) }
	before := limit()
	first := memory.Limited(1 << 30)
	second := memory.Limited(1 << 29)
	if limit() != 1<<29 {
		t.Errorf("with both the limit is %d", limit())
	}
	first()
	if limit() != 1<<29 {
		t.Errorf("after the end of the first the limit is %d", limit())
	}
	third := memory.Limited(1 << 31)
	second()
	second()
	if limit() != 1<<31 {
		t.Errorf("after the end of the second the limit is %d", limit())
	}
	third()
	if limit() != before {
		t.Errorf("the limit was %d and is %d", before, limit())
	}
}
