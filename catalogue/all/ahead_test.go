package all_test

import (
	"slices"
	"testing"

	"ringleader.example/ringleader/catalogue"
	"ringleader.example/ringleader/catalogue/all"
	"ringleader.example/ringleader/election"
	"ringleader.example/ringleader/internal/core/process"
	"ringleader.example/ringleader/internal/core/random"
	"ringleader.example/ringleader/network"
	"ringleader.example/ringleader/simulate"
	"ringleader.example/ringleader/verify"
)

// strolls makes random walks of an algorithm, with and without faults, and looks at each walk from where it has come to.
func strolls(t *testing.T, e *catalogue.Entry, i network.Setup, count uint64, look func(s *simulate.Session, o verify.Options)) {
	t.Helper()
	o := verify.Options{Setup: i, SafetyOnly: e.Leased, MaxStates: 50}
	if e.Starts != election.Together {
		o.Starts = verify.AnyTime
	}
	for seed := range count {
		s, err := e.Session(simulate.Options{Setup: i, AnyTime: o.Starts == verify.AnyTime, Seed: seed})
		if err != nil && i.IDs.Len() == 1 {
			return // not every algorithm takes a process alone
		}
		if err != nil {
			t.Fatal(err)
		}
		source := random.New(seed, random.Schedule)
		for range source.Below(40) {
			all := s.Choices()
			if seed%2 == 1 && (len(all) == 0 || source.Below(4) == 0) {
				all = slices.DeleteFunc(s.Faults(), func(c simulate.Choice) bool { return !makes(e, c) })
			}
			if len(all) == 0 {
				break
			}
			if err := s.Step(all[source.Below(uint64(len(all)))]); err != nil {
				t.Fatalf("%s, seed %d: %v", e.Name, seed, err)
			}
		}
		look(s, o)
	}
}

// makes reports whether the checker makes such a fault at the moments at which a session does.
func makes(e *catalogue.Entry, c simulate.Choice) bool {
	switch c.What {
	case simulate.Revive:
		return process.Opened(e.Program).Functions.Recover
	case simulate.Ask:
		return c.Command.Order == election.Died
	}
	return c.What != simulate.Distrust && c.What != simulate.Trust
}

func TestTheCheckerLooksAheadFromEveryWalk(t *testing.T) {
	looked, walks := 0, uint64(4)
	if *longer {
		walks = 30
	}
	for _, e := range all.Algorithms {
		for _, i := range small(e) {
			strolls(t, e, i, walks, func(s *simulate.Session, o verify.Options) {
				for _, goal := range []verify.Goal{verify.Unsafe, verify.Costliest} {
					a, err := verify.LookAhead(e.Program, o, verify.Begun{Record: s.Record(), Now: s.Now()}, goal)
					if err != nil {
						t.Errorf("%s on %v after %+v: %v", e.Name, i.IDs, s.Made(), err)
						continue
					}
					if !a.Found {
						continue
					}
					before := len(s.Made())
					if err := s.Follow(&a.Record); err != nil {
						t.Errorf("%s on %v: %v", e.Name, i.IDs, err)
					}
					for len(s.Made()) > before {
						s.Back()
					}
					looked++
				}
			})
		}
	}
	if looked == 0 {
		t.Error("nothing was found")
	}
}
