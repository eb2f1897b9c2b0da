package leaks

import (
	"bytes"
	"testing"
)

func TestAGoroutineThatStaysIsFound(t *testing.T) {
	before, gate, ended := len(left()), make(chan struct{}), make(chan struct{})
	go func() {
		defer close(ended)
		<-gate
	}()
	stacks := left()
	if len(stacks) != before+1 || !bytes.Contains(stacks[before], []byte("TestAGoroutineThatStaysIsFound")) {
		t.Errorf("%d are found after %d", len(stacks), before)
	}
	close(gate)
	<-ended
}
