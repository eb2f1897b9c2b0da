package dolevklawerodehb_test

import (
	"math/bits"
	"testing"

	dkrb "ringleader.example/ringleader/algorithms/dolevklawerodehb"
	"ringleader.example/ringleader/election"
	"ringleader.example/ringleader/election/electiontest"
	"ringleader.example/ringleader/network"
	"ringleader.example/ringleader/order"
	"ringleader.example/ringleader/simulate"
	"ringleader.example/ringleader/verify"
)

func TestConformance(t *testing.T) {
	electiontest.Conform(t, dkrb.Algorithm, electiontest.Options{Verify: 4})
}

func TestVectorsUnderEverySchedule(t *testing.T) {
	for _, v := range []struct {
		ids      []uint64
		one, two uint64
	}{
		{[]uint64{1}, 1, 0},
		{[]uint64{2, 1}, 3, 1},
		{[]uint64{3, 2, 1}, 5, 1},
		{[]uint64{1, 2, 3}, 5, 2},
		{[]uint64{4, 3, 2, 1}, 7, 1},
		{[]uint64{5, 4, 3, 2, 1}, 9, 1},
		{[]uint64{3, 1, 4, 2, 5}, 12, 4},
	} {
		electiontest.Counts(t, dkrb.Algorithm, 5, network.On(v.ids...), v.one, v.two, uint64(len(v.ids)))
	}
}

func TestExtremesAndTimesOverAllOrders(t *testing.T) {
	for n, want := range []struct{ least, most, bound, time uint64 }{ // over all orders, by exhaustive simulation; the bound is ours
		1: {1, 1, 1, 1}, 2: {4, 4, 4, 3}, 3: {6, 7, 7, 4}, 4: {8, 13, 13, 7},
		5: {10, 17, 18, 9}, 6: {12, 21, 22, 11}, 7: {14, 26, 27, 13}, 8: {16, 38, 39, 15},
	} {
		if n == 0 {
			continue
		}
		time := uint64(0)
		least, most := electiontest.Extremes(t, dkrb.Algorithm, n, func(_ []uint64, r *simulate.Result) {
			time = max(time, r.Time.Elected.Lo)
		})
		if least != want.least || most != want.most {
			t.Errorf("n=%d: %d to %d messages, want %d to %d", n, least, most, want.least, want.most)
		}
		best, worst := dkrb.Algorithm.Bound(election.Best).Value(uint64(n)), dkrb.Algorithm.Bound(election.Worst).Value(uint64(n))
		if best != want.least || worst != want.bound {
			t.Errorf("n=%d: bounds of %d and %d, want %d and %d", n, best, worst, want.least, want.bound)
		}
		if time != want.time {
			t.Errorf("n=%d: elected after %d units at the latest, want %d", n, time, want.time)
		}
	}
}

func TestTheClaimsOfThePackageComment(t *testing.T) {
	check := func(setup network.Setup) {
		t.Helper()
		n := uint64(setup.IDs.Len())
		k := uint64(bits.Len64(n)) - 1
		var active, ones [40]uint64 // by phase
		counted := dkrb.Algorithm
		note := func(p *dkrb.Process, before dkrb.Status) {
			if p.Status == dkrb.Active && before != dkrb.Active {
				active[p.Phase]++
			}
		}
		counted.Start = func(p *dkrb.Process, out *election.Out[dkrb.Message]) {
			before := p.Status
			p.Start(out)
			note(p, before)
		}
		counted.Receive = func(p *dkrb.Process, port election.Port, kind election.Kind, m dkrb.Message, out *election.Out[dkrb.Message]) {
			if kind == dkrb.One {
				ones[m.Phase]++
			}
			before := p.Status
			p.Receive(port, kind, m, out)
			note(p, before)
		}
		r := electiontest.Elect(t, counted, simulate.Options{Setup: setup})
		last := uint64(len(r.ByPhase)) - 1
		if last > k {
			t.Errorf("n=%d: the last phase is %d, at most %d can be", n, last, k)
		}
		unanswered, twos := n-1-last, uint64(0)
		for p := range last {
			twos += r.ByPhase[p] - ones[p]
			if active[p] > n>>p || active[p] < 2 || ones[p] != n {
				t.Errorf("n=%d: %d active in phase %d, with %d ONE", n, active[p], p, ones[p])
			}
		}
		if active[last] != 1 || ones[last]+1<<last > n+1 || r.ByPhase[last] != ones[last] {
			t.Errorf("n=%d: %d active in the last phase %d, with %d ONE of %d messages", n, active[last], last, ones[last], r.ByPhase[last])
		}
		if 2*twos > last*n+unanswered {
			t.Errorf("n=%d: %d TWO in %d phases", n, twos, last)
		}
		if r.Time.Elected.Lo > 2*n-1 { // seen in every run, not proved
			t.Errorf("n=%d: elected after %s units", n, r.Time.Elected)
		}
	}
	for n := 1; n <= 7; n++ {
		for ids := range electiontest.Rings(n) {
			check(network.On(ids...))
		}
	}
	for n := 8; n <= 300; n++ {
		ring, err := order.Random(n, uint64(n))
		if err != nil {
			t.Fatal(err)
		}
		check(network.Setup{IDs: ring})
	}
	for n := 8; n <= 512; n *= 2 {
		ring, err := order.BitReversal(n)
		if err != nil {
			t.Fatal(err)
		}
		check(network.Setup{IDs: ring})
	}
}

