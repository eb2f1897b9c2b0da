package verify

import (
	"errors"
	"testing"

	"ringleader.example/ringleader/algorithms/lcr"
	"ringleader.example/ringleader/election"
	"ringleader.example/ringleader/internal/core/process"
	"ringleader.example/ringleader/internal/runners/franklin"
	"ringleader.example/ringleader/network"
)

// violates expects that the search finds a violation of a property with each of the reductions.
func violates(t *testing.T, program *process.Program, o Options, property string, reductions ...Reduction) {
	t.Helper()
	for _, o.Reduce = range reductions {
		if r, err := Program(program, o); err != nil || r.Violation == nil || r.Violation.Property != property {
			t.Errorf("%s: %+v, %v", o.Reduce, r, err)
		}
	}
}

// between returns the election of two anonymous processes on a ring of which the first one initiates.
func between(start func(out *election.Out[token]), receive func(p *made, m uint8, out *election.Out[token])) (*process.Program, Options) {
	a := forwarding(election.Ring, 0, 0)
	a.Identifiers, a.Winner, a.Decides = election.Anonymous, election.Unspecified, election.LeaderOnly
	a.Start = func(_ *made, out *election.Out[token]) { start(out) }
	a.Receive = func(p *made, _ election.Port, _ election.Kind, m token, out *election.Out[token]) {
		receive(p, m.Type, out)
	}
	return process.Must(process.Of(&a)), Options{Setup: network.Setup{IDs: make(election.List, 2)}, Initiators: []int{0}}
}

// Process 1 sends first when process 0 has sent one message, and process 0 when it has sent the other. Both are the same but
// for the position, so only one of them is explored; but a link of each is not silent.
func TestLinksThatAreAlikeAreSilentTogether(t *testing.T) {
	const (
		asks, asksFirst, tells, answer, late = 0, 1, 2, 3, 4
	)
	program, o := between(func(out *election.Out[token]) {
		if out.Choose(2) == 0 {
			out.Send(0, 0, token{Type: asks})
			return
		}
		out.Send(0, 0, token{Type: asksFirst})
		out.Send(0, 0, token{Type: tells})
	}, func(p *made, m uint8, out *election.Out[token]) {
		switch {
		case m == asks:
			out.Send(0, 0, token{Type: tells})
		case m == asksFirst:
			out.Send(0, 0, token{Type: answer})
		case m == tells:
			out.Send(1, 0, token{Type: late})
		case m == late:
			p.Knows = true
		case m == answer && p.Knows:
			panic("the answer comes too late")
		}
	})
	o.SafetyOnly = true
	violates(t, program, o, Panicked, NoReduction, AnyReduction)
}

// Two messages go round for ever. One of them is always on its way to process 1 in the kept configurations, so they look
// unfair, and is taken in the others, which are the same but for the position.
func TestFairnessIsNotJudgedByKeptConfigurations(t *testing.T) {
	const (
		begins, goes, asks, armed, first, last = 0, 1, 2, 3, 4, 5
	)
	program, o := between(func(out *election.Out[token]) {
		if out.Choose(2) == 0 {
			out.Send(0, 0, token{Type: armed})
			out.Send(1, 0, token{Type: asks})
			return
		}
		out.Send(0, 0, token{Type: first})
		out.Send(1, 0, token{Type: asks})
	}, func(p *made, m uint8, out *election.Out[token]) {
		switch {
		case m == first:
			out.Send(0, 0, token{Type: last})
		case m == last:
			out.Send(0, 0, token{Type: goes})
		case m == armed: // the other one is armed
			out.Send(0, 0, token{Type: begins})
			out.Send(1, 0, token{Type: asks})
		case m == begins:
			p.Knows = true
		case m == goes:
			p.Knows = true
			out.Send(1, 0, token{Type: asks})
		case m == asks && p.Knows:
			p.Knows = false
			out.Send(0, 0, token{Type: goes})
		}
	})
	o.only = NeverEnds // some runs end without a leader
	violates(t, program, o, NeverEnds, NoReduction, Symmetry)
}

