package proofs_test

import (
	"testing"

	"ringleader.example/ringleader/internal/cli/plan"
	"ringleader.example/ringleader/internal/study/logic"
	"ringleader.example/ringleader/internal/study/models"
)

// pictured are the facts of the smallest counterexample to induction without an invariant, on a ring of three; 0: there is none.
var pictured = map[string]map[string]int{
	"lcr":                 {"passed": 1, "home": 1, "announced": 1, "leaders": 2},
	"hirschberg-sinclair": {"right-passed": 1, "left-passed": 1, "home": 1, "leaders": 2},
	"ring-bully": {
		"right-passed": 1, "left-passed": 1, "home": 1, "leaders": 2, "end-after-win": 1,
		"follower-after-win": 0, "one-decision": 0, // safety does not follow without them: that is no step
	},
	"lelann": {
		"passed": 0, "around": 0, // the proof does not need them
		"passes-on": 5, "own-first": 3, "order": 0, "leaders": 0,
	},
	"franklin": {
		"rounds-passed": 4, "right-sent": 5, "left-sent": 5, "right-passed": 4, "left-passed": 4, "right-home": 4, "left-home": 4,
		"largest-active": 5, "leader-alone": 6, "leaders": 0,
	},
	"dolev-klawe-rodeh": {
		"status": 1, "first-active": 2, "first-passed": 3, "first-home": 2, "second-has": 5, "second-passed": 8, "second-home": 7, "left-neighbour": 6,
		"left-between": 8, "moved-over": 0, "moved-from": 0, "values-differ": 0, "survived": 0, "holder-holds": 0, "held-last": 6, "losers-lack": 0,
		"nearer-other": 0, "announced-largest": 1, "leaders": 2,
	},
	"peterson": {
		"status": 1, "first-active": 2, "first-passed": 3, "first-home": 2, "second-has": 4, "second-passed": 8, "second-home": 3, "left-neighbour": 5,
		"left-between": 5, "moved-over": 0, "moved-from": 0, "values-differ": 0, "survived": 0, "holder-holds": 0, "held-last": 6, "losers-lack": 0, "leaders": 0,
	},
}

// Without an invariant there is a smallest counterexample to induction of so many facts. Without -long only those with few facts are searched.
func TestInvariantsHavePictures(t *testing.T) {
	most := 4
	if *long {
		most = plan.MostFacts
	}
	for _, name := range models.Names() {
		m := load(t, name)
		if !models.IsRing(m) {
			continue
		}
		if len(pictured[name]) != len(m.Invariants) {
			t.Errorf("%s has %d invariants, not %d", name, len(m.Invariants), len(pictured[name]))
		}
		for _, f := range m.Invariants {
			if pictured[name][f.Name] > most || pictured[name][f.Name] == 0 && !*long {
				continue
			}
			less, err := m.Without([]string{f.Name}, nil)
			if err != nil {
				t.Fatal(err)
			}
			found, err := models.Counterexample(less, 3, plan.MostFacts, 4_000_000)
			facts := 0
			if found != nil {
				facts = len(found.Facts)
			}
			if err != nil || facts != pictured[name][f.Name] {
				t.Errorf("%s without %s: %d facts, %v", name, f.Name, facts, err)
			}
			if found != nil {
				excluding, err := models.Excluding(m, found)
				if err != nil || logic.Names(excluding) != f.Name {
					t.Errorf("%s without %s: %s exclude the state, %v", name, f.Name, logic.Names(excluding), err)
				}
			}
		}
	}
}

// Each invariant of LCR is for something: without it there is a small state from which a step breaks what is left.
func TestWithoutAnInvariantThereIsACounterexampleToInduction(t *testing.T) {
	for _, c := range []struct {
		model, drop    string
		facts          int
		action, broken string
	}{
		{"lcr", "passed", 1, "pass", "home"},
		{"lcr", "home", 1, "return", "announced"},
		{"lcr", "announced", 1, "lead", "leaders"},
		{"lcr", "leaders", 2, "lead", "one-leader"},
		{"hirschberg-sinclair", "left-passed", 1, "pass-left", "home"},
	} {
		m, err := load(t, c.model).Without([]string{c.drop}, nil)
		if err != nil {
			t.Fatal(err)
		}
		found, err := models.Counterexample(m, 3, 3, 100_000)
		if err != nil || found == nil {
			t.Errorf("%s without %s: %v, %v", c.model, c.drop, found, err)
			continue
		}
		if len(found.Facts) != c.facts || found.Action.Name != c.action || logic.Names(found.Broken) != c.broken {
			t.Errorf("%s without %s: %d facts, %s breaks %s", c.model, c.drop, len(found.Facts), found.Action.Name, logic.Names(found.Broken))
		}
	}
	for _, name := range []string{"lcr", "hirschberg-sinclair", "ring-bully"} {
		if found, err := models.Counterexample(load(t, name), 3, 2, 1_000_000); found != nil || err != nil {
			t.Errorf("%s: %v, %v", name, found, err)
		}
	}
}
