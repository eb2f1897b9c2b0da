package lcr_test

import (
	"slices"
	"testing"

	"ringleader.example/ringleader/algorithms/lcr"
	"ringleader.example/ringleader/election"
	"ringleader.example/ringleader/election/electiontest"
	"ringleader.example/ringleader/network"
	"ringleader.example/ringleader/simulate"
	"ringleader.example/ringleader/verify"
)

func TestConformance(t *testing.T) {
	electiontest.Conform(t, lcr.Algorithm, electiontest.Options{Verify: 4, Parameters: electiontest.Settings(&lcr.Algorithm.Declaration)})
}

func TestExample21HasStagesOfFiveToOneMessages(t *testing.T) {
	// S2 figures 2.2-2.6: 5, 4, 3, 2, 1 messages in stages 1 to 5, then 5 announcements.
	r := electiontest.Elect(t, lcr.Algorithm, simulate.Options{Setup: network.On(5, 4, 3, 2, 1), Record: true})
	stages := make([]int, 11)
	for _, step := range r.Record.Steps {
		stages[step.Time.Lo] += len(step.Sent)
	}
	if want := []int{5, 4, 3, 2, 1, 1, 1, 1, 1, 1, 0}; !slices.Equal(stages, want) {
		t.Errorf("messages by stage %v, want %v", stages, want)
	}
}

func TestExtremesOverAllOrders(t *testing.T) {
	for n := 1; n <= 8; n++ { // from 2n-1 to n(n+1)/2, over all orders
		least, most := electiontest.Extremes(t, lcr.Algorithm, n, nil)
		if least != uint64(2*n-1) || most != uint64(n*(n+1)/2) {
			t.Errorf("n=%d: %d to %d election messages, want %d to %d", n, least, most, 2*n-1, n*(n+1)/2)
		}
	}
}

func TestWorstCaseOfKInitiatorsIsAttained(t *testing.T) {
	for n := 2; n <= 6; n++ {
		for k := 1; k < n; k++ {
			most := uint64(0)
			for ids := range electiontest.Rings(n) {
				for set := range 1 << n {
					var starters []int
					for p := range n {
						if set>>p&1 == 1 {
							starters = append(starters, p)
						}
					}
					if len(starters) != k {
						continue
					}
					r := electiontest.Elect(t, lcr.Algorithm, simulate.Options{Setup: network.On(ids...), Initiators: starters})
					most = max(most, r.Messages.Election)
				}
			}
			if want := uint64((k+1)*n - k*(k+1)/2); most != want {
				t.Errorf("n=%d, %d start: at most %d election messages, want %d", n, k, most, want)
			}
		}
	}
}

func TestStartAfterJoiningSendsNothing(t *testing.T) {
	var c election.Collector[lcr.Message]
	p := lcr.Process{ID: 2}
	p.Receive(1, lcr.Election, lcr.Message{ID: 1}, c.Out())
	p.Start(c.Out())
	if len(c.Sent()) != 1 {
		t.Errorf("%d messages, want its own identifier once", len(c.Sent()))
	}
}

func TestEveryScheduleOfFive(t *testing.T) {
	for _, starts := range []verify.Starts{verify.AllFirst, verify.AnyTime} {
		report, err := verify.Run(lcr.Algorithm, verify.Options{Size: 5, Starts: starts})
		if err != nil {
			t.Fatal(err)
		}
		if report.Violation != nil || !report.Complete {
			t.Errorf("%s: %+v", starts, report)
		}
	}
}

// Forwarding smaller identifiers as well is the classical slip: every identifier returns to its origin.
func TestForwardingSmallerIdentifiersIsFound(t *testing.T) {
	mutant := lcr.Algorithm
	mutant.Receive = func(p *lcr.Process, port election.Port, kind election.Kind, m lcr.Message, out *election.Out[lcr.Message]) {
		if kind == lcr.Election && m.ID < p.ID {
			out.Send(lcr.Right, lcr.Election, m)
			return
		}
		p.Receive(port, kind, m, out)
	}
	report, err := verify.Run(mutant, verify.Options{Size: 2})
	if err != nil {
		t.Fatal(err)
	}
	if report.Violation == nil || report.Violation.Property != verify.WrongLeader {
		t.Fatalf("found %+v, want a wrong leader", report.Violation)
	}
	// Both initiate; both identifiers go round, in two hops each; the leader message of 1 is the seventh step.
	if steps := len(report.Violation.Record.Steps); steps != 7 {
		t.Errorf("a story of %d steps; the shortest has 7", steps)
	}
}
