package afekgafnisynchronous_test

import (
	"iter"
	"slices"
	"testing"

	ags "ringleader.example/ringleader/algorithms/afekgafnisynchronous"
	"ringleader.example/ringleader/election"
	"ringleader.example/ringleader/election/electiontest"
	"ringleader.example/ringleader/network"
	"ringleader.example/ringleader/simulate"
	"ringleader.example/ringleader/verify"
)

type algorithm = election.Algorithm[ags.Process, ags.Message]

func run(t *testing.T, a algorithm, i network.Setup) *simulate.Result {
	t.Helper()
	r := electiontest.Run(t, a, simulate.Options{Setup: i})
	return r
}

func TestConformance(t *testing.T) {
	electiontest.Conform(t, ags.Algorithm, electiontest.Options{Verify: 5})
}

// orders yields every order of 1 … n: rotations differ, since ports do. The slice is reused.
func orders(n int) iter.Seq[[]uint64] {
	return func(yield func([]uint64) bool) {
		rotated := make([]uint64, n)
		for ids := range electiontest.Rings(n) {
			for by := range n {
				copy(rotated, ids[by:])
				copy(rotated[n-by:], ids[:by])
				if !yield(rotated) {
					return
				}
			}
		}
	}
}

// timely checks winner and times.
func timely(t *testing.T, r *simulate.Result) {
	t.Helper()
	n := uint64(len(r.Decisions))
	if !r.Right || r.Time.Elected != election.Units(2*election.CeilLog(n)) {
		t.Errorf("n=%d: leader at %v after %s units, want the largest after %d", n, r.Leaders, r.Time.Elected, 2*election.CeilLog(n))
	}
	for _, b := range ags.Algorithm.Bounds {
		if b.Of == "time" && r.Time.Quiet != election.Units(b.Value(n)) {
			t.Errorf("n=%d: quiet after %s units, want %s = %d", n, r.Time.Quiet, b.Formula, b.Value(n))
		}
	}
}

// extremes returns the least and most election messages over all orders.
func extremes(t *testing.T, a algorithm, n int) (least, most uint64) {
	t.Helper()
	least = 1 << 63
	for ids := range orders(n) {
		r := run(t, a, network.On(ids...))
		timely(t, r)
		least, most = min(least, r.Messages.Election), max(most, r.Messages.Election)
	}
	return least, most
}

func TestExtremesOverAllOrders(t *testing.T) {
	for n, want := range [][2]uint64{1: {0, 0}, 2: {3, 3}, 3: {6, 7}, 4: {9, 12}, 5: {12, 17}, 6: {15, 23}} { // by exhaustive simulation of all orders, port k of p leads to p+1+k
		if n == 0 {
			continue
		}
		if least, most := extremes(t, ags.Algorithm, n); least != want[0] || most != want[1] {
			t.Errorf("n=%d: %d to %d election messages, want %d to %d", n, least, most, want[0], want[1])
		}
	}
}

func TestVectors(t *testing.T) {
	for n := uint64(1); n <= 100; n++ { // increasing and decreasing identifiers
		ids := make(election.List, n)
		for p := range ids {
			ids[p] = uint64(p) + 1
		}
		rising := run(t, ags.Algorithm, network.Setup{IDs: ids})
		timely(t, rising)
		if want := []uint64{2 * (n - 1), n - 1, n - 1}; !slices.Equal(rising.Messages.ByKind, want) {
			t.Errorf("1 … %d: %v, want %v", n, rising.Messages.ByKind, want)
		}
		if n == 1 {
			continue
		}
		slices.Reverse(ids)
		falling := run(t, ags.Algorithm, network.Setup{IDs: ids})
		timely(t, falling)
		if want := []uint64{2 * (n - 1), 2*n - 3, n - 1}; !slices.Equal(falling.Messages.ByKind, want) {
			t.Errorf("%d … 1: %v, want %v", n, falling.Messages.ByKind, want)
		}
	}
}

func TestBoundsAndCandidatesOfEachPhase(t *testing.T) {
	for n := 7; n <= 100; n++ {
		for seed := range uint64(50) {
			var candidates [10]int
			counted := ags.Algorithm
			counted.Start = func(p *ags.Process, out *election.Out[ags.Message]) {
				p.Start(out)
				candidates[0]++
			}
			counted.Receive = func(p *ags.Process, port election.Port, kind election.Kind, m ags.Message, out *election.Out[ags.Message]) {
				before := p.Cap
				p.Receive(port, kind, m, out)
				if p.Cap > before {
					candidates[p.Phase]++
				}
			}
			setup := electiontest.Setup(&ags.Algorithm.Declaration, n, seed)
			if seed%2 == 1 {
				setup.Ports = nil
			}
			r := run(t, counted, setup)
			timely(t, r)
			for phase, number := range candidates {
				if phase > 0 && number > n>>(phase-1) {
					t.Errorf("n=%d, seed %d: %d candidates in phase %d", n, seed, number, phase)
				}
			}
			worst, best := ags.Algorithm.Bound(election.Worst).Value(uint64(n)), ags.Algorithm.Bound(election.Best).Value(uint64(n))
			if sent := r.Messages.Election; sent < best || sent > worst {
				t.Errorf("n=%d, seed %d: %d election messages, bounds %d and %d", n, seed, sent, best, worst)
			}
			for phase, sent := range r.ByPhase {
				if sent > uint64(3*n) {
					t.Errorf("n=%d, seed %d: %d messages in phase %d", n, seed, sent, phase)
				}
			}
		}
	}
}

