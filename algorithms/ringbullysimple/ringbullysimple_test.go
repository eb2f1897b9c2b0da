package ringbullysimple_test

import (
	"testing"

	simple "ringleader.example/ringleader/algorithms/ringbullysimple"
	"ringleader.example/ringleader/election"
	"ringleader.example/ringleader/election/electiontest"
	"ringleader.example/ringleader/faults"
	"ringleader.example/ringleader/network"
	"ringleader.example/ringleader/simulate"
	"ringleader.example/ringleader/verify"
)

func TestConformance(t *testing.T) {
	electiontest.Conform(t, simple.Algorithm, electiontest.Options{Verify: 4})
}

func TestVectorsUnderEverySchedule(t *testing.T) {
	for _, v := range []struct {
		ids         []uint64
		identifiers uint64
	}{
		{[]uint64{1}, 1},
		{[]uint64{2, 1}, 3},
		{[]uint64{3, 2, 1}, 6},
		{[]uint64{1, 2, 3}, 5},
		{[]uint64{4, 3, 2, 1}, 10},
		{[]uint64{5, 4, 3, 2, 1}, 15},
		{[]uint64{3, 1, 4, 2, 5}, 11},
		{[]uint64{8, 7, 6, 5, 4, 3, 2, 1}, 36},
		{[]uint64{1, 2, 3, 4, 5, 6, 7, 8}, 15},
		{[]uint64{1, 5, 3, 7, 2, 6, 4, 8}, 20},
	} {
		electiontest.Counts(t, simple.Algorithm, 5, network.On(v.ids...), v.identifiers, uint64(len(v.ids)))
	}
}

func TestExtremesAndMeanOverAllOrders(t *testing.T) {
	for n := uint64(1); n <= 8; n++ { // 2n-1 to n(n+1)/2, on average n·H(n)
		sum, orders := uint64(0), uint64(0)
		least, most := electiontest.Extremes(t, simple.Algorithm, int(n), func(_ []uint64, r *simulate.Result) {
			sum += r.Messages.Election
			orders++
		})
		if least != simple.Algorithm.Bound(election.Best).Value(n) || most != simple.Algorithm.Bound(election.Worst).Value(n) {
			t.Errorf("n=%d: %d to %d identifiers, want %d to %d", n, least, most, 2*n-1, n*(n+1)/2)
		}
		mean := simple.Algorithm.Bound(election.Average).Mean(n)
		if difference := float64(sum)/float64(orders) - mean; difference > 1e-9 || difference < -1e-9 {
			t.Errorf("n=%d: %d messages over %d orders, want %g on average", n, sum, orders, mean)
		}
	}
}

func TestSynchronousTimes(t *testing.T) {
	for n := uint64(1); n <= 16; n++ { // times n, 2n-1, 2n
		ids := make([]uint64, n)
		for p := range ids {
			ids[p] = uint64(p*7+3) % 101
		}
		r := electiontest.Elect(t, simple.Algorithm, simulate.Options{Setup: network.On(ids...), Timing: election.Synchronous})
		got := [3]uint64{r.Time.Elected.Lo, r.Time.Decided.Lo, r.Time.Quiet.Lo}
		if want := [3]uint64{n, max(n, 2*n-1), 2 * n}; got != want {
			t.Errorf("n=%d: %v, want %v", n, got, want)
		}
	}
}

func TestNoHarmFromMessagesThatOvertake(t *testing.T) {
	for seed := range uint64(10_000) {
		n := 2 + int(seed%8)
		setup := electiontest.Setup(&simple.Algorithm.Declaration, n, seed)
		o := simulate.Options{Setup: setup, Seed: seed, Schedule: simulate.Random, Faults: faults.Script{Unordered: true}, AnyTime: true}
		if r := electiontest.Run(t, simple.Algorithm, o); !r.Right {
			t.Fatalf("n=%d, seed %d: leaders %v, %d decided", n, seed, r.Leaders, r.Decided)
		}
	}
}

func TestDuplicatesOfTheLargestElectSeveral(t *testing.T) {
	i := network.On(5, 3, 5, 1)
	i.Duplicates = true
	if r := electiontest.Run(t, simple.Algorithm, simulate.Options{Setup: i}); len(r.Leaders) != 2 {
		t.Errorf("leaders at %v, want two", r.Leaders)
	}
}

// tired gives up its own identifier when it has passed on a greater one before it started. It elects the right
// leader, but it is LCR, and its cost depends on which processes are late.
type tired struct {
	simple.Process
	GaveUp bool
}

func TestGivingUpMakesCountsDependOnTheSchedule(t *testing.T) {
	mutant := election.Algorithm[tired, simple.Message]{
		Declaration: simple.Algorithm.Declaration,
		New:         func(l election.Local) tired { return tired{Process: simple.New(l)} },
		Start: func(p *tired, out *election.Out[simple.Message]) {
			if !p.GaveUp {
				p.Process.Start(out)
			}
		},
		Receive: func(p *tired, port election.Port, kind election.Kind, m simple.Message, out *election.Out[simple.Message]) {
			p.GaveUp = p.GaveUp || m.ID > p.ID
			p.Process.Receive(port, kind, m, out)
		},
	}
	least := uint64(15)
	for o := range electiontest.Schedules(&mutant.Declaration, 20) {
		o.Setup = network.On(5, 4, 3, 2, 1)
		r := electiontest.Elect(t, mutant, o)
		least = min(least, r.Messages.Election)
	}
	if least >= 15 {
		t.Error("no schedule makes a process give up, so the test of the vectors would not notice")
	}
}

func TestTerminatingForEverIsFound(t *testing.T) {
	mutant := simple.Algorithm
	mutant.Receive = func(p *simple.Process, port election.Port, kind election.Kind, m simple.Message, out *election.Out[simple.Message]) {
		if kind == simple.Terminate && p.Decided {
			out.Send(simple.CW, simple.Terminate, m)
			return
		}
		p.Receive(port, kind, m, out)
	}
	electiontest.Found(t, mutant.Name, mutant, verify.Options{Size: 2}, verify.NeverEnds)
}

func TestPassingOnSmallerIdentifiersIsFound(t *testing.T) {
	mutant := simple.Algorithm
	mutant.Receive = func(p *simple.Process, port election.Port, kind election.Kind, m simple.Message, out *election.Out[simple.Message]) {
		if kind == simple.Identifier && m.ID < p.ID {
			out.Send(simple.CW, simple.Identifier, m)
			return
		}
		p.Receive(port, kind, m, out)
	}
	electiontest.Found(t, mutant.Name, mutant, verify.Options{Size: 2}, verify.WrongLeader)
}
