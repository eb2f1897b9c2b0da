package lab

import (
	"context"
	"errors"
	"fmt"
	"strings"

	"ringleader.example/ringleader/internal/cli/option"
	"ringleader.example/ringleader/internal/cli/plan"
	"ringleader.example/ringleader/internal/core/amount"
	"ringleader.example/ringleader/internal/show/report/studies"
	"ringleader.example/ringleader/internal/study/finite"
	"ringleader.example/ringleader/internal/study/logic"
	"ringleader.example/ringleader/internal/study/models"
)

// labWords is something that has a name and a meaning.
type labWords struct {
	Name  string `json:"name"`
	Words string `json:"words"`
	Term  string `json:"term,omitempty"`
}

// labModel is a model as the page shows it.
type labModel struct {
	Name       string       `json:"name"`
	Title      string       `json:"title"`
	Theorem    string       `json:"theorem"`
	Source     string       `json:"source"`
	Ring       bool         `json:"ring"` // small rings can be searched
	States     []labWords   `json:"states"`
	Actions    []labWords   `json:"actions"`
	Invariants []labWords   `json:"invariants"`
	Safety     []labWords   `json:"safety"`
	Proved     []labProving `json:"proved"`
}

// labProving is what a solver has proved of a model.
type labProving struct {
	Solver      string `json:"solver"`
	Version     string `json:"version"`
	Obligations int    `json:"obligations"`
}

// models returns the models that are proved for every n.
func (l *laboratory) models(_ context.Context, a asked) (any, error) {
	if err := a.read(&struct{}{}); err != nil {
		return nil, err
	}
	var all []labModel
	for _, name := range models.Names() {
		m, err := models.Load(name)
		if err != nil {
			return nil, err
		}
		record, err := models.Record(name) // a test of package proofs compares it with the model
		if err != nil {
			return nil, err
		}
		shown := labModel{
			Name: m.Name, Title: m.Title, Theorem: m.Theorem, Source: m.Source, Ring: models.IsRing(m),
			Invariants: labFormulas(m.Invariants), Safety: labFormulas(m.Safety),
		}
		for _, s := range m.States {
			shown.States = append(shown.States, labWords{Name: s.Name, Words: s.Words})
		}
		for _, action := range m.Actions {
			shown.Actions = append(shown.Actions, labWords{Name: action.Name, Words: action.Words})
		}
		for _, run := range record.Runs {
			shown.Proved = append(shown.Proved, labProving{run.Solver, run.Version, run.Proved})
		}
		all = append(all, shown)
	}
	return all, nil
}

func labFormulas(formulas []*logic.Formula) (all []labWords) {
	for _, f := range formulas {
		all = append(all, labWords{f.Name, f.Words, f.Term.String()})
	}
	return all
}

// The limits of a search for a counterexample to induction in the lab. In WebAssembly the longest takes 6 s of a processor on rings of three, and 11 s
// on rings of four.
const (
	mostLabRing     = 4
	mostLabSearched = 100_000 // states
)

// labFact is a fact of a counterexample.
type labFact struct {
	Text  string `json:"text"`
	Words string `json:"words"` // what its function means
	At    int    `json:"at"`    // the position of the process where it is shown; -1: none
}

// labInduction is the answer about a model without some invariants.
type labInduction struct {
	Call      string     `json:"call"`
	Detail    string     `json:"detail,omitempty"` // of a search that found nothing
	Tried     int        `json:"tried,omitempty"`
	Ring      []string   `json:"ring,omitempty"` // identifiers, going right
	State     []labFact  `json:"state,omitempty"`
	Step      *labWords  `json:"step,omitempty"`
	Change    []labFact  `json:"change,omitempty"`
	Broken    []labWords `json:"broken,omitempty"`
	Excluding []labWords `json:"excluding,omitempty"` // of what was left out: what does not hold in the state
}

// induction searches small rings for a counterexample to induction.
func (l *laboratory) induction(_ context.Context, a asked) (any, error) {
	var question struct {
		Model   string   `json:"model"`
		Without []string `json:"without"`
		N       int      `json:"n"`
	}
	if err := a.read(&question); err != nil {
		return nil, err
	}
	if question.N < 1 || question.N > mostLabRing {
		return nil, fmt.Errorf("the lab searches rings of 1 to %d processes, not %d", mostLabRing, question.N)
	}
	whole, err := models.Load(question.Model)
	if err != nil {
		return nil, fmt.Errorf("there is no model %s", option.Excerpt(question.Model))
	}
	m, err := whole.Without(question.Without, nil)
	switch {
	case err != nil:
		return nil, err
	case !models.IsRing(m):
		return nil, fmt.Errorf("%s is not of a ring, so it is searched by solvers only: %s prove %[1]s --drop INVARIANT", m.Name, l.name)
	}
	answer := labInduction{Call: l.inductionCall(m.Name, question.Without, question.N)}
	found, err := models.Counterexample(m, question.N, plan.MostFacts, mostLabSearched)
	many := (*finite.TooManyError)(nil)
	size := amount.Of(question.N, "process")
	switch {
	case errors.As(err, &many):
		answer.Detail = fmt.Sprintf("There is none on %s %s. %s The command searches further.", size, many, models.WhyNone(m, question.N, plan.MostFacts, mostLabSearched))
		return answer, nil
	case err != nil:
		return nil, err
	case found == nil && len(question.Without) == 0:
		answer.Detail = fmt.Sprintf("There is none on %s with up to %d facts.", size, plan.MostFacts)
		return answer, nil
	case found == nil:
		answer.Detail = fmt.Sprintf("There is none on %s with up to %d facts. %s", size, plan.MostFacts, models.WhyNone(m, question.N, plan.MostFacts, mostLabSearched))
		return answer, nil
	}
	excluding, err := models.Excluding(whole, found)
	if err != nil {
		return nil, err
	}
	shown := studies.Counterexample{Counterexample: found}
	answer.Tried, answer.Ring = found.Tried, shown.Ring()
	answer.State, answer.Change = labFacts(shown, found.Facts), labFacts(shown, found.New)
	answer.Step = &labWords{Name: shown.Step(), Words: found.Action.Words}
	answer.Broken, answer.Excluding = labFormulas(found.Broken), labFormulas(excluding)
	return answer, nil
}

// inductionCall returns the command that searches the same.
func (l *laboratory) inductionCall(model string, without []string, n int) string {
	words := []string{l.name, "prove", model}
	for _, name := range without {
		words = append(words, "--drop", name)
	}
	if n != plan.UsualRing {
		words = append(words, "--n", fmt.Sprint(n))
	}
	return strings.Join(append(words, "--solver", plan.NoSolver), " ")
}

func labFacts(c studies.Counterexample, facts []finite.Fact) (all []labFact) {
	for _, f := range facts {
		all = append(all, labFact{c.Text(f), f.Symbol.Words, studies.Place(f)})
	}
	return all
}
