package franklin_test

import (
	"slices"
	"testing"

	"ringleader.example/ringleader/algorithms/franklin"
	"ringleader.example/ringleader/election"
	"ringleader.example/ringleader/election/electiontest"
	"ringleader.example/ringleader/network"
	"ringleader.example/ringleader/simulate"
	"ringleader.example/ringleader/verify"
)

type out = election.Out[franklin.Message]

// rounds returns how often one takes the local maxima of a ring until one is left.
func rounds(ids []uint64) (k uint64) {
	for ; len(ids) > 1; k++ {
		var maxima []uint64
		for p, id := range ids {
			before, after := ids[(p+len(ids)-1)%len(ids)], ids[(p+1)%len(ids)]
			if id > before && id > after {
				maxima = append(maxima, id)
			}
		}
		ids = maxima
	}
	return k
}

func TestConformance(t *testing.T) {
	electiontest.Conform(t, franklin.Algorithm, electiontest.Options{Verify: 4})
}

func TestVectorsUnderEveryScheduleAndOrientation(t *testing.T) {
	for _, v := range []struct {
		ids         []uint64
		identifiers uint64
	}{
		{[]uint64{1}, 2},
		{[]uint64{2, 1}, 8},
		{[]uint64{3, 2, 1}, 12},
		{[]uint64{1, 2, 3}, 12},
		{[]uint64{4, 3, 2, 1}, 16},
		{[]uint64{5, 4, 3, 2, 1}, 20},
		{[]uint64{3, 1, 4, 2, 5}, 30},
		{[]uint64{8, 7, 6, 5, 4, 3, 2, 1}, 32},
		{[]uint64{1, 2, 3, 4, 5, 6, 7, 8}, 32},
		{[]uint64{1, 5, 3, 7, 2, 6, 4, 8}, 64},
	} {
		for orientation := range uint64(4) { // 0 is the common orientation
			setup := network.On(v.ids...)
			if orientation > 0 {
				setup.Flipped = electiontest.Setup(&franklin.Algorithm.Declaration, len(v.ids), orientation).Flipped
			}
			electiontest.Counts(t, franklin.Algorithm, 4, setup, v.identifiers, uint64(len(v.ids)))
		}
	}
}

func TestEveryOrderTakesARoundForEachSieveAndOneMore(t *testing.T) {
	for n := uint64(1); n <= 8; n++ {
		least, most := electiontest.Extremes(t, franklin.Algorithm, int(n), func(ids []uint64, r *simulate.Result) {
			if want := 2 * n * (rounds(ids) + 1); r.Messages.Election != want || r.Messages.Announcement != n {
				t.Fatalf("%v: %v, want %d and %d", ids, r.Messages.ByKind, want, n)
			}
		})
		best, worst := franklin.Algorithm.Bound(election.Best).Value(n), franklin.Algorithm.Bound(election.Worst).Value(n)
		if least != best || most != worst {
			t.Errorf("n=%d: %d to %d messages, want %d to %d", n, least, most, best, worst)
		}
	}
}

func TestEveryRoundOfRandomRingsTakes2NMessagesForAllInitiators(t *testing.T) {
	for n := 1; n <= 64; n++ {
		ids := electiontest.Random(t, n, uint64(n))
		o := simulate.Options{Setup: network.On(ids...), Schedule: simulate.Random, AnyTime: true, Initiators: []int{0, n / 2}[:min(n, 2)]}
		r := electiontest.Elect(t, franklin.Algorithm, o)
		if want := slices.Repeat([]uint64{2 * uint64(n)}, int(rounds(ids))+1); !slices.Equal(r.ByPhase, want) || !r.Right {
			t.Errorf("n=%d: %v by round, want %v", n, r.ByPhase, want)
		}
	}
}

