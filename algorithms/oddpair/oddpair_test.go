package oddpair_test

import (
	"iter"
	"slices"
	"testing"

	"ringleader.example/ringleader/algorithms/oddpair"
	"ringleader.example/ringleader/election"
	"ringleader.example/ringleader/election/electiontest"
	"ringleader.example/ringleader/network"
	"ringleader.example/ringleader/simulate"
	"ringleader.example/ringleader/verify"
)

func TestConformance(t *testing.T) {
	electiontest.Conform(t, oddpair.Algorithm, electiontest.Options{Verify: 4})
}

// pair is a ring with two odd processes.
type pair struct {
	ids           []uint64
	first, second int
	solvable      bool
}

// pairs yields every ring of n with two identifiers other than 5, up to the size of the difference.
func pairs(n int) iter.Seq[pair] {
	return func(yield func(pair) bool) {
		for first := range n {
			for second := range n {
				for _, odd := range [][2]uint64{{7, 7}, {3, 3}, {3, 7}, {6, 7}, {3, 4}} {
					if first == second || odd[0] == odd[1] && first > second {
						continue
					}
					ids := slices.Repeat([]uint64{5}, n)
					ids[first], ids[second] = odd[0], odd[1]
					opposite := (second-first+n)%n*2 == n
					if !yield(pair{ids, first, second, odd[0] != odd[1] || !opposite}) {
						return
					}
				}
			}
		}
	}
}

func TestOneLeaderUnderEveryTimingWhereverThePairStandsUnlessEqualAndOpposite(t *testing.T) {
	for n := 2; n <= 8; n++ {
		solved, refused := 0, 0
		for ring := range pairs(n) {
			_, err := simulate.Must(simulate.OfSmall(&oddpair.Algorithm)).Run(simulate.Options{Setup: network.On(ring.ids...)})
			if (err == nil) != ring.solvable {
				t.Fatalf("%v: %v", ring.ids, err)
			}
			if err != nil {
				refused++
				continue
			}
			solved++
			leader := -1
			for o := range electiontest.Schedules(&oddpair.Algorithm.Declaration, 1) {
				o.Setup = network.On(ring.ids...)
				r := electiontest.Elect(t, oddpair.Algorithm, o)
				who, _ := r.Leader()
				if leader >= 0 && leader != who || r.Messages.Election != uint64(5*n) || r.Messages.Announcement != uint64(n) {
					t.Fatalf("%v, %+v: %v lead, before it was %d; %+v", ring.ids, o, r.Leaders, leader, r.Messages)
				}
				leader = who
			}
			for starter := range n {
				r := electiontest.Elect(t, oddpair.Algorithm, simulate.Options{Setup: network.On(ring.ids...), Initiators: []int{starter}})
				if who, _ := r.Leader(); who != leader {
					t.Fatalf("%v, started by %d: %v lead, otherwise %d", ring.ids, starter, r.Leaders, leader)
				}
			}
		}
		// There are n(n-1)/2 places for two equal ones, twice, n/2 of them opposite if n is even.
		opposite := 0
		if n%2 == 0 {
			opposite = n
		}
		if equal := n * (n - 1); refused != opposite || solved != equal-opposite+3*n*(n-1) {
			t.Errorf("n=%d: %d solved, %d refused", n, solved, refused)
		}
	}
}

// The leader does not depend on where the reading of the ring begins.
func TestTheLeaderTurnsWithTheRing(t *testing.T) {
	for ring := range pairs(7) {
		r := electiontest.Elect(t, oddpair.Algorithm, simulate.Options{Setup: network.On(ring.ids...)})
		leader, _ := r.Leader()
		for turn := range ring.ids {
			turned := slices.Concat(ring.ids[turn:], ring.ids[:turn])
			r := electiontest.Elect(t, oddpair.Algorithm, simulate.Options{Setup: network.On(turned...)})
			if who, _ := r.Leader(); (who+turn)%7 != leader {
				t.Fatalf("%v: %d leads; turned by %d, %d", ring.ids, leader, turn, who)
			}
		}
	}
}

func TestEverySchedule(t *testing.T) {
	for n := 2; n <= 4; n++ {
		for ring := range pairs(n) {
			if !ring.solvable || ring.first != 0 {
				continue // as another ring, rotated
			}
			report, err := verify.Run(oddpair.Algorithm, verify.Options{Setup: network.On(ring.ids...), Starts: verify.AnyTime, Unordered: n < 4})
			if err != nil {
				t.Fatal(err)
			}
			if report.Violation != nil || !report.Complete {
				t.Fatalf("%v: %+v", ring.ids, report)
			}
		}
	}
}

// If equal ones that are opposite were allowed, both or neither would lead: Angluin's argument, for half a ring.
func TestOppositeProcessesDecideTheSame(t *testing.T) {
	for n := 2; n <= 8; n += 2 {
		for ring := range pairs(n) {
			if ring.solvable {
				continue
			}
			i := network.On(ring.ids...)
			i.Duplicates = true
			r := electiontest.Run(t, oddpair.Algorithm, simulate.Options{Setup: i, Timing: election.Synchronous})
			for q := range n / 2 {
				if r.Decisions[q].Role != r.Decisions[q+n/2].Role {
					t.Errorf("%v: %d is a %s, and %d a %s", ring.ids, q, r.Decisions[q].Role, q+n/2, r.Decisions[q+n/2].Role)
				}
			}
		}
	}
}

func TestRingsWithoutThePromiseAreRefusedWithWhatWouldDo(t *testing.T) {
	const other = "cannot run odd-pair: it needs exactly two identifiers that differ from all others, which are equal: 5,7,5,5,9"
	const opposite = "cannot run odd-pair: the two odd identifiers are equal and opposite each other, so each process does for ever what " +
		"the opposite one does; move one of them, as in 7,5,5,7,5,5,5"
	for _, c := range []struct {
		ids  []uint64
		says string
	}{
		{[]uint64{5}, other},
		{[]uint64{5, 5}, opposite},
		{[]uint64{5, 5, 5}, other},
		{[]uint64{5, 7, 5, 7}, opposite},
		{[]uint64{5, 5, 5, 7}, other},
		{[]uint64{1, 2, 3, 4}, other},
		{[]uint64{7, 5, 7, 5, 7, 5, 5}, other},
		{[]uint64{7, 5, 5, 9, 5, 3}, other},
		{[]uint64{7, 5, 5, 5, 7, 5, 5, 5}, opposite},
	} {
		if _, err := simulate.Must(simulate.OfSmall(&oddpair.Algorithm)).Run(simulate.Options{Setup: network.On(c.ids...)}); err == nil || err.Error() != c.says {
			t.Errorf("%v: %v", c.ids, err)
		}
	}
	for _, ids := range [][]uint64{{5, 7}, {5, 5, 7}, {5, 7, 9}, {5, 5, 7, 7}, {7, 5, 5, 7, 5, 5, 5}, {5, 7, 5, 5, 9}, {1<<64 - 1, 0, 0, 0, 1<<64 - 1}} {
		electiontest.Elect(t, oddpair.Algorithm, simulate.Options{Setup: network.On(ids...)})
	}
}

func TestALargeRingTakesFiveMessagesAProcess(t *testing.T) {
	const n = 100_000
	ids := slices.Repeat([]uint64{5}, n)
	ids[0], ids[n/2-1] = 7, 7
	r := electiontest.Elect(t, oddpair.Algorithm, simulate.Options{Setup: network.On(ids...)})
	if r.Messages.Election != 5*n || r.Messages.Announcement != n {
		t.Errorf("%+v", r.Messages)
	}
}