// receive is a mutant's reaction to a message. It returns false to leave the message to the algorithm.
type receive func(*ags.Process, election.Port, election.Kind, ags.Message, *election.Out[ags.Message]) bool

func mutant(does receive) algorithm {
	a := ags.Algorithm
	a.Receive = func(p *ags.Process, port election.Port, kind election.Kind, m ags.Message, out *election.Out[ags.Message]) {
		if !does(p, port, kind, m, out) {
			p.Receive(port, kind, m, out)
		}
	}
	return a
}

func TestSlipsAreFound(t *testing.T) {
	for _, slip := range []struct {
		name     string
		does     receive
		size     int
		property string
	}{
		{"R2: the own identifier is not looked at", func(p *ags.Process, _ election.Port, kind election.Kind, _ ags.Message, _ *election.Out[ags.Message]) bool {
			if kind == ags.Capture {
				p.Best = 0
			}
			return false
		}, 2, verify.Undecided},
		{"R2: every candidate that asks is accepted", func(_ *ags.Process, port election.Port, kind election.Kind, m ags.Message, out *election.Out[ags.Message]) bool {
			if kind == ags.Capture {
				out.Send(port, ags.Accept, ags.Message{Phase: m.Phase})
			}
			return kind == ags.Capture
		}, 2, verify.WrongLeader},
		{"R1: the last phase asks 2^i, too", func(p *ags.Process, port election.Port, kind election.Kind, m ags.Message, out *election.Out[ags.Message]) bool {
			if kind == ags.Accept && p.Awaited == 1 && p.Cap < p.Others {
				for k := p.Others; k < p.Cap+2<<p.Phase; k++ {
					out.Send(election.Port(k), ags.Capture, m)
				}
			}
			return false
		}, 3, verify.BrokeContract},
	} {
		electiontest.Found(t, slip.name, mutant(slip.does), verify.Options{Size: slip.size}, slip.property)
	}
}

// These slips still elect the right process in time, but cost more messages.
func TestSlipsThatCostMessages(t *testing.T) {
	all := func(a algorithm) (sum uint64) {
		for seed := range uint64(200) {
			r := run(t, a, electiontest.Setup(&a.Declaration, 24, seed))
			timely(t, r)
			sum += r.Messages.Election
		}
		return sum
	}
	sent := all(ags.Algorithm)
	for _, slip := range []struct {
		name    string
		receive receive
		timeout func(*ags.Process, election.Timer, *election.Out[ags.Message])
	}{
		{"R2: a better one is answered at once", func(p *ags.Process, port election.Port, kind election.Kind, m ags.Message, out *election.Out[ags.Message]) bool {
			if kind == ags.Capture && m.ID > p.Best {
				p.Best, p.Candidate = m.ID, false
				out.Send(port, ags.Accept, ags.Message{Phase: m.Phase})
			}
			return kind == ags.Capture
		}, ags.Algorithm.Timeout},
		{"R2: a process that accepts another stays a candidate", keep, func(p *ags.Process, timer election.Timer, out *election.Out[ags.Message]) {
			candidate := p.Candidate
			p.Timeout(timer, out)
			p.Candidate = candidate
		}},
		{"R2: what was accepted is forgotten", keep, func(p *ags.Process, timer election.Timer, out *election.Out[ags.Message]) {
			p.Timeout(timer, out)
			p.Best = p.ID
		}},
		{"R3: one ACCEPT is enough", func(p *ags.Process, _ election.Port, kind election.Kind, m ags.Message, _ *election.Out[ags.Message]) bool {
			if kind == ags.Accept {
				p.Awaited = 1
			}
			return kind == ags.Accept && m.Phase < p.Phase // it has gone on
		}, ags.Algorithm.Timeout},
	} {
		a := mutant(slip.receive)
		a.Timeout = slip.timeout
		more := all(a)
		if more <= sent {
			t.Errorf("%s: %d messages; the algorithm itself sends %d", slip.name, more, sent)
		}
		t.Logf("%s: %d messages instead of %d", slip.name, more, sent)
	}
}

func keep(*ags.Process, election.Port, election.Kind, ags.Message, *election.Out[ags.Message]) bool {
	return false
}
