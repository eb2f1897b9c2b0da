package lelann_test

import (
	"slices"
	"testing"

	"ringleader.example/ringleader/algorithms/lelann"
	"ringleader.example/ringleader/election"
	"ringleader.example/ringleader/election/electiontest"
	"ringleader.example/ringleader/network"
	"ringleader.example/ringleader/simulate"
	"ringleader.example/ringleader/verify"
)

type (
	algorithm = election.Algorithm[lelann.Process, lelann.Message]
	out       = election.Out[lelann.Message]
)

var (
	join = map[string]string{"late": "join"}
	lost = map[string]string{"late": "lost"}
	both = []map[string]string{join, lost}
)

func run(t *testing.T, a algorithm, o simulate.Options, late map[string]string) *simulate.Result {
	t.Helper()
	o.Setup.Parameters = late
	return electiontest.Run(t, a, o)
}

// declared returns the declaration with a parameter.
func declared(t *testing.T, late map[string]string) *election.Declaration {
	t.Helper()
	set, err := lelann.Algorithm.Set(late)
	if err != nil {
		t.Fatal(err)
	}
	return lelann.Algorithm.With(set)
}

func TestConformance(t *testing.T) {
	electiontest.Conform(t, lelann.Algorithm, electiontest.Options{Verify: 4, Parameters: both})
}

func TestVectorsUnderEverySchedule(t *testing.T) {
	for _, ids := range [][]uint64{
		{1},
		{2, 1},
		{3, 2, 1},
		{1, 2, 3},
		{4, 3, 2, 1},
		{5, 4, 3, 2, 1},
		{3, 1, 4, 2, 5},
		{8, 7, 6, 5, 4, 3, 2, 1},
		{1, 2, 3, 4, 5, 6, 7, 8},
		{1, 5, 3, 7, 2, 6, 4, 8},
	} {
		n := uint64(len(ids))
		for _, late := range both {
			want := []uint64{n * n, 0}
			if late["late"] == "lost" {
				want[1] = n
			}
			for o := range electiontest.Schedules(declared(t, late), 5) {
				o.Setup = network.On(ids...)
				r := run(t, lelann.Algorithm, o, late)
				leader, _ := r.Leader()
				if !slices.Equal(r.Messages.ByKind, want) || !r.Right || ids[leader] != n {
					t.Errorf("%v %v, %s %s: %v, leaders %v, want %v", ids, late, o.Timing, o.Schedule, r.Messages.ByKind, r.Leaders, want)
				}
			}
		}
	}
}

// k initiators cost k·n, and n more for the announcement to lost processes.
func TestTheLargestOfKInitiatorsWinsAfterKTimesNMessagesIfTheLateAreLost(t *testing.T) {
	const n = 6
	ids := []uint64{2, 5, 1, 6, 3, 4}
	for set := 1; set < 1<<n; set++ {
		var starters []int
		largest := 0
		for p := range n {
			if set>>p&1 == 1 {
				starters = append(starters, p)
				if len(starters) == 1 || ids[p] > ids[largest] {
					largest = p
				}
			}
		}
		k := uint64(len(starters))
		for o := range electiontest.Schedules(declared(t, lost), 2) {
			o.Setup, o.Initiators = network.On(ids...), starters
			r := run(t, lelann.Algorithm, o, lost)
			if leader, _ := r.Leader(); !r.Agreed || leader != largest || !slices.Equal(r.Messages.ByKind, []uint64{k * n, n}) {
				t.Errorf("%v start, %s %s: leaders %v, %v", starters, o.Timing, o.Schedule, r.Leaders, r.Messages.ByKind)
			}
		}
	}
}

