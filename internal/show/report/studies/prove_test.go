package studies_test

import (
	"slices"
	"testing"

	"ringleader.example/ringleader/internal/show/report/studies"
	"ringleader.example/ringleader/internal/study/models"
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
