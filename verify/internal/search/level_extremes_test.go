package search

import (
	"testing"

	"ringleader.example/ringleader/verify/internal/model"
)

func TestASpanHoldsTheExtremesOfAllWaysToAState(t *testing.T) {
	cheap, dear := span{least: [model.Costs]uint32{3, 2, 1}, most: [model.Costs]uint32{4, 3, 1}}, span{least: [model.Costs]uint32{5, 1, 4}, most: [model.Costs]uint32{9, 1, 8}}
	want := span{least: [model.Costs]uint32{5, 2, 2}, most: [model.Costs]uint32{10, 4, 8}}
	for _, first := range []bool{true, false} {
		s := span{least: [model.Costs]uint32{unreached}}
		ways := []func() bool{
			func() bool { return s.reach(&cheap, model.Cost{Election: 1, Announcement: 1}) },
			func() bool { return s.reach(&dear, model.Cost{Election: 1}) },
		}
		if !first {
			ways[0], ways[1] = ways[1], ways[0]
		}
		if !ways[0]() || !ways[1]() || s != want {
			t.Errorf("%+v; want %+v", s, want)
		}
	}
	s := span{least: [model.Costs]uint32{unreached}}
	if s.reach(&span{most: [model.Costs]uint32{unreached - 1}}, model.Cost{Election: 1}) {
		t.Error("a sum beyond 32 bits is taken for a count")
	}
	if !s.reach(&span{least: [model.Costs]uint32{unreached}}, model.Cost{Election: 1}) || s.least[0] != unreached {
		t.Error("no run leads to a state that only a fault leads to")
	}
}
