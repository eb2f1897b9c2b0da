package agent

import (
	"os"
	"sync/atomic"
	"time"

	"ringleader.example/ringleader/internal/serve/kernel"
)

// lethal is the moment at which the first process of a namespace kills all others there, in memory that it shares with its keeper: so it
// knows the latest order without a message, also if it was stopped for long.
type lethal struct {
	file   *os.File
	moment *int64 // a reading of the clock now; 0: none
}

// newLethal makes the memory; nil: this host has none, and the kernel kills the others when the first process dies.
func newLethal() *lethal {
	file, err := kernel.NewMemory()
	if err != nil {
		return nil
	}
	return mapLethal(file)
}

func mapLethal(file *os.File) *lethal {
	numbers, err := kernel.Map(file, 1)
	if err != nil {
		file.Close()
		return nil
	}
	return &lethal{file, &numbers[0]}
}

// inheritedLethal returns the memory that a keeper has passed on; nil: there is none. Its command does not inherit it.
func inheritedLethal() *lethal {
	file := os.NewFile(lethalFile, "lethal")
	closeOnExec(file)
	return mapLethal(file)
}

// fd returns the descriptor that the first process inherits; without memory another one, which cannot be mapped.
func (l *lethal) fd(other uintptr) uintptr {
	if l == nil {
		return other
	}
	return l.file.Fd()
}

// set sets the moment of an order, which is when its keeper kills.
func (l *lethal) set(o *order) {
	if l != nil && o.Dead != 0 {
		atomic.StoreInt64(l.moment, int64(o.Kill))
	}
}

// at returns the moment.
func (l *lethal) at() time.Duration {
	if l == nil {
		return kernel.Never
	}
	if at := time.Duration(atomic.LoadInt64(l.moment)); at != 0 {
		return at
	}
	return kernel.Never
}
