package lab

import (
	"testing"

	"ringleader.example/ringleader/catalogue/all"
	"ringleader.example/ringleader/internal/cli/run"
)

// A record of quorum-bully grows by all members' knowledge of each other at each step.
func TestARunOfTheLabEndsWhenItsRecordIsLarge(t *testing.T) {
	if testing.Short() {
		t.Skip("it only computes")
	}
	b, err := newLab("ringleader", all.Algorithms).begin([]string{"quorum-bully", "--n=100", "--until=1000000000"}, true, func(string) {})
	if err != nil {
		t.Fatal(err)
	}
	s, err := b.o.Simulator(b.e, b.Stdin)
	if err != nil {
		t.Fatal(err)
	}
	s.Record, s.Limit = true, mostLabEvents
	found, err := run.Elect(t.Context(), b.Program, b.e, b.o, &s)
	if err != nil {
		t.Fatal(err)
	}
	size := 0
	for i := range found.Record.Steps {
		size += found.Record.Steps[i].Bytes()
	}
	if size < mostLabRecord || size > mostLabRecord+1<<20 {
		t.Errorf("the record has %d bytes", size)
	}
}
