package s5

import (
	"slices"
	"testing"

	"ringleader.example/ringleader/internal/study/reproduce"
)

// A slip is one if the loop goes another way with it.
func TestTheLoopWithoutASlipElects(t *testing.T) {
	a := &awakening{Subject: reproduce.Subject{IDs: []uint64{5, 2, 7, 1, 8, 3, 6, 4}}}
	h := []uint64{2, 4, 8}
	l := loop(a, h, none, longest)
	if !slices.Equal(l.byPhase, []uint64{8, 5, 2, 4}) || !slices.Equal(l.leaders, []uint64{1}) || l.elected != 25 || l.quiet != 33 || l.announced != 8 || l.ended != 8 {
		t.Errorf("%+v", l)
	}
}
