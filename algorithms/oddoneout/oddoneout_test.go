package oddoneout_test

import (
	"slices"
	"testing"

	"ringleader.example/ringleader/algorithms/oddoneout"
	"ringleader.example/ringleader/election"
	"ringleader.example/ringleader/election/electiontest"
	"ringleader.example/ringleader/network"
	"ringleader.example/ringleader/simulate"
	"ringleader.example/ringleader/verify"
)

func TestConformance(t *testing.T) {
	electiontest.Conform(t, oddoneout.Algorithm, electiontest.Options{Verify: 5})
}

// ring returns n processes with the odd one at a position.
func ring(n, position int, odd, common uint64) []uint64 {
	ids := slices.Repeat([]uint64{common}, n)
	ids[position] = odd
	return ids
}

func TestTheOddOneLeadsWhereverItStandsUnderEveryTimingAndSetOfStarters(t *testing.T) {
	for n := 3; n <= 8; n++ {
		for position := range n {
			for _, odd := range []uint64{0, 9} {
				for starters := 1; starters < 1<<n; starters++ {
					var initiators []int
					for q := range n {
						if starters>>q&1 == 1 {
							initiators = append(initiators, q)
						}
					}
					r := electiontest.Elect(t, oddoneout.Algorithm, simulate.Options{Setup: network.On(ring(n, position, odd, 5)...), Initiators: initiators})
					if leader, _ := r.Leader(); leader != position || r.Messages.Election != uint64(2*n+1) || r.Messages.Announcement != uint64(n) {
						t.Fatalf("%d of %d is odd, and %v lead after %+v", position, n, r.Leaders, r.Messages)
					}
				}
			}
		}
	}
}

func TestOfTwoTheLargerLeadsAfterAThirdExchange(t *testing.T) {
	for position := range 2 {
		r := electiontest.Elect(t, oddoneout.Algorithm, simulate.Options{Setup: network.On(ring(2, position, 7, 5)...), Timing: election.Synchronous})
		if leader, _ := r.Leader(); leader != position || r.Messages.Election != 6 || r.Time.Elected != election.Units(3) {
			t.Errorf("7 at position %d: %v lead at %s after %+v", position, r.Leaders, r.Time.Elected, r.Messages)
		}
	}
}

func TestTheOddOneOfManyIsElectedInTwoUnits(t *testing.T) {
	r := electiontest.Elect(t, oddoneout.Algorithm, simulate.Options{Setup: network.On(ring(1000, 333, 3, 4)...), Timing: election.Synchronous})
	if leader, _ := r.Leader(); leader != 333 || r.Time.Elected != election.Units(2) {
		t.Errorf("%v lead at %s", r.Leaders, r.Time.Elected)
	}
}

// Every place of the odd one, smaller or larger than the others; starts at any time; without FIFO.
func TestEverySchedule(t *testing.T) {
	for n := 2; n <= 5; n++ {
		for position := range n {
			for _, odd := range []uint64{3, 7} {
				report, err := verify.Run(oddoneout.Algorithm, verify.Options{
					Setup: network.On(ring(n, position, odd, 5)...), Starts: verify.AnyTime, Unordered: true,
				})
				if err != nil {
					t.Fatal(err)
				}
				if report.Violation != nil || !report.Complete {
					t.Fatalf("%d of %d is odd: %+v", position, n, report)
				}
			}
		}
	}
}

// Without the third exchange two processes could not tell whether they are the odd one's successor on a larger ring.
func TestWithoutTheThirdExchangeTheSuccessorOfTheOddOneLeadsToo(t *testing.T) {
	hasty := oddoneout.Algorithm
	hasty.New = func(l election.Local) oddoneout.Process { return oddoneout.Process{ID: l.ID, Third: true} }
	report, err := verify.Run(hasty, verify.Options{Setup: network.On(5, 5, 3)})
	if err != nil {
		t.Fatal(err)
	}
	if report.Violation == nil || report.Violation.Property != verify.TwoLeaders {
		t.Errorf("found %+v, want two leaders", report.Violation)
	}
}

func TestRingsWithoutThePromiseAreRefusedWithWhatWouldDo(t *testing.T) {
	const alone = "cannot run odd-one-out: a single process cannot know that it is alone, since the size is unknown; at least 2 processes"
	const other = "cannot run odd-one-out: it needs one identifier that differs from all others, which are equal: 5,5,7,5"
	for _, c := range []struct {
		ids  []uint64
		says string
	}{
		{[]uint64{5}, alone},
		{[]uint64{5, 5}, other},
		{[]uint64{5, 5, 5}, other},
		{[]uint64{5, 7, 9}, other},
		{[]uint64{5, 7, 5, 7}, other},
		{[]uint64{5, 5, 7, 9}, other},
		{[]uint64{5, 7, 5, 7, 5, 7, 5, 5}, other},
	} {
		if _, err := simulate.Must(simulate.OfSmall(&oddoneout.Algorithm)).Run(simulate.Options{Setup: network.On(c.ids...)}); err == nil || err.Error() != c.says {
			t.Errorf("%v: %v", c.ids, err)
		}
	}
	for _, ids := range [][]uint64{{5, 5, 5, 7}, {7, 5, 5, 5}, {5, 7, 5, 5}, {5, 7}, {1<<64 - 1, 0, 0}} {
		electiontest.Elect(t, oddoneout.Algorithm, simulate.Options{Setup: network.On(ids...)})
	}
}

// If equal identifiers were allowed, all processes would do the same, and none would lead.
func TestAmongEqualsThereIsNoLeader(t *testing.T) {
	for n := 1; n <= 8; n++ {
		i := network.Setup{IDs: election.List(slices.Repeat([]uint64{5}, n)), Duplicates: true}
		r := electiontest.Run(t, oddoneout.Algorithm, simulate.Options{Setup: i})
		if len(r.Leaders) != 0 || r.Decided != 0 || r.Messages.Total != uint64(2*n) {
			t.Errorf("n=%d: %v lead, %d decided, %+v", n, r.Leaders, r.Decided, r.Messages)
		}
	}
}
