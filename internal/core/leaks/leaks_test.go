package leaks

import (
	"bytes"
	"testing"
)

func TestAGoroutineThatStaysIsFound(t *testing.T) {
	gate, ended := make(chan struct{}), make(chan struct{})
	of := func(stacks [][]byte) (n int) { // the runtime may have finalizers under way, too
		for _, stack := range stacks {
			if bytes.Contains(stack, []byte("TestAGoroutineThatStaysIsFound.func")) {
				n++
			}
		}
		return n
	}
	before := of(left())
	go func() {
		defer close(ended)
		<-gate
	}()
	if after := of(left()); before != 0 || after != 1 {
		t.Errorf("%d are found, and %d before", after, before)
	}
	close(gate)
	<-ended
}
