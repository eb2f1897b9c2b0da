package proofs_test

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"testing"

	"ringleader.example/ringleader/internal/study/models"
	"ringleader.example/ringleader/internal/study/prove"
)

// Each guard, axiom and invariant is removed, one at a time. If all is still proved, the model must say why it is there; if not, it must not. So the
// words "spare" are the list of what the proofs do not need. It takes a minute of a processor, and more where others are busy.
func TestWhatIsNotNeededIsListedWithItsReason(t *testing.T) {
	if !*long {
		t.Skip("it takes a minute of a processor; .ci/run --long does it")
	}
	solver, err := prove.Find("z3")
	if err != nil {
		t.Skip(err)
	}
	needs := map[string]string{} // by axiom of a file that models include: what needs it
	for _, name := range models.Names() {
		t.Run(name, func(t *testing.T) {
			m := load(t, name)
			try := func(what string, spare string, formulas, guards []string) {
				less, err := m.Without(formulas, guards)
				if err != nil {
					t.Fatal(err)
				}
				lost, err := firstLost(solver, prove.Obligations(less))
				switch {
				case err != nil:
					t.Error(err)
				case lost == "" && spare == "":
					t.Errorf("%s is not needed, and does not say why it is there", what)
				case lost != "" && spare != "":
					t.Errorf("%s says that it is not needed, and without it %s is not proved", what, lost)
				default:
					t.Logf("%s: %s%s", what, lost, spare)
				}
			}
			for _, a := range m.Actions {
				for k, g := range a.Guards {
					guard := fmt.Sprintf("%s:%d", a.Name, k+1)
					try("guard "+guard+" ("+g.Words+")", g.Spare, nil, []string{guard})
				}
			}
			for _, f := range slices.Concat(m.Axioms, m.Invariants) {
				if strings.HasSuffix(f.At.File, ".axioms") {
					less, err := m.Without([]string{f.Name}, nil)
					if err != nil {
						t.Fatal(err)
					}
					lost, err := firstLost(solver, prove.Obligations(less))
					if err != nil {
						t.Error(err)
					}
					needs[f.Name] = needs[f.Name] + lost
					continue
				}
				try(f.Name, f.Spare, []string{f.Name}, nil)
			}
		})
	}
	for axiom, lost := range needs {
		if lost == "" {
			t.Errorf("no model needs the axiom %s", axiom)
		}
	}
}

// work is what z3 does in a second or so.
const work = 2_000_000

// firstLost returns the name of an obligation that is not proved, or nothing.
func firstLost(s *prove.Solver, p *prove.Plan) (string, error) {
	r, err := s.Prove(context.Background(), p, prove.Options{Limit: limit, Work: work, First: true})
	if err != nil {
		return "", err
	}
	for i, a := range r.Answers[1:] {
		if a.Verdict != prove.Proved {
			return p.Obligations[i+1].Name, nil
		}
	}
	return "", nil
}
