package lab_test

import (
	"slices"
	"strings"
	"testing"

	"ringleader.example/ringleader/internal/study/models"
)

// named is something with a name.
type named struct{ Name string }

// labModel is the part of a model that tests read.
type labModel struct {
	Name, Theorem                       string
	Ring                                bool
	States, Actions, Invariants, Safety []named
	Proved                              []struct{ Obligations int }
}

// labFact is a fact of a counterexample.
type labFact struct {
	Text string
	At   int
}

// labInduction is the part of an answer about a counterexample that tests read.
type labInduction struct {
	Call, Detail      string
	Ring              []string
	State, Change     []labFact
	Step              *named
	Broken, Excluding []named
}

// The page has each model with its invariants, and what was proved of it.
func TestTheLabHasEveryModel(t *testing.T) {
	all := answered[[]labModel](t, "models", labObject{})
	if len(all) != len(models.Names()) {
		t.Fatalf("%d models of %d", len(all), len(models.Names()))
	}
	for _, m := range all {
		if m.Theorem == "" || len(m.Invariants) == 0 || len(m.Safety) == 0 || len(m.States) == 0 || len(m.Proved) != 2 || m.Proved[0].Obligations == 0 {
			t.Errorf("%+v", m)
		}
		if m.Ring != slices.Contains([]string{"dolev-klawe-rodeh", "franklin", "hirschberg-sinclair", "lcr", "lelann", "peterson", "ring-bully"}, m.Name) {
			t.Errorf("%s: ring %v", m.Name, m.Ring)
		}
	}
}

// The lab finds what the command of its answer prints, and which invariant excludes the state.
func TestTheLabFindsTheCounterexampleToInductionOfTheCommandLine(t *testing.T) {
	got := answered[labInduction](t, "induction", labObject{"model": "lcr", "without": []string{"passed"}, "n": 3})
	if strings.Join(got.Ring, " ") != "1 2 3" || len(got.State) != 1 || got.State[0].Text != "(sent 2 1)" || got.State[0].At != 0 ||
		len(got.Change) != 1 || got.Change[0].At != 1 || got.Step.Name != "pass   S = 2, N = 1" ||
		len(got.Broken) != 1 || got.Broken[0].Name != "home" || len(got.Excluding) != 1 || got.Excluding[0].Name != "passed" {
		t.Errorf("%+v", got)
	}
	printed := labPrinted(t, strings.Fields(got.Call)[1:]...)
	for _, text := range []string{"going right: 1, 2, 3, and 1 again", "state  (sent 2 1)", "step   pass   S = 2, N = 1", "broken home:"} {
		if !strings.Contains(printed, text) {
			t.Errorf("%s prints no %q:\n%s", got.Call, text, printed)
		}
	}
	for _, c := range []struct {
		model, without string
		n              int
		detail         string
	}{
		{"lcr", "passed", 2, "There is none on 2 processes with up to 8 facts. A larger ring may have one, or what is left out is for a lemma only, or for nothing."},
		{"franklin", "leaders", 3, "There is none on 3 processes with up to 6 facts, nor in the first 100000 states. No step is at fault: one-leader does not follow from the invariants that are left, which hold where (passive 1), (passive 3), (passive 2), (leads 1), (leads 3). The command searches further."},
	} {
		if got := answered[labInduction](t, "induction", labObject{"model": c.model, "without": []string{c.without}, "n": c.n}); got.Detail != c.detail || got.Ring != nil || got.Excluding != nil {
			t.Errorf("%s without %s: %+v", c.model, c.without, got)
		}
	}
}

func TestALabModelThatCannotBeSearchedIsOneLine(t *testing.T) {
	for _, c := range []struct {
		words labObject
		says  string
	}{
		{labObject{"model": "../lcr", "n": 3}, `there is no model "../lcr"`},
		{labObject{"model": "lcr", "n": 9}, "the lab searches rings of 1 to 4 processes, not 9"},
		{labObject{"model": "lcr", "n": 3, "without": []string{"no"}}, `lcr has no invariant "no"`},
		{labObject{"model": "tree", "n": 3}, "tree is not of a ring, so it is searched by solvers only: ringleader prove tree --drop INVARIANT"},
		{labObject{"model": "lcr", "n": 3, "x": 1}, "the question is not what the lab reads"},
	} {
		if _, err := inLab(t, "induction", c.words); err == nil || !strings.HasPrefix(err.Error(), c.says) {
			t.Errorf("%v: %v, want %q", c.words, err, c.says)
		}
	}
}
