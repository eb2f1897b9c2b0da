package verify

import (
	"testing"

	"ringleader.example/ringleader/election"
	"ringleader.example/ringleader/network"
	"ringleader.example/ringleader/simulate"
)

// worn returns an election on a ring in which each process sends so many messages, and the last of them breaks its receiver.
func worn(tokens int) election.Algorithm[made, token] {
	a := forwarding(election.Ring, tokens, 0)
	a.Receive = func(p *made, _ election.Port, _ election.Kind, _ token, _ *election.Out[token]) {
		if p.Count++; int(p.Count) == tokens {
			panic("worn out")
		}
	}
	return a
}

// Each of these reaches its limit before the whole search has found a violation, and a reduced search has found it.
func TestAViolationOfAReducedSearchIsKeptWhereTheWholeOneReachesItsLimit(t *testing.T) {
	either, oneWay, anonymous, bounded, late := worn(8), worn(8), worn(8), forwarding(election.Ring, 8, 0), forwarding(election.Ring, 8, 0)
	oneWay.OneWay = true
	anonymous.Identifiers, anonymous.Winner = election.Anonymous, election.Unspecified
	bounded.OneWay = true
	bounded.Bounds = []election.Bound{{Of: "total", Case: election.Worst, Formula: "23", Value: func(uint64) uint64 { return 23 }}}
	late.OneWay = true
	late.Decides = election.EveryProcess
	ring := network.On(1, 2, 3)
	for _, test := range []struct {
		name     string
		a        election.Algorithm[made, token]
		setup    network.Setup
		reduce   Reduction
		property string
		steps    int
	}{
		{"partial order", either, ring, PartialOrder, Panicked, 11},
		{"partial order, and a bound", bounded, ring, PartialOrder, BoundBroken, 3},
		{"one schedule", oneWay, ring, Confluence, Panicked, 11},
		{"one schedule elsewhere", either, ring, Confluence, Panicked, 11},
		{"one schedule, and a bound", bounded, ring, Confluence, BoundBroken, 27},
		{"one schedule, and its end", late, ring, Confluence, Undecided, 27},
		{"symmetry", anonymous, network.Setup{IDs: make(election.List, 3)}, Symmetry, Panicked, 11},
	} {
		for _, cores := range []int{1, 2} {
			o := Options{Setup: test.setup, MaxStates: 90, Reduce: test.reduce, Cores: cores}
			r, err := Run(test.a, o)
			if err != nil || r.Complete || r.Limit != StateLimit || r.Violation == nil || r.Violation.Property != test.property || len(r.Violation.Record.Steps) != test.steps {
				t.Errorf("%s: %+v, %v", test.name, r, err)
				continue
			}
			repeats(t, test.name, test.a, r.Violation)
			o.Reduce = NoReduction
			if r, err := Run(test.a, o); err != nil || r.Complete || r.Violation != nil {
				t.Errorf("%s, without the reduction: %+v, %v", test.name, r, err)
			}
		}
	}
}

// repeats expects that the run to a violation is one in the simulator as well.
func repeats(t *testing.T, name string, a election.Algorithm[made, token], v *Violation) {
	t.Helper()
	i := network.Setup{IDs: election.List(v.Record.IDs)}
	if a.Identifiers == election.Anonymous {
		i.IDs = make(election.List, v.Record.N)
	}
	s, err := simulate.NewSession(a, simulate.Options{Setup: i})
	if err != nil {
		t.Fatal(err)
	}
	if err := s.Follow(&v.Record); err != nil {
		t.Errorf("%s: %v", name, err)
	}
}

