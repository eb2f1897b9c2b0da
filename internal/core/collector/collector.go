// Package collector lets the garbage collector rest in tests. The heaps of checkers and simulators are small there, so by default it would
// run all the time, for up to a third of their processor time.
package collector

import (
	"os"
	"runtime/debug"
	"testing"
)

// Main runs the tests of a package with a collector that rests.
func Main(m *testing.M) {
	if os.Getenv("GOGC") == "" { // a value that the user sets counts
		debug.SetGCPercent(400)
	}
	m.Run()
}