// The largest initiator wins, for every set of initiators that the schedule makes.
func TestTheLargestThatStartsInTimeWins(t *testing.T) {
	fewest := uint64(99)
	for seed := range uint64(2000) {
		started := election.ID(0)
		watched := lelann.Algorithm
		watched.Start = func(p *lelann.Process, out *out) {
			p.Start(out)
			if p.Initiator {
				started = max(started, p.ID)
			}
		}
		o := simulate.Options{Setup: network.On(5, 4, 3, 2, 1), Schedule: simulate.Random, AnyTime: true, Seed: seed}
		r := run(t, watched, o, lost)
		leader, _ := r.Leader()
		if !r.Agreed || r.Prepared.ID(leader) != started || r.Messages.Election%5 != 0 {
			t.Fatalf("seed %d: leaders %v, %v; want %d to lead", seed, r.Leaders, r.Messages.ByKind, started)
		}
		fewest = min(fewest, r.Messages.Election)
	}
	if fewest == 25 {
		t.Error("no process was ever late")
	}
}

func TestSynchronousTimes(t *testing.T) {
	for n := uint64(1); n <= 16; n++ {
		ids := make([]uint64, n)
		for p := range ids {
			ids[p] = uint64(p*7+3) % 101
		}
		for _, late := range both {
			want := [3]uint64{n, n, n} // k = 1: one identifier, n hops, and the announcement
			if late["late"] == "lost" {
				want[2] = 2 * n // the announcement goes round, though all know
			}
			r := run(t, lelann.Algorithm, simulate.Options{Setup: network.On(ids...), Timing: election.Synchronous}, late)
			if got := [3]uint64{r.Time.Elected.Lo, r.Time.Decided.Lo, r.Time.Quiet.Lo}; got != want {
				t.Errorf("n=%d %v: %v, want %v", n, late, got, want)
			}
		}
	}
}

func TestMessagesThatOvertakeDoHarm(t *testing.T) {
	for _, late := range both {
		of := electiontest.OfSizes(&lelann.Algorithm.Declaration, 2, 9)
		electiontest.Overtaken(t, lelann.Algorithm, 4000, func(seed uint64) network.Setup {
			setup := of(seed)
			setup.Parameters = late
			return setup
		})
		report, err := verify.Run(lelann.Algorithm, verify.Options{Size: 3, Unordered: true, Setup: network.Setup{Parameters: late}})
		if err != nil {
			t.Fatal(err)
		}
		if report.Violation == nil {
			t.Errorf("%v: the checker finds no schedule that goes wrong", late)
		}
	}
}

// Passing on while asleep and starting later is wrong even with FIFO links: a process decides before it has seen all.
func TestStartingLateIsFound(t *testing.T) {
	mutant := lelann.Algorithm
	mutant.Receive = func(p *lelann.Process, port election.Port, kind election.Kind, m lelann.Message, out *out) {
		if !p.Initiator && kind == lelann.Identifier {
			p.Largest = max(p.Largest, m.ID)
			out.Send(lelann.Right, lelann.Identifier, m)
			return
		}
		p.Receive(port, kind, m, out)
	}
	mutant.Starts = election.AllStart
	for size, violated := range map[int]bool{1: false, 2: true} {
		report, err := verify.Run(mutant, verify.Options{Size: size, Starts: verify.AnyTime})
		if err != nil {
			t.Fatal(err)
		}
		if (report.Violation != nil) != violated {
			t.Errorf("of %d: found %+v", size, report.Violation)
		}
	}
	wrong := 0
	for seed := range uint64(4000) {
		setup := electiontest.Setup(&mutant.Declaration, 2+int(seed%8), seed)
		r := run(t, mutant, simulate.Options{Setup: setup, Schedule: simulate.Random, Seed: seed, AnyTime: true}, join)
		if !r.Right {
			wrong++
		}
	}
	t.Logf("%d of 4000 runs go wrong", wrong)
	if wrong == 0 {
		t.Error("no run goes wrong")
	}
}

// A lost process must stay lost, or its identifier would miss those that have passed.
func TestStartingAfterBeingLostIsFound(t *testing.T) {
	mutant := lelann.Algorithm
	mutant.Start = func(p *lelann.Process, out *out) {
		p.Lost = false
		p.Start(out)
	}
	o := verify.Options{Size: 3, Starts: verify.AnyTime}
	o.Setup.Parameters = lost
	report, err := verify.Run(mutant, o)
	if err != nil {
		t.Fatal(err)
	}
	if report.Violation == nil {
		t.Error("found nothing")
	}
}