// One schedule of an election that goes round for ever has no end, and one whose safety alone is judged has none that counts.
func TestOneScheduleShowsNoMoreThanItsSteps(t *testing.T) {
	if testing.Short() {
		t.Skip("it only computes")
	}
	late, endless := forwarding(election.Ring, 8, 0), forwarding(election.Ring, 8, 0)
	late.OneWay, late.Decides, endless.OneWay = true, election.EveryProcess, true
	endless.Receive = func(_ *made, _ election.Port, _ election.Kind, m token, out *election.Out[token]) { out.Send(0, 0, m) }
	for name, o := range map[string]Options{
		"safety":           {SafetyOnly: true},
		"another property": {only: Panicked},
	} {
		o.Setup, o.Reduce, o.MaxStates = network.On(1, 2, 3), Confluence, 90
		if r, err := Run(late, o); err != nil || r.Complete || r.Violation != nil {
			t.Errorf("%s: %+v, %v", name, r, err)
		}
	}
	if r, err := Run(endless, Options{Setup: network.On(1, 2, 3), Reduce: Confluence, MaxStates: 90}); err != nil || r.Complete || r.Violation != nil {
		t.Errorf("%+v, %v", r, err)
	}
}

// Of orders that are alike the first has a short run to the violation. Among all orders an earlier one has more states than the limit.
func TestAViolationOfOneOfManyOrdersIsKeptWhereAnotherReachesTheLimit(t *testing.T) {
	a := forwarding(election.UnknownNeighbours, 0, 0)
	const plain, asks = 0, 1
	a.Start = func(p *made, out *election.Out[token]) {
		switch p.ID {
		case 4:
			out.Lead(0)
		case 1, 3:
			out.Send(0, 0, token{Type: asks, Hops: uint8(p.ID)})
		}
	}
	a.Receive = func(p *made, _ election.Port, _ election.Kind, m token, out *election.Out[token]) {
		switch {
		case m.Type == asks && p.ID == 3: // 1 is before 3
			panic("worn out")
		case m.Type == asks && p.ID == 1: // 3 is before 1
			for port := range election.Port(3) {
				for range 8 {
					out.Send(port, 0, token{Type: plain})
				}
			}
		case m.Type == plain:
			p.Count++
		}
	}
	o := Options{Size: 4, Reduce: Symmetry, MaxStates: 100}
	r, err := Run(a, o)
	if err != nil || r.Complete || r.Limit != StateLimit || r.Violation == nil || r.Violation.Property != Panicked || len(r.Violation.Record.Steps) != 5 {
		t.Errorf("%+v, %v", r, err)
	}
	o.Reduce = NoReduction
	if r, err := Run(a, o); err != nil || r.Complete || r.Violation != nil {
		t.Errorf("among all orders: %+v, %v", r, err)
	}
}

// In the first order a message breaks its receiver after ten hops. In the second one a reduced search needs more steps than that, and
// the whole search, for fewer, reaches its limit.
func TestALongerViolationDoesNotReplaceAShorterOne(t *testing.T) {
	a := forwarding(election.Ring, 0, 0)
	a.Start = func(p *made, out *election.Out[token]) {
		if p.ID == 3 {
			out.Lead(0)
		}
		if p.ID == 1 {
			out.Send(0, 0, token{Hops: 9})
		}
	}
	a.Receive = func(p *made, port election.Port, _ election.Kind, m token, out *election.Out[token]) {
		switch {
		case m.Hops == 9 && p.ID == 3: // process 1 is before it
			for range 12 {
				out.Send(0, 0, token{Type: 1})
				out.Send(1, 0, token{Type: 1})
			}
		case m.Hops > 0:
			out.Send(1-port, 0, token{Hops: m.Hops - 1})
		case m.Type == 0:
			panic("after ten hops")
		case p.ID == 2:
			if p.Count++; p.Count == 12 {
				panic("after twelve messages")
			}
		}
	}
	r, err := Run(a, Options{Size: 3, Reduce: PartialOrder, MaxStates: 20})
	if err != nil || r.Complete || r.Orders != 2 || r.Violation == nil || len(r.Violation.Record.Steps) != 13 {
		t.Errorf("%+v, %v", r, err)
	}
	r, err = Run(a, Options{Setup: network.On(3, 2, 1), Reduce: PartialOrder, MaxStates: 20})
	if err != nil || r.Complete || r.Violation == nil || len(r.Violation.Record.Steps) != 16 {
		t.Errorf("the second order alone: %+v, %v", r, err)
	}
}
