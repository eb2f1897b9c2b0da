package explain

import (
	"slices"
	"testing"

	contract "ringleader.example/ringleader/election"
	"ringleader.example/ringleader/internal/core/process"
	"ringleader.example/ringleader/internal/serve/record"
	"ringleader.example/ringleader/proofs/refine"
)

// Lives of one member are in their order, wherever the setting of clocks has put their beginnings.
func TestLivesOfAMemberAreInTheirOrder(t *testing.T) {
	of := func(member, incarnation uint64, begun int64) *life {
		return &life{head: record.Head{Member: member, Incarnation: incarnation}, begun: begun}
	}
	l := &line{lives: []*life{of(2, 7, 5), of(2, 1, 10), of(1, 2, 12), of(2, 9, 20), of(1, 8, 7)}}
	l.sort()
	var order []uint64
	for _, v := range l.lives {
		order = append(order, v.head.Incarnation)
	}
	if !slices.Equal(order, []uint64{1, 7, 2, 8, 9}) {
		t.Errorf("%v", order)
	}
}

// A step that is moved behind the sending of what it receives takes the later steps of its member with it, and what their clock reads later comes later.
func TestStepsThatAreMovedKeepTheReadingsOfTheirClock(t *testing.T) {
	s := &scale{}
	lives := map[uint64]*life{1: {head: record.Head{Member: 1}}, 2: {head: record.Head{Member: 2}}}
	step := func(member uint64, at int64, r *record.Step) happening {
		return happening{step: &refine.Step{Member: contract.ID(member), At: int(at)}, life: lives[member], recorded: r, scale: s, at: at}
	}
	message := []byte("m")
	all := ordered([]happening{
		step(1, 10, &record.Step{Input: process.Input{What: process.Received, Kind: 3, Message: message}, Peer: 2}),
		step(1, 11, &record.Step{Input: process.Input{What: process.Expired}}),
		step(2, 15, &record.Step{Sent: []record.Message{{Peer: 1, Kind: 3, Payload: message}}}),
	})
	c := &scales{all: []*scale{s}, unit: 1, fine: 1, slowest: 1, readings: map[contract.ID][]tick{}}
	c.notes(all)
	for i, want := range []struct {
		member uint64
		at     int
	}{{2, 15}, {1, 15}, {1, 16}} {
		if got := all[i]; got.life.member() != want.member || got.step.At != want.at {
			t.Errorf("step %d is of member %d at %d, and not of %d at %d", i, got.life.member(), got.step.At, want.member, want.at)
		}
	}
	const times = 1 // with which the model begins. What ends at once has ended before.
	for left, want := range []int{10, 16, 17, 17, 17, 17, 17, 17} {
		if got := c.Ends(1, times+15, left); got != times+want {
			t.Errorf("what ends in %d ends at %d, and not at %d", left, got-times, want)
		}
		if got := c.Expires(1, times+15, left); got != times+want {
			t.Errorf("what expires in %d expires at %d, and not at %d", left, got-times, want)
		}
	}
	if c.slack != 5 {
		t.Errorf("steps are moved by at most %d", c.slack)
	}
}