func TestSynchronousTimes(t *testing.T) {
	// Units until the leader decides, the last process decides, and quiescence.
	o := simulate.Options{Setup: network.On(5, 2, 8, 4, 1, 6, 3, 7), Timing: election.Synchronous}
	r := electiontest.Elect(t, franklin.Algorithm, o)
	if got := [3]uint64{r.Time.Elected.Lo, r.Time.Decided.Lo, r.Time.Quiet.Lo}; got != [3]uint64{12, 19, 20} {
		t.Errorf("%v, want 12, 19 and 20", got)
	}
	r = electiontest.Elect(t, franklin.Algorithm, simulate.Options{Setup: network.On(1), Timing: election.Synchronous})
	if got := [3]uint64{r.Time.Elected.Lo, r.Time.Decided.Lo, r.Time.Quiet.Lo}; got != [3]uint64{1, 1, 2} {
		t.Errorf("alone: %v, want 1, 1 and 2", got)
	}
}

func TestMessagesThatOvertakeDoHarm(t *testing.T) {
	electiontest.Overtaken(t, franklin.Algorithm, 4000, electiontest.OfSizes(&franklin.Algorithm.Declaration, 2, 9))
}

// The second place serves a neighbour a round ahead, which is frequent enough to be tested.
func TestTwoMessagesWaitSometimesAndThreeNever(t *testing.T) {
	most := 0
	watched := franklin.Algorithm
	watched.Receive = func(p *franklin.Process, port election.Port, kind election.Kind, m franklin.Message, out *out) {
		if p.Status == franklin.Active && kind == franklin.Identifier && p.Waiting[0] != 0 && p.Port == port {
			here := 2
			if p.Waiting[1] != 0 {
				here = 3
			}
			most = max(most, here)
		}
		p.Receive(port, kind, m, out)
	}
	for seed := range uint64(2000) {
		setup := electiontest.Setup(&franklin.Algorithm.Declaration, 2+int(seed%20), seed)
		electiontest.Elect(t, watched, simulate.Options{Setup: setup, Schedule: simulate.Random, Seed: seed, AnyTime: true})
	}
	if most != 2 {
		t.Errorf("up to %d messages wait on a port, want 2", most)
	}
}

func TestBrokenVariantsAreFound(t *testing.T) {
	for _, broken := range []struct {
		how     string
		size    int
		receive func(p *franklin.Process, port election.Port, kind election.Kind, m franklin.Message, out *out)
	}{
		{
			"a port keeps only the newest message", 4,
			func(p *franklin.Process, port election.Port, kind election.Kind, m franklin.Message, out *out) {
				if p.Status == franklin.Active && kind == franklin.Identifier && p.Waiting[0] != 0 && p.Port == port {
					p.Waiting[0] = m.ID
					return
				}
				p.Receive(port, kind, m, out)
			},
		},
		{
			"a process that becomes passive forgets the waiting messages", 4,
			func(p *franklin.Process, port election.Port, kind election.Kind, m franklin.Message, out *out) {
				turns := max(m.ID, p.Waiting[0]) > p.ID
				if p.Status == franklin.Active && kind == franklin.Identifier && p.Waiting[0] != 0 && p.Port != port && turns {
					p.Waiting[1] = 0
				}
				p.Receive(port, kind, m, out)
			},
		},
		{
			"one own identifier is enough to lead", 2,
			func(p *franklin.Process, port election.Port, kind election.Kind, m franklin.Message, out *out) {
				if p.Status == franklin.Active && kind == franklin.Identifier && m.ID == p.ID {
					out.Lead(0)
					return
				}
				p.Receive(port, kind, m, out)
			},
		},
		{
			"a process that joins does not send its own first", 3,
			func(p *franklin.Process, port election.Port, kind election.Kind, m franklin.Message, out *out) {
				if p.Status == franklin.Asleep {
					p.Status = franklin.Passive
				}
				p.Receive(port, kind, m, out)
			},
		},
	} {
		mutant := franklin.Algorithm
		mutant.Receive = broken.receive
		report, err := verify.Run(mutant, verify.Options{Size: broken.size, Starts: verify.AnyTime})
		if err != nil {
			t.Fatal(err)
		}
		if report.Violation == nil {
			t.Errorf("%s: found nothing in %d states", broken.how, report.States)
			continue
		}
		t.Logf("%s: %s", broken.how, report.Violation.Property)
	}
}
