package proofs_test

import (
	"testing"

	"ringleader.example/ringleader/internal/study/logic"
	"ringleader.example/ringleader/internal/study/models"
)

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
