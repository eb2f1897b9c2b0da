package verify

import (
	"testing"

	"ringleader.example/ringleader/election"
	"ringleader.example/ringleader/network"
)

// One schedule does not judge: whatever is odd in it is left to the search, which finds the violation that it would have found alone.
func TestOneScheduleLeavesToTheSearchWhatIsOdd(t *testing.T) {
	if testing.Short() {
		t.Skip("it only computes")
	}
	type step = func(p *made, out *election.Out[token])
	right := func(p *made, out *election.Out[token]) {
		if p.ID == 3 {
			out.Lead(0)
		} else {
			out.Follow(3, 0)
		}
	}
	for _, test := range []struct {
		name     string
		start    step
		received step
		property string
	}{
		{"nothing", right, nil, ""},
		{"a message on another link", func(p *made, out *election.Out[token]) { right(p, out); out.Send(1, 0, token{}) }, nil, BrokeContract},
		{"a message of no kind", func(p *made, out *election.Out[token]) { right(p, out); out.Send(0, 7, token{}) }, nil, BrokeContract},
		{"a timer that is not declared", func(p *made, out *election.Out[token]) { right(p, out); out.After(3, election.Units(1)) }, nil, BrokeContract},
		{"a second decision", func(p *made, out *election.Out[token]) { right(p, out); out.NoLeader() }, nil, Irrevocable},
		{"a second decision that changes nothing", func(p *made, out *election.Out[token]) { right(p, out); out.Follow(1, 0) }, nil, Irrevocable},
		{"a first decision that is changed", func(p *made, out *election.Out[token]) {
			if p.ID == 1 {
				out.Follow(2, 0)
			}
			right(p, out)
		}, nil, Irrevocable},
		{"a choice", func(p *made, out *election.Out[token]) {
			if right(p, out); out.Choose(2) == 1 {
				panic("chosen")
			}
		}, nil, Panicked},
		{"a panic", func(p *made, out *election.Out[token]) { panic("at once") }, nil, Panicked},
		{"two leaders", func(p *made, out *election.Out[token]) {
			if p.ID == 2 {
				out.Lead(0)
			} else {
				right(p, out)
			}
		}, nil, TwoLeaders},
		{"the wrong leader", func(p *made, out *election.Out[token]) {
			if p.ID == 2 {
				out.Lead(0)
			} else {
				out.Follow(0, 0)
			}
		}, nil, WrongLeader},
		{"no decision", func(p *made, out *election.Out[token]) {
			if p.ID != 2 {
				right(p, out)
			}
		}, nil, Undecided},
		{"no leader", func(p *made, out *election.Out[token]) { out.Follow(3, 0) }, nil, NoLeader},
		{"a follower of another", func(p *made, out *election.Out[token]) {
			if p.ID == 1 {
				out.Follow(1, 0)
			} else {
				right(p, out)
			}
		}, nil, WrongLeader},
		{
			"no end", func(p *made, out *election.Out[token]) { right(p, out); out.Send(0, 0, token{}) },
			func(_ *made, out *election.Out[token]) { out.Send(0, 0, token{}) }, NeverEnds,
		},
	} {
		a := forwarding(election.Ring, 0, 0)
		a.OneWay, a.Decides, a.Start = true, election.EveryProcess, test.start
		a.Receive = func(p *made, _ election.Port, _ election.Kind, _ token, out *election.Out[token]) {
			if test.received != nil {
				test.received(p, out)
			}
		}
		whole, err := Run(a, Options{Setup: network.On(3, 1, 2)})
		if err != nil || (whole.Violation == nil) != (test.property == "") || whole.Violation != nil && whole.Violation.Property != test.property {
			t.Errorf("%s: %+v, %v", test.name, whole.Violation, err)
			continue
		}
		r, err := Run(a, Options{Setup: network.On(3, 1, 2), Reduce: Confluence})
		if err != nil || essence(t, r) != essence(t, whole) || (r.Confluent == 1) != (test.property == "") {
			t.Errorf("%s: %+v, %v; the whole search finds %+v", test.name, r, err, whole)
		}
	}
}

func TestOneScheduleWithTwoLeadersIsLeftToTheSearchWhereAnyProcessMayLead(t *testing.T) {
	a := forwarding(election.Ring, 0, 0)
	a.OneWay, a.Identifiers, a.Winner = true, election.Anonymous, election.Unspecified
	a.Start = func(_ *made, out *election.Out[token]) { out.Lead(0) }
	r, err := Run(a, Options{Setup: network.Setup{IDs: make(election.List, 2)}, Reduce: Confluence})
	if err != nil || r.Violation == nil || r.Violation.Property != TwoLeaders {
		t.Errorf("%+v, %v", r, err)
	}
}
