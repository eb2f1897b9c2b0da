package minmax_test

import (
	"testing"

	"ringleader.example/ringleader/algorithms/minmax"
	"ringleader.example/ringleader/election"
	"ringleader.example/ringleader/election/electiontest"
	"ringleader.example/ringleader/order"
	"ringleader.example/ringleader/simulate"
	"ringleader.example/ringleader/verify"
)

func TestConformance(t *testing.T) {
	electiontest.Conform(t, minmax.Algorithm, electiontest.Options{Verify: 5})
}

func run(t *testing.T, o simulate.Options) *simulate.Result {
	t.Helper()
	r, err := simulate.Run(minmax.Algorithm, o)
	if err != nil {
		t.Fatal(err)
	}
	if !r.Right || len(r.Faults) > 0 {
		t.Fatalf("leaders at %v, %d of %d decided, %v", r.Leaders, r.Decided, r.Live, r.Faults)
	}
	return r
}

func TestVectors(t *testing.T) { // ALGORITHMS 11: election messages; the announcement has n
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
		m := run(t, simulate.Options{Instance: election.On(v.ids...)}).Messages
		if m.Election != v.want || m.Announcement != uint64(len(v.ids)) {
			t.Errorf("%v: %d+%d messages, want %d+%d", v.ids, m.Election, m.Announcement, v.want, len(v.ids))
		}
	}
}

// orders yields every order of 1 … n with n first: on a ring, all that differ.
func orders(n int) func(func([]uint64) bool) {
	return func(yield func([]uint64) bool) {
		ids := make([]uint64, n)
		for p := range ids {
			ids[p] = uint64(n - p)
		}
		var permute func(k int) bool
		permute = func(k int) bool {
			if k >= n {
				return yield(ids)
			}
			for q := k; q < n; q++ {
				ids[k], ids[q] = ids[q], ids[k]
				ok := permute(k + 1)
				ids[k], ids[q] = ids[q], ids[k]
				if !ok {
					return false
				}
			}
			return true
		}
		permute(1)
	}
}

func TestExtremesOverAllOrdersAreTheBoundsAndTheLargestNeverWins(t *testing.T) {
	worst, best := minmax.Algorithm.Bound(election.Worst).Value, minmax.Algorithm.Bound(election.Best).Value
	for n := 1; n <= 8; n++ {
		least, most := uint64(1<<63), uint64(0)
		smallest := 0
		for ids := range orders(n) {
			r := run(t, simulate.Options{Instance: election.On(ids...)})
			least, most = min(least, r.Messages.Election), max(most, r.Messages.Election)
			if ids[r.Leaders[0]] == 1 {
				smallest++
			}
			if n >= 2 && ids[r.Leaders[0]] == uint64(n) {
				t.Fatalf("%v: the largest wins; stage 1 removes it", ids)
			}
		}
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
			ring, err := order.Random(n, seed)
			if err != nil {
				t.Fatal(err)
			}
			r := run(t, simulate.Options{Instance: election.Instance{IDs: ring}, Schedule: simulate.Random, Seed: seed, AnyTime: true})
			stages := uint64(len(r.ByPhase) - 1)
			if r.Messages.Election != stages*uint64(n) || r.Messages.Election > worst(uint64(n)) {
				t.Errorf("n=%d: %d messages in %d stages, at most %d may be", n, r.Messages.Election, stages, worst(uint64(n)))
			}
		}
	}
}

func TestOvertakingMessagesElectTwoOrNone(t *testing.T) {
	failed := 0
	for seed := range uint64(4000) {
		ring, err := order.Random(7, seed)
		if err != nil {
			t.Fatal(err)
		}
		r, err := simulate.Run(minmax.Algorithm, simulate.Options{
			Instance: election.Instance{IDs: ring}, Schedule: simulate.Random, Unordered: true, Seed: seed, Limit: 10_000,
		})
		if err != nil {
			t.Fatal(err)
		}
		if !r.Complete || !r.Right || len(r.Faults) > 0 {
			failed++
		}
	}
	if failed == 0 {
		t.Error("none of 4000 runs without order fails, so FIFO need not be declared")
	}
	t.Logf("%d of 4000 runs without order fail", failed)
}

type algorithm = election.Algorithm[minmax.Process, minmax.Message]

func TestBrokenRulesAreFound(t *testing.T) {
	receive := minmax.Algorithm.Receive
	for name, mutant := range map[string]struct {
		property string
		receive  func(p *minmax.Process, m minmax.Message, kind election.Kind, out *election.Out[minmax.Message])
	}{
		"who finds out leads, and announces the value all the same": {verify.TwoLeaders, func(p *minmax.Process, m minmax.Message, kind election.Kind, out *election.Out[minmax.Message]) {
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
