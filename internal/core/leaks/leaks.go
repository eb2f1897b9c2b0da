// Package leaks finds goroutines that tests have left.
package leaks

import (
	"bytes"
	"fmt"
	"os"
	"runtime"
	"testing"
	"time"
)

// patience is how many looks, a millisecond apart, goroutines may take to end after the last test. A machine that stands still makes no looks.
const patience = 10_000

// Main runs the tests of a package, and fails if they leave a goroutine that does not end.
func Main(m *testing.M) {
	code := m.Run()
	for looks := 0; code == 0; time.Sleep(time.Millisecond) {
		left := left()
		if len(left) == 0 {
			break
		}
		if looks++; looks > patience {
			fmt.Fprintf(os.Stderr, "the tests have left goroutines:\n\n%s\n", bytes.Join(left, []byte("\n\n")))
			code = 1
		}
	}
	os.Exit(code)
}

// left returns the stacks of all other goroutines that are not of the tests themselves: signals are received for ever.
func left() (stacks [][]byte) {
	all := make([]byte, 1<<20)
	for _, stack := range bytes.Split(all[:runtime.Stack(all, true)], []byte("\n\n"))[1:] { // the first one is our own
		if !bytes.Contains(stack, []byte("os/signal.loop")) && !bytes.Contains(stack, []byte("os/signal.signal_recv")) && !bytes.Contains(stack, []byte("testing.runFuzz")) {
			stacks = append(stacks, stack)
		}
	}
	return stacks
}