func TestSymmetryIsNotReportedWhereNothingIsLeftOut(t *testing.T) {
	if testing.Short() {
		t.Skip("it only computes")
	}
	plain := forwarding(election.Ring, 0, 0)
	plain.New = func(election.Local) made { return made{} }
	plain.Start = func(*made, *election.Out[token]) {}
	anonymous := plain
	anonymous.Identifiers, anonymous.Winner, anonymous.Unoriented = election.Anonymous, election.Unspecified, true
	strangers := forwarding(election.UnknownNeighbours, 0, 0)
	nameless := plain
	nameless.Topology, nameless.Identifiers, nameless.Winner = election.UnknownNeighbours, election.Anonymous, election.Unspecified
	for name, test := range map[string]struct {
		program *process.Program
		o       Options
	}{
		"a complete graph":                    {process.Must(process.Of(&nameless)), Options{Size: 3, SafetyOnly: true}},
		"identifiers that states do not hold": {process.Must(process.Of(&plain)), Options{Size: 3, SafetyOnly: true}},
		"one order in any case":               {process.Must(process.Of(&anonymous)), Options{Size: 3, Orientations: true, Cuts: 1, SafetyOnly: true}},
		"one initiator on a ring":             {franklin.Program.Hidden(), Options{Size: 3, Orientations: true, Initiators: []int{0}}},
		"one initiator":                       {process.Must(process.Of(&strangers)), Options{Size: 3, Initiators: []int{0}, SafetyOnly: true}},
		"one process alone":                   {process.Must(process.Of(&strangers)), Options{Size: 1}},
		"two processes that differ":           {process.Must(process.Of(&lcr.Algorithm)), Options{Size: 2}},
		"one process":                         {franklin.Program.Hidden(), Options{Size: 1, Orientations: true}},
		"two, each way round":                 {franklin.Program.Hidden(), Options{Size: 2, Orientations: true}},
		"one orientation":                     {franklin.Program.Hidden(), Options{Size: 4}},
	} {
		test.o.Reduce = Symmetry
		if r, err := Program(test.program, test.o); !errors.Is(err, ErrOptions) {
			t.Errorf("%s: %+v, %v", name, r, err)
		}
		test.o.Reduce = AnyReduction
		if r, err := Program(test.program, test.o); err != nil || r.Symmetry {
			t.Errorf("%s: %+v, %v", name, r, err)
		}
	}
}

// On an oriented ring a mirror image has other links: a message to a process is not one to its other neighbour.
func TestAMirrorImageOfAnOrientedRingIsAnotherOne(t *testing.T) {
	const arms, fires = 0, 1
	program, o := between(func(out *election.Out[token]) {
		out.Send(election.Port(1-out.Choose(2)), 0, token{Type: arms}) // the left one, or the right one
		out.Send(0, 0, token{Type: fires})
	}, func(p *made, m uint8, _ *election.Out[token]) {
		if m == fires && p.Knows {
			panic("armed")
		}
		p.Knows = m == arms
	})
	o.Setup.IDs, o.SafetyOnly = make(election.List, 3), true
	violates(t, program, o, Panicked, NoReduction, AnyReduction)
}

// This rotation maps a willing process to an unwilling one.
func TestWillingProcessesAreNotLikeUnwillingOnes(t *testing.T) {
	a := forwarding(election.Ring, 0, 0)
	a.Willingness, a.Winner = true, election.Largest
	a.Start = func(p *made, out *election.Out[token]) {
		for range p.ID - 1 {
			out.Send(0, 0, token{})
		}
	}
	a.Receive = func(*made, election.Port, election.Kind, token, *election.Out[token]) {}
	o := Options{Setup: network.Setup{IDs: election.List{1, 2, 1, 2}, Duplicates: true, Unwilling: []int{3}}, SafetyOnly: true, Reduce: Symmetry}
	if r, err := Run(a, o); !errors.Is(err, ErrOptions) {
		t.Errorf("%+v, %v", r, err)
	}
	o.Setup.Unwilling = nil
	if r, err := Run(a, o); err != nil || !r.Symmetry {
		t.Errorf("all willing: %+v, %v", r, err)
	}
}
