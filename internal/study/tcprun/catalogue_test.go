package tcprun_test

import (
	"fmt"
	"reflect"
	"slices"
	"testing"
	"time"

	"ringleader.example/ringleader/catalogue"
	"ringleader.example/ringleader/catalogue/all"
	"ringleader.example/ringleader/election"
	"ringleader.example/ringleader/election/electiontest"
	"ringleader.example/ringleader/faults"
	"ringleader.example/ringleader/internal/study/tcprun"
	"ringleader.example/ringleader/network"
	"ringleader.example/ringleader/outcome"
	"ringleader.example/ringleader/simulate"
)

// quick is a unit for tests: short, because runs with a message that is too slow are repeated with a longer one.
const quick = 5 * time.Millisecond

// over runs an algorithm over connections so that its assumption about time is kept.
func over(t *testing.T, e *catalogue.Entry, o tcprun.Options) *tcprun.Result {
	t.Helper()
	if e.Timing == election.Timed {
		o.Unit, o.Patient = quick, true
	}
	r, err := tcprun.Run(t.Context(), e.Program, o)
	if err != nil {
		t.Fatal(err)
	}
	if !r.Complete || r.Longest > r.Assumed {
		t.Fatalf("not complete, or a message was late: %+v", r)
	}
	if r.Unit > quick {
		t.Logf("%s: the slowest message took %s", e.Name, r.Longest)
	}
	return r
}

func TestCountsAreThoseOfASimulationWhereTheyDoNotDependOnTheSchedule(t *testing.T) {
	const rounds = 600 // of a process
	seeds := uint64(3)
	if testing.Short() {
		seeds = 1
	}
	for _, e := range all.Algorithms {
		if e.Counts == election.CountsVary {
			continue
		}
		t.Run(e.Name, func(t *testing.T) {
			for _, n := range []int{1, 2, 3, 5, 8, 24} {
				for seed := range seeds {
					i := electiontest.Setup(e.Declaration, n, seed)
					simulated, err := e.Simulate(simulate.Options{Setup: i, Seed: seed})
					if err != nil {
						t.Fatal(err)
					}
					// Over connections idle rounds take their time, too: elections by silence are compared on small rings.
					if e.Timing == election.Synchronous && election.Units(rounds/uint64(n)).Less(simulated.Time.Quiet) {
						continue
					}
					r := over(t, e, tcprun.Options{Setup: i, Seed: seed})
					if !reflect.DeepEqual(r.Messages, simulated.Messages) || !reflect.DeepEqual(r.ByPhase, simulated.ByPhase) ||
						!slices.Equal(r.Decisions, simulated.Decisions) || !reflect.DeepEqual(r.Verdict, simulated.Verdict) {
						t.Fatalf("n = %d, seed %d: over connections %+v, simulated %+v", n, seed, r, simulated)
					}
					if r.Rounds != nil && outcome.Times(*r.Rounds) != *simulated.Time {
						t.Fatalf("n = %d, seed %d: rounds %+v over connections, %+v simulated", n, seed, r.Rounds, simulated.Time)
					}
				}
			}
		})
	}
}

func TestOneStarterIsEnoughAndCountsAreThoseOfASimulation(t *testing.T) {
	for _, e := range all.Algorithms {
		if e.Counts < election.CountsStartFirst || e.Starts != election.AnyStart {
			continue
		}
		for n := range 6 {
			i := electiontest.Setup(e.Declaration, n+1, 7)
			simulated, err := e.Simulate(simulate.Options{Setup: i, Initiators: []int{n}})
			if err != nil {
				t.Fatal(err)
			}
			r := over(t, e, tcprun.Options{Setup: i, Initiators: []int{n}})
			if !reflect.DeepEqual(r.Messages, simulated.Messages) || !reflect.DeepEqual(r.Verdict, simulated.Verdict) || r.Starters != 1 {
				t.Errorf("%s, n = %d: %+v over connections, %+v simulated", e.Name, n+1, r, simulated)
			}
		}
	}
}

func TestTheLeaderIsRightAndBoundsHoldWhateverTheSchedule(t *testing.T) {
	for _, e := range all.Algorithms {
		if e.Counts != election.CountsVary {
			continue
		}
		if e.Leased {
			if _, err := tcprun.Run(t.Context(), e.Program, tcprun.Options{Setup: network.On(1, 2, 3)}); err == nil {
				t.Errorf("%s runs, though its elections never end", e.Name)
			}
			continue
		}
		t.Run(e.Name, func(t *testing.T) {
			t.Parallel() // most wait for timers
			for _, n := range []int{1, 2, 3, 7} {
				for _, anyTime := range []bool{false, e.Starts != election.Together} {
					i := electiontest.Setup(e.Declaration, n, uint64(n))
					r := over(t, e, tcprun.Options{Setup: i, Seed: uint64(n), AnyTime: anyTime})
					if !r.Right || len(r.Faults) > 0 {
						t.Errorf("n = %d: %+v", n, r)
					}
					for _, b := range r.Prepared.Declaration().Bounds {
						if b.Case == election.Worst && b.Of != "time" && !b.OneStart && r.Messages.Of(b.Of) > b.Value(uint64(n)) {
							t.Errorf("n = %d: %+v exceeds %s", n, r.Messages, b.Formula)
						}
					}
				}
			}
		})
	}
}

// A one-directional ring leaves the schedule no choice, so even random choices are the same each time.
func TestOneSeedIsOneRunOnAOneDirectionalRing(t *testing.T) {
	e, err := all.Algorithms.Find("itai-rodeh")
	if err != nil {
		t.Fatal(err)
	}
	different := map[string]bool{}
	for seed := range uint64(8) {
		o := tcprun.Options{Setup: network.Setup{IDs: make(election.List, 5)}, Seed: seed}
		first, again := over(t, e, o), over(t, e, o)
		if !reflect.DeepEqual(first.Messages, again.Messages) || !slices.Equal(first.Decisions, again.Decisions) {
			t.Errorf("seed %d: %+v, and then %+v", seed, first, again)
		}
		different[fmt.Sprint(first.Messages, first.Decisions)] = true
	}
	if len(different) == 1 {
		t.Error("eight seeds are one run")
	}
}

func TestMessagesToCrashedProcessesAreCountedAndLost(t *testing.T) {
	e, err := all.Algorithms.Find("bully")
	if err != nil {
		t.Fatal(err)
	}
	o := tcprun.Options{Setup: network.On(1, 2, 3, 4, 5, 6, 7), Dead: []int{6}, Initiators: []int{3}}
	simulated, err := e.Simulate(simulate.Options{Setup: o.Setup, Initiators: o.Initiators, Faults: faults.Script{Dead: o.Dead}})
	if err != nil {
		t.Fatal(err)
	}
	r := over(t, e, o)
	if !reflect.DeepEqual(r.Messages, simulated.Messages) || r.Lost != 4 || !reflect.DeepEqual(r.Verdict, simulated.Verdict) {
		t.Errorf("%+v over connections, %+v simulated", r, simulated)
	}

	ring, err := all.Algorithms.Find("lcr") // which is not crash-tolerant, and does not hang
	if err != nil {
		t.Fatal(err)
	}
	o = tcprun.Options{Setup: network.On(3, 2, 1), Dead: []int{1}}
	if r := over(t, ring, o); r.Agreed || r.Live != 2 || r.Lost != 1 || r.Messages.Total != 2 {
		t.Errorf("a ring with a dead process: %+v", r)
	}
}
