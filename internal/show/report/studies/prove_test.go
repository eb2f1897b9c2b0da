package studies_test

import (
	"slices"
	"strings"
	"testing"
	"time"

	"ringleader.example/ringleader/internal/show/report/studies"
	"ringleader.example/ringleader/internal/study/models"
	"ringleader.example/ringleader/internal/study/prove"
)

// The picture has the state and what the step changes at their processes, the step, what is broken, and what the facts mean.
func TestACounterexampleIsDrawnOnItsRing(t *testing.T) {
	m, err := models.Load("lcr")
	if err != nil {
		t.Fatal(err)
	}
	less, err := m.Without([]string{"passed"}, nil)
	if err != nil {
		t.Fatal(err)
	}
	found, err := models.Counterexample(less, 3, 2, 1000)
	if err != nil || found == nil {
		t.Fatal(found, err)
	}
	var texts []string
	for _, e := range (studies.Counterexample{Counterexample: found}).Drawing().Elements {
		texts = append(texts, e.Text)
	}
	for _, text := range []string{
		"(sent 2 1)", "+ (sent 2 2)", "Step: pass S = 2, N = 1. A greater identifier is passed on (L6).",
		"Broken: home. An identifier that has come home is the largest.",
		"sent: Election: the identifier of the first is, or was, in the inbox of the second;",
	} {
		if !slices.Contains(texts, text) {
			t.Errorf("the picture lacks %q; it has %q", text, texts)
		}
	}
}

// Each row names the ties of its model, and has 80 columns with both solvers.
func TestARowOfProofsNamesTheTies(t *testing.T) {
	var solvers []*prove.Solver
	for _, name := range prove.Solvers {
		solvers = append(solvers, &prove.Solver{Name: name, Version: "1.2.3"})
	}
	for _, name := range models.Names() {
		m, err := models.Load(name)
		if err != nil {
			t.Fatal(err)
		}
		proof := &studies.Proof{Plan: prove.Obligations(m)}
		for _, s := range solvers {
			answers := make([]prove.Answer, len(proof.Plan.Obligations))
			for i := range answers[1:] {
				answers[i+1].Verdict = prove.Proved
			}
			proof.Results = append(proof.Results, &prove.Result{Solver: s, Answers: answers, Used: 12 * time.Second})
		}
		var text strings.Builder
		studies.ProofHead(&text, solvers)
		proof.Row(&text)
		lines := strings.Split(text.String(), "\n")
		if len(lines) != 3 || len(lines[0]) != 80 || len(lines[1]) != 80 || strings.Index(lines[0], "tie ") != strings.Index(lines[1], m.Tied()+" ") {
			t.Errorf("%s is tied by %s:\n%s", name, m.Tied(), text.String())
		}
	}
}

// What no solver has refuted is one line for each way in which they gave up; what one has refuted is a line of its own.
func TestEachWayToGiveUpIsOneLine(t *testing.T) {
	m, err := models.Load("lcr")
	if err != nil {
		t.Fatal(err)
	}
	proof := &studies.Proof{Plan: prove.Obligations(m)}
	for _, name := range prove.Solvers {
		answers := make([]prove.Answer, len(proof.Plan.Obligations))
		for i := range answers[1:] {
			answers[i+1].Verdict = prove.TimedOut
		}
		answers[1].Verdict, answers[2].Verdict = prove.Refuted, prove.Proved
		proof.Results = append(proof.Results, &prove.Result{Solver: &prove.Solver{Name: name, Version: "1.2.3"}, Answers: answers})
	}
	proof.Results[1].Answers[3].Verdict = prove.Unknown
	var text strings.Builder
	proof.Row(&text)
	_, below, _ := strings.Cut(text.String(), "\n")
	want := `  not proved: at first passed   (z3 refuted, cvc5 refuted)
  not proved: at first announced   (z3 timed out, cvc5 unknown)
  not proved: at first leaders, start keeps passed, start keeps home and 6 more   (z3 timed out, cvc5 timed out)
`
	if below != want || proof.Proved() {
		t.Errorf("%s", text.String())
	}
}
