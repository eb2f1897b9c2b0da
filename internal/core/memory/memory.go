// Package memory measures and limits the memory of the program, for engines that stop before it is exceeded. What they
// compute does not depend on it, except how far they come.
package memory

import (
	"math"
	"runtime/debug"
	"runtime/metrics"
	"slices"
	"sync"
)

// limits are those in force. The collector obeys the least one.
var limits struct {
	sync.Mutex
	all     []uint64 // bytes
	bytes   int64    // of the collector, before the first of them
	percent int      // likewise
}

// Limited makes the collector keep the program below a number of bytes where it can. It returns a function that undoes
// this. Several limits may be in force at a time; the end of the last one undoes Sparing, too.
func Limited(bytes uint64) (undo func()) {
	limits.Lock()
	defer limits.Unlock()
	if len(limits.all) == 0 {
		limits.bytes = debug.SetMemoryLimit(-1)
		limits.percent = debug.SetGCPercent(100)
		debug.SetGCPercent(limits.percent)
	}
	limits.all = append(limits.all, bytes)
	obey()
	return sync.OnceFunc(func() {
		limits.Lock()
		defer limits.Unlock()
		at := slices.Index(limits.all, bytes)
		limits.all = slices.Delete(limits.all, at, at+1)
		if len(limits.all) > 0 {
			obey()
			return
		}
		debug.SetMemoryLimit(limits.bytes)
		debug.SetGCPercent(limits.percent)
	})
}

func obey() { debug.SetMemoryLimit(int64(min(slices.Min(limits.all), math.MaxInt64))) }

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
