package ringbully_test

import (
	"math"
	"testing"

	"ringleader.example/ringleader/algorithms/ringbully"
	"ringleader.example/ringleader/election"
	"ringleader.example/ringleader/election/electiontest"
	"ringleader.example/ringleader/network"
	"ringleader.example/ringleader/order"
	"ringleader.example/ringleader/simulate"
	"ringleader.example/ringleader/verify"
)

func TestConformance(t *testing.T) {
	electiontest.Conform(t, ringbully.Algorithm, electiontest.Options{})
}

func TestEntrantsOfEachPhaseKeepLemma139(t *testing.T) {
	for n := 1; n <= 200; n++ {
		ring, err := order.Random(n, uint64(n))
		if err != nil {
			t.Fatal(err)
		}
		var entrants [30]int
		counted := ringbully.Algorithm // an entrant sends two probes in one step: by Start, or on a reply
		counted.Start = func(p *ringbully.Process, out *election.Out[ringbully.Message]) {
			entrants[0]++
			p.Start(out)
		}
		counted.Receive = func(p *ringbully.Process, port election.Port, kind election.Kind, m ringbully.Message, out *election.Out[ringbully.Message]) {
			if kind == ringbully.Reply && m.ID == p.ID && p.Replied[1-port] {
				entrants[m.Phase+1]++
			}
			p.Receive(port, kind, m, out)
		}
		r := electiontest.Run(t, counted, simulate.Options{Setup: network.Setup{IDs: ring}})
		for phase, entered := range entrants {
			bound := n // phase 0: all
			if phase > 0 {
				bound = n / (1<<(phase-1) + 1)
			}
			if entered > bound {
				t.Errorf("n=%d: %d enter phase %d, at most %d can", n, entered, phase, bound)
			}
		}
		if last := len(r.ByPhase) - 1; last != int(election.CeilLog(uint64(n))) {
			t.Errorf("n=%d: the last phase is %d, want ⌈lg n⌉ = %d", n, last, election.CeilLog(uint64(n)))
		}
	}
}

func TestBitReversalOrderCosts3NLgNPlus3N(t *testing.T) {
	for k := 2; k <= 10; k++ { // exercise 13.3-2
		n := 1 << k
		ring, err := order.BitReversal(n)
		if err != nil {
			t.Fatal(err)
		}
		r := electiontest.Run(t, ringbully.Algorithm, simulate.Options{Setup: network.Setup{IDs: ring}})
		if want := uint64(3*n*k + 3*n); r.Messages.Total != want {
			t.Errorf("n=%d: %d messages, want %d", n, r.Messages.Total, want)
		}
	}
}

func TestMeanIsExact(t *testing.T) {
	// The declared mean includes the n terminate messages.
	mean := ringbully.Algorithm.Bound(election.Average).Mean
	for n, want := range map[uint64]float64{4: 33.333, 8: 88.0762, 16: 222.3982, 32: 541.1688, 64: 1279.2286, 100: 2309.7895, 1000: 32500.4377} {
		if got := mean(n) + float64(n); math.Abs(got-want) > 0.001 {
			t.Errorf("n=%d: %.4f, want %.4f", n, got, want)
		}
	}
}

func TestEveryScheduleOfFourWhateverTheStarts(t *testing.T) {
	for _, starts := range []verify.Starts{verify.AllFirst, verify.AnyTime} {
		report, err := verify.Run(ringbully.Algorithm, verify.Options{Size: 4, Starts: starts, Unordered: true})
		if err != nil {
			t.Fatal(err)
		}
		if report.Violation != nil || !report.Complete {
			t.Errorf("%s: %+v", starts, report)
		}
	}
}

// Both probes of the last phase return; the second must change nothing.
func TestLeadingTwiceIsFound(t *testing.T) {
	mutant := ringbully.Algorithm
	mutant.Receive = func(p *ringbully.Process, port election.Port, kind election.Kind, m ringbully.Message, out *election.Out[ringbully.Message]) {
		if kind == ringbully.Probe && m.ID == p.ID {
			out.Send(ringbully.CCW, ringbully.Terminate, ringbully.Message{})
			out.Lead(0)
			return
		}
		p.Receive(port, kind, m, out)
	}
	report, err := verify.Run(mutant, verify.Options{Size: 2})
	if err != nil {
		t.Fatal(err)
	}
	if report.Violation == nil || report.Violation.Property != verify.Irrevocable {
		t.Fatalf("found %+v, want a second decision", report.Violation)
	}
}
