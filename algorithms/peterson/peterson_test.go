package peterson_test

import (
	"slices"
	"testing"

	"ringleader.example/ringleader/algorithms/peterson"
	"ringleader.example/ringleader/election"
	"ringleader.example/ringleader/election/electiontest"
	"ringleader.example/ringleader/network"
	"ringleader.example/ringleader/simulate"
	"ringleader.example/ringleader/verify"
)

func TestConformance(t *testing.T) {
	electiontest.Conform(t, peterson.Algorithm, electiontest.Options{Verify: 4})
}

func TestVectorsUnderEverySchedule(t *testing.T) {
	for _, v := range []struct {
		ids    []uint64
		values uint64
	}{
		{[]uint64{1}, 1},
		{[]uint64{2, 1}, 5},
		{[]uint64{3, 2, 1}, 8},
		{[]uint64{1, 2, 3}, 8},
		{[]uint64{4, 3, 2, 1}, 11},
		{[]uint64{5, 4, 3, 2, 1}, 14},
		{[]uint64{3, 1, 4, 2, 5}, 20},
		{[]uint64{8, 7, 6, 5, 4, 3, 2, 1}, 23},
		{[]uint64{1, 2, 3, 4, 5, 6, 7, 8}, 23},
		{[]uint64{1, 5, 3, 7, 2, 6, 4, 8}, 46},
	} {
		electiontest.Counts(t, peterson.Algorithm, 5, network.On(v.ids...), v.values, uint64(len(v.ids)))
	}
}

func TestExtremesAndTimesOverAllOrders(t *testing.T) {
	for n, want := range []struct{ least, most, bound, time uint64 }{ // over all orders, by exhaustive simulation; the bound is ours
		1: {1, 1, 1, 1}, 2: {5, 5, 5, 2}, 3: {8, 8, 8, 4}, 4: {11, 16, 17, 5},
		5: {14, 21, 22, 6}, 6: {17, 27, 27, 9}, 7: {20, 32, 32, 11}, 8: {23, 46, 49, 13},
	} {
		if n == 0 {
			continue
		}
		time := uint64(0)
		least, most := electiontest.Extremes(t, peterson.Algorithm, n, func(_ []uint64, r *simulate.Result) {
			time = max(time, r.Time.Elected.Lo)
		})
		if least != want.least || most != want.most {
			t.Errorf("n=%d: %d to %d values, want %d to %d", n, least, most, want.least, want.most)
		}
		best, worst := peterson.Algorithm.Bound(election.Best).Value(uint64(n)), peterson.Algorithm.Bound(election.Worst).Value(uint64(n))
		if best != want.least || worst != want.bound {
			t.Errorf("n=%d: bounds of %d and %d, want %d and %d", n, best, worst, want.least, want.bound)
		}
		if time != want.time {
			t.Errorf("n=%d: elected after %d units at the latest, want %d", n, time, want.time)
		}
	}
}

// active is an active process of a phase.
type active struct {
	position int
	value    uint64
}

// phases returns the messages of each phase, from the values of a ring, 1 to n. The value of a local maximum moves on
// to the next active process. When two are left, the second message of the largest reaches its origin; when one is
// left, its first.
func phases(values []uint64) (messages []uint64) {
	n := len(values)
	home := slices.Index(values, uint64(n))
	var actives []active
	for p, v := range values {
		actives = append(actives, active{p, v})
	}
	for len(actives) > 1 {
		k, spared := len(actives), 0
		var next []active
		for i, here := range actives {
			before, after := actives[(i+k-1)%k], actives[(i+1)%k]
			if before.value < here.value && here.value > after.value {
				next = append(next, active{after.position, here.value})
			}
			if k == 2 && here.value == uint64(n) {
				spared = (here.position - home + n) % n
			}
		}
		messages = append(messages, uint64(2*n-spared))
		actives = next
	}
	return append(messages, uint64((home-actives[0].position+n-1)%n+1))
}

func TestPhasesShrinkToTheLocalMaxima(t *testing.T) {
	for n := 1; n <= 200; n++ {
		values := electiontest.Random(t, n, uint64(n))
		r := electiontest.Elect(t, peterson.Algorithm, simulate.Options{Setup: network.On(values...)})
		if want := phases(values); !slices.Equal(r.ByPhase, want) {
			t.Errorf("n=%d: %d messages by phase, want %d", n, r.ByPhase, want)
		}
		if r.Time.Elected.Lo > max(1, 2*uint64(n)-1) { // seen in every run, not proved
			t.Errorf("n=%d: elected after %s units", n, r.Time.Elected)
		}
	}
}

func TestOvertakingMessagesBreakIt(t *testing.T) {
	electiontest.Overtaken(t, peterson.Algorithm, 4000, electiontest.OfSizes(&peterson.Algorithm.Declaration, 2, 7))
}

// receive is a mutant's reaction to a message. It returns false to leave the message to the algorithm.
type receive func(*peterson.Process, election.Kind, peterson.Message, *election.Out[peterson.Message]) bool

func TestSlipsAreFound(t *testing.T) {
	for _, slip := range []struct {
		name     string
		does     receive
		size     int
		property string
	}{
		{"P6 with > kills the largest, too, since its value comes twice", func(p *peterson.Process, kind election.Kind, m peterson.Message, _ *election.Out[peterson.Message]) bool {
			dies := kind == peterson.Value && p.Status == peterson.Second && m.ID != p.ID && p.NTID == m.ID
			if dies {
				p.Status = peterson.Relay
			}
			return dies
		}, 3, verify.Undecided},
		{"P8 without a look at the value lets the largest go round and round", func(p *peterson.Process, kind election.Kind, m peterson.Message, out *election.Out[peterson.Message]) bool {
			passes := kind == peterson.Value && p.Status == peterson.Relay && m.ID == p.ID
			if passes {
				out.Send(peterson.Right, kind, m)
			}
			return passes
		}, 3, verify.NeverEnds},
		{"the announcement never stops", func(p *peterson.Process, kind election.Kind, m peterson.Message, out *election.Out[peterson.Message]) bool {
			if kind == peterson.Announcement && p.Status == peterson.Elected {
				out.Send(peterson.Right, kind, m)
			}
			return false
		}, 2, verify.Irrevocable},
	} {
		electiontest.Found(t, slip.name, electiontest.Mutant(peterson.Algorithm, slip.does), verify.Options{Size: slip.size}, slip.property)
	}
}
