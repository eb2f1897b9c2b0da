package quorumbully_test

import (
	"os"
	"runtime/debug"
	"testing"
)

// TestMain lets the collector rest: heaps of checkers are small, and it would run all the time.
func TestMain(m *testing.M) {
	debug.SetGCPercent(400)
	os.Exit(m.Run())
}
