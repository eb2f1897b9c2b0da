package verify

import (
	"strings"
	"testing"

	"ringleader.example/ringleader/election"
	"ringleader.example/ringleader/network"
)

// A cost equal to the bound keeps it, and one message more, or less, violates it.
func TestBoundsAreExact(t *testing.T) {
	if testing.Short() {
		t.Skip("it only computes")
	}
	bounded := func(by int64, of string, c election.Case) election.Algorithm[collector, list] {
		a := collecting(copied)
		a.Bounds = []election.Bound{{Of: of, Case: c, Formula: "n² and some", Value: func(n uint64) uint64 { return uint64(int64(n*n) + by) }}}
		return a
	}
	for _, of := range []string{"total", "election"} {
		for _, by := range []int64{-1, 0, 1} {
			worst, best := bounded(by, of, election.Worst), bounded(by, of, election.Best)
			if by >= 0 {
				holds(t, worst, Options{Size: 3})
			} else {
				v := fails(t, worst, Options{Size: 3}, BoundBroken, 9) // until the last is sent
				if want := "9 " + of + " messages; the bound, in the worst case, is n² and some = 8"; v.Detail != want {
					t.Errorf("%s; want %s", v.Detail, want)
				}
			}
			if by <= 0 {
				holds(t, best, Options{Size: 3})
			} else {
				v := fails(t, best, Options{Size: 3}, BoundBroken, 9)
				if want := "9 " + of + " messages; the bound, in the best case, is n² and some = 10"; v.Detail != want {
					t.Errorf("%s; want %s", v.Detail, want)
				}
			}
		}
	}
	// A cost of nothing is shown by a run without steps.
	fails(t, bounded(-8, "announcement", election.Best), Options{Size: 3}, BoundBroken, 0)
	holds(t, bounded(-9, "announcement", election.Worst), Options{Size: 3})
	// Means and times are not judged.
	mean := bounded(0, "election", election.Average)
	mean.Bounds[0].Value, mean.Bounds[0].Mean = nil, func(uint64) float64 { return 1 }
	holds(t, mean, Options{Size: 3})
	holds(t, bounded(-5, "time", election.Worst), Options{Size: 3})
}

func TestABoundOnWhatNeverEndsIsBroken(t *testing.T) {
	a := coins(2)
	a.Bounds = []election.Bound{{Of: "total", Case: election.Worst, Formula: "1000n", Value: func(n uint64) uint64 { return 1000 * n }}}
	v := fails(t, a, Options{Size: 2}, BoundBroken, 0)
	if !strings.HasPrefix(v.Detail, "total messages without end; the bound, in the worst case, is 1000n = 2000") {
		t.Error(v.Detail)
	}
	a.Bounds[0].Case = election.Best
	a.Bounds[0].Value = func(n uint64) uint64 { return n + 1 }
	if v := fails(t, a, Options{Size: 2}, BoundBroken, 2); v.Detail != "2 total messages; the bound, in the best case, is 1000n = 3" {
		t.Error(v.Detail)
	}
}

// Bounds apply to distinct identifiers, to one election, and if they declare so to a single initiator.
func TestBoundsSpeakOfOneElectionAmongDistinctIdentifiers(t *testing.T) {
	low := []election.Bound{{Of: "total", Case: election.Worst, Formula: "0", Value: func(uint64) uint64 { return 0 }}}
	service := collecting(copied)
	service.Bounds, service.Task = low, election.Service
	holds(t, service, Options{Size: 3})
	fails(t, service, Options{Size: 3, Initiators: []int{0}}, BoundBroken, 7)
	holds(t, service, Options{Size: 3, Initiators: []int{0, 1}})
	one := collecting(copied)
	one.Bounds = []election.Bound{low[0]}
	one.Bounds[0].OneStart = true
	holds(t, one, Options{Size: 3})
	fails(t, one, Options{Size: 3, Initiators: []int{2}}, BoundBroken, 7)
	holds(t, one, Options{Size: 3, Initiators: []int{1, 2}})
	twins := collecting(copied)
	twins.Bounds, twins.Winner, twins.AllowDuplicates = low, election.Unspecified, func(election.Arrangement) error { return nil }
	setup := network.On(1, 2, 3)
	fails(t, twins, Options{Setup: setup}, BoundBroken, 9)
	setup.Duplicates = true
	holds(t, twins, Options{Setup: setup})
}

// The extremes are over all sets of initiators, and each has its own set.
func TestExtremesAreOverAllBeginnings(t *testing.T) {
	talking := calling(election.Asynchronous, func(p *caller, out calls) {
		for range p.ID {
			out.Send(0, ring, call{})
		}
		for range max(p.ID, 3) - p.ID { // strangers have identifiers up to 4
			out.Send(0, knock, call{})
		}
	})
	talking.Kinds[knock].Class = election.Announcement
	talking.Decides = election.LeaderOnly
	for starts, want := range map[Starts][2]Messages{
		AllFirst: {{9, 6, 3}, {9, 6, 3}},
		EverySet: {{9, 6, 3}, {3, 1, 0}},
		AnyTime:  {{9, 6, 3}, {3, 1, 0}},
	} {
		report, err := Run(talking, Options{Size: 3, Starts: starts, SafetyOnly: true})
		if err != nil || *report.MaxMessages != want[0] || *report.MinMessages != want[1] {
			t.Errorf("%s: %v to %v messages, %v; want %v to %v", starts, report.MinMessages, report.MaxMessages, err, want[1], want[0])
		}
	}
}

// Of three sets of initiators, the first or the second costs the least, and the other one the most: a process that is
// woken answers.
func TestExtremesCanBeThoseOfAnyBeginning(t *testing.T) {
	a := calling(election.Asynchronous, func(p *caller, out calls) {
		p.Heard = 1
		least, most := 2, 3
		if p.ID == 2 {
			least, most = 0, 4
		}
		for range least + int(out.Choose(uint32(most-least+1))) {
			out.Send(0, ring, call{})
		}
	})
	a.Receive = func(p *caller, _ election.Port, kind election.Kind, _ call, out calls) {
		if p.Heard == 0 && p.ID == 2 {
			for range 10 {
				out.Send(0, knock, call{})
			}
		}
		p.Heard = 1
	}
	for _, setup := range []network.Setup{network.On(1, 2), network.On(2, 1)} {
		report, err := Run(a, Options{Setup: setup, Starts: EverySet, SafetyOnly: true})
		if err != nil || *report.MinMessages != (Messages{0, 0, 0}) || *report.MaxMessages != (Messages{13, 13, 0}) {
			t.Errorf("%v to %v messages, %v; want 0 to 13", report.MinMessages, report.MaxMessages, err)
		}
	}
}
