package dolevklawerodeh_test

import (
	"slices"
	"testing"

	dkr "ringleader.example/ringleader/algorithms/dolevklawerodeh"
	"ringleader.example/ringleader/election"
	"ringleader.example/ringleader/election/electiontest"
	"ringleader.example/ringleader/network"
	"ringleader.example/ringleader/simulate"
	"ringleader.example/ringleader/verify"
)

func TestConformance(t *testing.T) {
	electiontest.Conform(t, dkr.Algorithm, electiontest.Options{Verify: 4})
}

func TestVectorsUnderEverySchedule(t *testing.T) {
	for _, v := range []struct {
		ids      []uint64
		one, two uint64
	}{
		{[]uint64{1}, 1, 0},
		{[]uint64{2, 1}, 4, 2},
		{[]uint64{3, 2, 1}, 6, 3},
		{[]uint64{1, 2, 3}, 6, 3},
		{[]uint64{4, 3, 2, 1}, 8, 4},
		{[]uint64{5, 4, 3, 2, 1}, 10, 5},
		{[]uint64{3, 1, 4, 2, 5}, 15, 10},
		{[]uint64{8, 7, 6, 5, 4, 3, 2, 1}, 16, 8},
		{[]uint64{1, 2, 3, 4, 5, 6, 7, 8}, 16, 8},
		{[]uint64{1, 5, 3, 7, 2, 6, 4, 8}, 32, 24},
	} {
		electiontest.Counts(t, dkr.Algorithm, 5, network.On(v.ids...), v.one, v.two, uint64(len(v.ids)))
	}
}

func TestTheOneWhoKnowsDecidesLast(t *testing.T) {
	// The winner message reaches its winner, 8, after 20 units, and its sender after 24.
	r := electiontest.Elect(t, dkr.Algorithm, simulate.Options{Setup: network.On(5, 2, 8, 4, 1, 6, 3, 7), Timing: election.Synchronous})
	if got := [3]uint64{r.Time.Elected.Lo, r.Time.Decided.Lo, r.Time.Quiet.Lo}; got != [3]uint64{20, 24, 24} {
		t.Errorf("elected, decided and quiet after %v units, want 20, 24, 24", got)
	}
}

// rounds returns how many times a cyclic sequence shrinks to its local maxima until one value is left.
func rounds(values []uint64) (k uint64) {
	for ; len(values) > 1; k++ {
		var next []uint64
		for i, v := range values {
			before, after := values[(i+len(values)-1)%len(values)], values[(i+1)%len(values)]
			if before < v && v > after {
				next = append(next, v)
			}
		}
		values = next
	}
	return k
}

func TestCountsFollowFromTheRoundsOfLocalMaxima(t *testing.T) {
	check := func(values []uint64, r *simulate.Result) {
		t.Helper()
		n, k := uint64(len(values)), rounds(values)
		if want := []uint64{n * (k + 1), n * k, n}; !slices.Equal(r.Messages.ByKind, want) { // k rounds: n(k+1) one, nk two, n winner
			t.Errorf("%v: %v, want %v", values, r.Messages.ByKind, want)
		}
		if want := append(slices.Repeat([]uint64{2 * n}, int(k)), n); !slices.Equal(r.ByPhase, want) {
			t.Errorf("%v: %v messages by round, want %v", values, r.ByPhase, want)
		}
		if n > 1 && r.Time.Quiet.Lo-n > 3*n-2 { // seen in every run, not proved
			t.Errorf("%v: known after %d units", values, r.Time.Quiet.Lo-n)
		}
	}
	for n, latest := range []uint64{1: 1, 2: 4, 3: 5, 4: 10, 5: 12, 6: 14, 7: 16, 8: 22} { // the latest decision over all orders, by exhaustive simulation
		if n == 0 {
			continue
		}
		time := uint64(0)
		least, most := electiontest.Extremes(t, dkr.Algorithm, n, func(ids []uint64, r *simulate.Result) {
			check(ids, r)
			time = max(time, r.Time.Quiet.Lo-uint64(n)) // the winner messages take n
		})
		if best, worst := dkr.Algorithm.Bound(election.Best).Value(uint64(n)), dkr.Algorithm.Bound(election.Worst).Value(uint64(n)); least != best || most != worst {
			t.Errorf("n=%d: %d to %d messages, want %d to %d", n, least, most, best, worst)
		}
		if time != latest {
			t.Errorf("n=%d: known after %d units at the latest, want %d", n, time, latest)
		}
	}
	for n := 9; n <= 200; n++ {
		values := electiontest.Random(t, n, uint64(n))
		check(values, electiontest.Elect(t, dkr.Algorithm, simulate.Options{Setup: network.On(values...)}))
	}
}

func TestOvertakingMessagesBreakIt(t *testing.T) {
	electiontest.Overtaken(t, dkr.Algorithm, 4000, electiontest.OfSizes(&dkr.Algorithm.Declaration, 2, 7))
}

// receive is a mutant's reaction to a message. It returns false to leave the message to the algorithm.
type receive func(*dkr.Process, election.Kind, dkr.Message, *election.Out[dkr.Message]) bool

func TestSlipsAreFound(t *testing.T) {
	for _, slip := range []struct {
		name     string
		does     receive
		size     int
		property string
	}{
		{"D3: the process that knows the winner announces itself", func(p *dkr.Process, kind election.Kind, m dkr.Message, out *election.Out[dkr.Message]) bool {
			knows := kind == dkr.One && p.Status == dkr.Active && m.ID == p.Max
			if knows {
				p.Know = true
				out.Send(dkr.Right, dkr.Winner, dkr.Message{ID: p.ID})
			}
			return knows
		}, 2, verify.WrongLeader},
		{"D9: the winner message never stops", func(p *dkr.Process, _ election.Kind, _ dkr.Message, _ *election.Out[dkr.Message]) bool {
			p.Know = false
			return false
		}, 2, verify.Irrevocable},
		{"D5: a value continues that is greater than the one after it, whatever came before", func(p *dkr.Process, kind election.Kind, m dkr.Message, out *election.Out[dkr.Message]) bool {
			goesOn := kind == dkr.Two && p.Status == dkr.Active && p.Neighbour > p.Max
			if goesOn {
				p.Max = p.Neighbour
				p.Round++
				out.Send(dkr.Right, dkr.One, dkr.Message{ID: p.Max, Round: p.Round})
			}
			return goesOn
		}, 4, verify.BoundBroken},
		{"D7: a process that is not active swallows two", func(p *dkr.Process, kind election.Kind, _ dkr.Message, _ *election.Out[dkr.Message]) bool {
			return kind == dkr.Two && p.Status == dkr.Passive
		}, 4, verify.Undecided},
	} {
		electiontest.Found(t, slip.name, electiontest.Mutant(dkr.Algorithm, slip.does), verify.Options{Size: slip.size}, slip.property)
	}
}