// receive is a mutant's reaction to a message. It returns false to leave the message to the algorithm.
type receive func(*dkrb.Process, election.Kind, dkrb.Message, *election.Out[dkrb.Message]) bool

// asserting panics if an active process receives TWO, or a waiting one receives that of another value.
var asserting = electiontest.Mutant(dkrb.Algorithm, func(p *dkrb.Process, kind election.Kind, m dkrb.Message, _ *election.Out[dkrb.Message]) bool {
	if kind == dkrb.Two && (p.Status == dkrb.Active || p.Status == dkrb.Waiting && m.ID != p.Max) {
		panic("TWO that no process waits for")
	}
	return false
})

func TestTwoComesToWhoWaitsForIt(t *testing.T) {
	report, err := verify.Run(asserting, verify.Options{Size: 5})
	if err != nil {
		t.Fatal(err)
	}
	if report.Violation != nil || !report.Complete {
		t.Errorf("%d states: %v", report.States, report.Violation)
	}
	for seed := range uint64(10_000) {
		setup := electiontest.Setup(&dkrb.Algorithm.Declaration, 1+int(seed%64), seed)
		electiontest.Elect(t, asserting, simulate.Options{Setup: setup, Schedule: simulate.Random, AnyTime: true, Seed: seed})
	}
}

func TestOvertakingMessagesBreakIt(t *testing.T) {
	electiontest.Overtaken(t, dkrb.Algorithm, 4000, electiontest.OfSizes(&dkrb.Algorithm.Declaration, 2, 7))
	example := network.On(3, 2, 4, 6, 1, 5, 7) // fails without FIFO under some schedules
	electiontest.Overtaken(t, dkrb.Algorithm, 4000, func(uint64) network.Setup { return example })
}

func TestSlipsAreFound(t *testing.T) {
	for _, slip := range []struct {
		name     string
		does     receive
		size     int
		property string
	}{
		{"B2: the own identifier is looked at last", func(p *dkrb.Process, kind election.Kind, m dkrb.Message, out *election.Out[dkrb.Message]) bool {
			late := kind == dkrb.One && m.ID == p.ID && p.Status == dkrb.Passive
			if late { // B6, B7
				m.Hops--
				if m.Hops == 0 {
					p.Status, p.Phase = dkrb.Waiting, m.Phase
				}
				out.Send(dkrb.Right, kind, m)
			}
			return late
		}, 2, verify.NeverEnds},
		{"B5: a waiting process swallows the next ONE", func(p *dkrb.Process, kind election.Kind, m dkrb.Message, _ *election.Out[dkrb.Message]) bool {
			swallows := kind == dkrb.One && p.Status == dkrb.Waiting && m.ID != p.ID
			if swallows {
				p.Status = dkrb.Passive
			}
			return swallows
		}, 4, verify.Undecided},
		{"B10: a passive process swallows TWO", func(p *dkrb.Process, kind election.Kind, _ dkrb.Message, _ *election.Out[dkrb.Message]) bool {
			return kind == dkrb.Two && p.Status == dkrb.Passive
		}, 4, verify.Undecided},
	} {
		electiontest.Found(t, slip.name, electiontest.Mutant(dkrb.Algorithm, slip.does), verify.Options{Size: slip.size}, slip.property)
	}
}

// These slips still elect the right process, but lose the bound.
func TestSlipsInTheCounterCostMessages(t *testing.T) {
	for _, slip := range []struct {
		name string
		hops func(phase uint8) uint32
		most uint64 // n = 7; the algorithm itself takes 26
	}{
		{"one hop in every phase", func(uint8) uint32 { return 1 }, 32},
		{"2^phase - 1 hops", func(phase uint8) uint32 { return 1<<phase - 1 }, 32},
	} {
		a := electiontest.Mutant(dkrb.Algorithm, func(p *dkrb.Process, kind election.Kind, _ dkrb.Message, out *election.Out[dkrb.Message]) bool {
			enters := kind == dkrb.Two && p.Status == dkrb.Waiting
			if enters {
				p.Status, p.Phase = dkrb.Active, p.Phase+1
				out.Send(dkrb.Right, dkrb.One, dkrb.Message{ID: p.Max, Phase: p.Phase, Hops: slip.hops(p.Phase)})
			}
			return enters
		})
		_, most := electiontest.Extremes(t, a, 7, nil)
		if most != slip.most {
			t.Errorf("%s: at most %d messages, want %d", slip.name, most, slip.most)
		}
	}
}
