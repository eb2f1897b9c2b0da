package verify

import (
	"strings"
	"testing"

	"ringleader.example/ringleader/election"
	"ringleader.example/ringleader/network"
)

// bouncing sends two messages to and fro between two processes, each on links of its own. Process 2 leads when a knock comes
// and it answers the door, which may depend on how often it has been rung at; then all ends.
func bouncing(answers func(p *caller, out calls) bool) election.Algorithm[caller, call] {
	const settled = 100
	a := calling(election.Asynchronous, func(p *caller, out calls) {
		if p.ID == 1 {
			out.Send(0, ring, call{})
			out.Send(1, knock, call{})
		}
	})
	a.OneWay = false
	a.Receive = func(p *caller, port election.Port, kind election.Kind, m call, out calls) {
		switch {
		case p.Heard == settled:
		case m.Number == settled:
			p.Heard = settled
			out.Follow(2, 0)
		case p.ID == 2 && kind == knock && answers(p, out):
			p.Heard = settled
			out.Lead(0)
			out.Send(port, knock, call{settled})
		default:
			if p.ID == 2 && kind == ring {
				p.Heard ^= 1
			}
			out.Send(port, kind, m)
		}
	}
	return a
}

// An answer that always comes does so in every fair run. One that depends on the moment may be missed for ever, by a schedule
// that leaves out no message. One that depends on chance comes with probability 1.
func TestOnlyFairRunsGoOnForEver(t *testing.T) {
	o := Options{Setup: network.On(1, 2), Initiators: []int{0}}
	holds(t, bouncing(func(*caller, calls) bool { return true }), o)
	holds(t, bouncing(func(_ *caller, out calls) bool { return out.Choose(2) == 1 }), o)
	v := fails(t, bouncing(func(p *caller, _ calls) bool { return p.Heard == 1 }), o, NeverEnds, 7)
	if v.Round != 2 || v.Detail != "steps 2 to 7 can repeat for ever, while no event that could happen is left out for ever" {
		t.Errorf("from step %d on: %s", v.Round, v.Detail)
	}
	kinds := ""
	for _, s := range v.Record.Steps[v.Round-1:] {
		kinds += s.Kind + " "
	}
	if strings.Count(kinds, "ring") < 2 || strings.Count(kinds, "knock") < 2 {
		t.Errorf("the round is %s", kinds)
	}
	// Where messages may overtake each other, each of them arrives some time.
	o.Unordered = true
	shared := func(_ *caller, out calls) {
		out.Send(0, ring, call{})
		out.Send(0, knock, call{})
	}
	both := bouncing(func(*caller, calls) bool { return true })
	both.Start = shared
	holds(t, both, o)
	both = bouncing(func(p *caller, _ calls) bool { return p.Heard == 1 })
	both.Start = shared
	fails(t, both, o, NeverEnds, 7)
}
