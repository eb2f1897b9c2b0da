package minmax_test

import (
	"testing"

	"ringleader.example/ringleader/algorithms/minmax"
	"ringleader.example/ringleader/election"
	"ringleader.example/ringleader/election/electiontest"
	"ringleader.example/ringleader/network"
	"ringleader.example/ringleader/simulate"
	"ringleader.example/ringleader/verify"
)

func TestConformance(t *testing.T) {
	electiontest.Conform(t, minmax.Algorithm, electiontest.Options{Verify: 5})
}

func TestVectors(t *testing.T) { // election messages; the announcement has n
	for _, v := range []struct {
		ids  []uint64
		want uint64
	}{
		{[]uint64{1}, 1},
		{[]uint64{2, 1}, 4},
		{[]uint64{3, 2, 1}, 6},
		{[]uint64{1, 2, 3}, 9},
		{[]uint64{4, 3, 2, 1}, 8},
		{[]uint64{5, 4, 3, 2, 1}, 10},
		{[]uint64{3, 1, 4, 2, 5}, 15},
		{[]uint64{8, 7, 6, 5, 4, 3, 2, 1}, 16},
		{[]uint64{1, 2, 3, 4, 5, 6, 7, 8}, 24},
		{[]uint64{1, 5, 3, 7, 2, 6, 4, 8}, 32},
	} {
		electiontest.Counts(t, minmax.Algorithm, 1, network.On(v.ids...), v.want, uint64(len(v.ids)))
	}
}

func TestExtremesOverAllOrdersAreTheBoundsAndTheLargestNeverWins(t *testing.T) {
	worst, best := minmax.Algorithm.Bound(election.Worst).Value, minmax.Algorithm.Bound(election.Best).Value
	for n := 1; n <= 8; n++ {
		smallest := 0
		least, most := electiontest.Extremes(t, minmax.Algorithm, n, func(ids []uint64, r *simulate.Result) {
			if ids[r.Leaders[0]] == 1 {
				smallest++
			}
			if n >= 2 && ids[r.Leaders[0]] == uint64(n) {
				t.Fatalf("%v: the largest wins; stage 1 removes it", ids)
			}
		})
		if least != best(uint64(n)) || most != worst(uint64(n)) {
			t.Errorf("n=%d: %d to %d election messages, want %d to %d", n, least, most, best(uint64(n)), worst(uint64(n)))
		}
		all := 1
		for k := 2; k < n; k++ {
			all *= k
		}
		if n >= 4 && (smallest == 0 || smallest == all) {
			t.Errorf("n=%d: the smallest wins in %d of %d orders, want sometimes", n, smallest, all)
		}
	}
}

func TestWorstBoundIsFibonacci(t *testing.T) {
	worst := minmax.Algorithm.Bound(election.Worst).Value
	for n, stages := range map[uint64]uint64{1: 1, 2: 2, 3: 3, 4: 3, 5: 4, 7: 4, 8: 5, 12: 5, 13: 6, 21: 7, 1 << 20: 29, 1 << 27: 39} {
		if got := worst(n); got != n*stages {
			t.Errorf("n=%d: %d messages, want %d stages", n, got, stages)
		}
	}
}

func TestStagesOfRandomRingsKeepTheBound(t *testing.T) {
	worst := minmax.Algorithm.Bound(election.Worst).Value
	for n := 1; n <= 128; n++ {
		for seed := range uint64(3) {
			r := electiontest.Elect(t, minmax.Algorithm, simulate.Options{Setup: network.On(electiontest.Random(t, n, seed)...), Schedule: simulate.Random, Seed: seed, AnyTime: true})
			stages := uint64(len(r.ByPhase) - 1)
			if r.Messages.Election != stages*uint64(n) || r.Messages.Election > worst(uint64(n)) {
				t.Errorf("n=%d: %d messages in %d stages, at most %d may be", n, r.Messages.Election, stages, worst(uint64(n)))
			}
		}
	}
}

func TestOvertakingMessagesElectTwoOrNone(t *testing.T) {
	electiontest.Overtaken(t, minmax.Algorithm, 4000, func(seed uint64) network.Setup {
		return network.On(electiontest.Random(t, 7, seed)...)
	})
}

type algorithm = election.Algorithm[minmax.Process, minmax.Message]

func TestBrokenRulesAreFound(t *testing.T) {
	receive := minmax.Algorithm.Receive
	for name, mutant := range map[string]struct {
		property string
		receive  func(p *minmax.Process, m minmax.Message, kind election.Kind, out *election.Out[minmax.Message])
	}{
		"the process that finds out leads, and announces the value all the same": {verify.TwoLeaders, func(p *minmax.Process, m minmax.Message, kind election.Kind, out *election.Out[minmax.Message]) {
			if kind == minmax.Envelope && p.Stage > 0 && !p.Passive && m.ID == p.Value {
				p.Decided = true
				out.Lead(0)
				out.Send(minmax.Right, minmax.Leader, m)
				return
			}
			receive(p, 1, kind, m, out)
		}},
		"survivors keep their own value": {verify.Undecided, func(p *minmax.Process, m minmax.Message, kind election.Kind, out *election.Out[minmax.Message]) {
			own, stage := p.Value, p.Stage
			receive(p, 1, kind, m, out)
			if stage > 0 && p.Stage > stage {
				p.Value = own
			}
		}},
		"sleepers relay": {verify.Irrevocable, func(p *minmax.Process, m minmax.Message, kind election.Kind, out *election.Out[minmax.Message]) {
			if kind == minmax.Envelope && p.Stage == 0 {
				out.Send(minmax.Right, kind, m)
				return
			}
			receive(p, 1, kind, m, out)
		}},
	} {
		t.Run(name, func(t *testing.T) {
			a := minmax.Algorithm
			a.Receive = func(p *minmax.Process, _ election.Port, kind election.Kind, m minmax.Message, out *election.Out[minmax.Message]) {
				mutant.receive(p, m, kind, out)
			}
			found(t, a, mutant.property)
		})
	}
}

func found(t *testing.T, a algorithm, property string) {
	t.Helper()
	for n := 1; n <= 4; n++ {
		report, err := verify.Run(a, verify.Options{Size: n, Starts: verify.AnyTime})
		if err != nil {
			t.Fatal(err)
		}
		if v := report.Violation; v != nil {
			if v.Property != property {
				t.Errorf("n=%d: found %s: %s; want %s", n, v.Property, v.Detail, property)
			}
			return
		}
	}
	t.Errorf("not found with up to 4 processes; want %s", property)
}
