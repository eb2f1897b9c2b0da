// Package memory measures and limits the memory of the program, for engines that stop before it is exceeded. What they
// compute does not depend on it, except how far they come.
package memory

import (
	"math"
	"runtime/debug"
	"runtime/metrics"
)

// Limited makes the collector keep the program below a number of bytes where it can. It returns a function that undoes
// this and Sparing.
func Limited(bytes uint64) (undo func()) {
	limit := debug.SetMemoryLimit(int64(min(bytes, math.MaxInt64)))
	percent := debug.SetGCPercent(100)
	debug.SetGCPercent(percent)
	return func() {
		debug.SetMemoryLimit(limit)
		debug.SetGCPercent(percent)
	}
}

// Sparing makes the collector leave at most a tenth of garbage. With many bytes in use, and few pointers in them, that
// costs little time.
func Sparing() { debug.SetGCPercent(10) }

// Used returns the memory that the program has from the system, in bytes.
func Used() uint64 {
	read := []metrics.Sample{{Name: "/memory/classes/total:bytes"}, {Name: "/memory/classes/heap/released:bytes"}}
	metrics.Read(read)
	return read[0].Value.Uint64() - read[1].Value.Uint64()
}

// Release returns unused memory to the system.
func Release() { debug.FreeOSMemory() }
