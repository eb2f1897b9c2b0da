package invitation_test

import (
	"fmt"
	"testing"

	"ringleader.example/ringleader/algorithms/invitation"
	"ringleader.example/ringleader/election"
	"ringleader.example/ringleader/election/electiontest"
	"ringleader.example/ringleader/faults"
	"ringleader.example/ringleader/internal/core/random"
	"ringleader.example/ringleader/network"
	"ringleader.example/ringleader/simulate"
)

// script returns a random fault script within the fault model of the algorithm, for 1 to 7 processes: crashes, some
// of them during a step, recoveries, partitions and links cut one way, all of which end.
func script(seed uint64, rule string) simulate.Options {
	source := random.New(seed, random.Choices)
	below := func(n int) int { return int(source.Below(uint64(n))) }
	n := 1 + below(7)
	var f faults.Script
	for p := range n {
		now := uint64(0)
		for range below(3) {
			now += 1 + source.Below(100)
			f.Crashes = append(f.Crashes, faults.Crash{Process: p, At: election.Units(now), Amid: below(3) == 0, Sends: below(n)})
			if p > 0 && below(4) == 0 {
				break // it stays down
			}
			now += 1 + source.Below(100)
			f.Recoveries = append(f.Recoveries, faults.Recovery{Process: p, At: election.Units(now)})
		}
	}
	if n > 1 {
		f.Random = faults.Budget{Partitions: below(3), Cuts: below(3), Until: election.Units(1 + source.Below(300))}
	}
	o := simulate.Options{Seed: seed, AnyTime: rule == "yes" && seed%2 == 0, Faults: f}
	o.Setup = network.Setup{IDs: members(n), Parameters: map[string]string{
		"rule-c": rule, "delay": fmt.Sprint(1 + seed%3), "stagger": fmt.Sprint(below(8)),
	}}
	return o
}

func TestAllMergeAfterTheLastFault(t *testing.T) {
	for seed := range uint64(4000) {
		r := electiontest.Run(t, invitation.Algorithm, script(seed, "yes"))
		if !r.Right {
			t.Fatalf("seed %d: coordinators at %v, %d of %d decided, faults %v\n%+v", seed, r.Leaders, r.Decided, r.Live, r.Faults, r.Script)
		}
	}
}

func TestWithoutRuleCSomeNeverMerge(t *testing.T) {
	apart := 0
	for seed := range uint64(2000) {
		r := electiontest.Run(t, invitation.Algorithm, script(seed, "no"))
		if len(r.Faults) > 0 {
			t.Fatalf("seed %d: %v", seed, r.Faults)
		}
		if !r.Agreed {
			apart++
		}
	}
	if apart == 0 {
		t.Error("all merged")
	}
	t.Logf("%d of 2000", apart)
}

// rough returns a fault script that adds faults beyond the fault model: messages late, lost, repeated or overtaken,
// paused processes, and clock drift.
func rough(seed uint64) simulate.Options {
	o := script(seed, "yes")
	source := random.New(seed, random.Network)
	n := o.Setup.IDs.Len()
	o.Faults.Random.Slow, o.Faults.Random.Pauses = int(source.Below(3)), int(source.Below(2))
	if o.Faults.Random.Until.IsZero() {
		o.Faults.Random.Until = election.Units(300)
	}
	o.Faults.Unordered = seed%3 > 0
	o.Faults.Lose, o.Faults.Duplicate = faults.Chance{Times: source.Below(3), Of: 10}, faults.Chance{Times: source.Below(5), Of: 10}
	o.Faults.Drifts = []faults.Drift{{Process: int(source.Below(uint64(n))), Times: 7 + source.Below(7), Of: 10}}
	return o
}

// broken returns the number of rough scripts in which a name is given twice, or followed without having been given.
func broken(t *testing.T, a election.Algorithm[process, message]) (runs int) {
	t.Helper()
	for seed := range uint64(2000) {
		r := electiontest.Run(t, a, rough(seed))
		if len(r.Faults) > 0 {
			runs++
		}
	}
	return runs
}

func TestNamesAreGivenOnceWhateverHappens(t *testing.T) {
	if runs := broken(t, invitation.Algorithm); runs > 0 {
		t.Errorf("not so in %d runs", runs)
	}
}

func TestReadyThatNamesNoGroupIsFound(t *testing.T) {
	mutant := invitation.Algorithm
	mutant.Receive = func(p *process, port election.Port, kind election.Kind, m message, out *effects) {
		if kind == invitation.Ready {
			m = p.Group
		}
		p.Receive(port, kind, m, out)
	}
	if broken(t, mutant) == 0 {
		t.Error("not found")
	}
}

func TestForgottenCounterIsFoundInSomeRuns(t *testing.T) {
	mutant := invitation.Algorithm
	mutant.Durable = nil
	if broken(t, mutant) == 0 {
		t.Error("not found")
	}
}
