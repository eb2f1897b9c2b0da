// Package models reads the models of folder proofs and their records, and makes finite interpretations of models of rings.
package models

import (
	"errors"
	"fmt"
	"io/fs"
	"slices"
	"strconv"
	"strings"

	"ringleader.example/ringleader/internal/study/finite"
	"ringleader.example/ringleader/internal/study/logic"
	"ringleader.example/ringleader/internal/study/prove"
	"ringleader.example/ringleader/proofs"
)

// Names returns the names of all models.
func Names() (names []string) {
	files, _ := fs.Glob(proofs.Files, "*.model") // the pattern is right
	for _, f := range files {
		names = append(names, strings.TrimSuffix(f, ".model"))
	}
	return names
}

// Load returns a model of folder proofs.
func Load(name string) (*logic.Model, error) {
	m, err := logic.Load(proofs.Files, proofs.Files, name+".model")
	if errors.Is(err, fs.ErrNotExist) {
		return nil, fmt.Errorf("there is no model %q; there are %s", name, strings.Join(Names(), ", "))
	}
	return m, err
}

// Record returns what was proved of a model.
func Record(name string) (*prove.Record, error) {
	text, err := proofs.Files.ReadFile(name + ".proved")
	if err != nil {
		return nil, fmt.Errorf("nothing was proved of %s", name)
	}
	return prove.ParseRecord(string(text))
}

// IsRing reports whether a model is of a ring of processes, as ring.axioms has it, and of nothing else.
func IsRing(m *logic.Model) bool {
	return len(m.Sorts) == 1 && m.Sorts[0].Name == "Process" && len(m.Constants) >= 3 && m.Constants[0].Name == "between" && m.Constants[1].Name == "next"
}

// Ring returns a finite interpretation of a model of a ring, with these identifiers, going right.
func Ring(m *logic.Model, ids []int, integers finite.Range) (*finite.Interpretation, error) {
	n := len(ids)
	names, top := make([]string, n), 0
	for p, id := range ids {
		names[p] = fmt.Sprint(id)
		if id > ids[top] {
			top = p
		}
	}
	truth := map[bool]int{true: 1}
	return finite.Bounded(m, map[string][]string{"Process": names}, integers, map[string]func([]int) int{
		"between": func(a []int) int {
			second, third := (a[1]-a[0]+n)%n, (a[2]-a[0]+n)%n
			return truth[0 < second && second < third]
		},
		"next":    func(a []int) int { return (a[0] + 1) % n },
		"less":    func(a []int) int { return truth[ids[a[0]] < ids[a[1]]] },
		"largest": func([]int) int { return top },
	})
}

// phases are those of a counterexample, where phases are counted, and integers are those that formulas compare them with. A step leads to
// the next phase; -1 is before the first.
var phases, integers = finite.Range{Least: 0, Most: 1}, finite.Range{Least: -1, Most: 2}

// mostInTurn is how many states of a ring are tried one after the other.
const mostInTurn = 50_000

// Counterexample returns the smallest counterexample to induction of a model of a ring, in all orders of so many identifiers, as
// [finite.Induction] does. Where phases are counted, they are 0 and 1.
func Counterexample(m *logic.Model, n, mostFacts, mostStates int) (*finite.Counterexample, error) {
	return searched(m, n, finite.Search{Facts: mostFacts, States: mostStates, All: mostInTurn, Integers: phases})
}

// WhyNone returns a line that tells why there may be no counterexample to induction of a model of a ring, where a search found none: what is left
// out is for a safety formula, which does not follow any more, or for something that a search does not see.
func WhyNone(m *logic.Model, n, mostFacts, mostStates int) string {
	unsafe, err := searched(m, n, finite.Search{Facts: mostFacts, States: mostStates, Integers: phases, Unsafe: true})
	if err != nil || unsafe == nil {
		return "A larger ring may have one, or what is left out is for a lemma only, or for nothing."
	}
	var facts []string
	for _, f := range unsafe.Facts {
		facts = append(facts, unsafe.Text(f))
	}
	return fmt.Sprintf("No step is at fault: %s does not follow from the invariants that are left, which hold where %s.",
		unsafe.Broken[0].Name, strings.Join(facts, ", "))
}

func searched(m *logic.Model, n int, search finite.Search) (*finite.Counterexample, error) {
	var interpretations []*finite.Interpretation
	for _, ids := range orders(n) {
		i, err := Ring(m, ids, integers)
		if err != nil {
			return nil, err
		}
		interpretations = append(interpretations, i)
	}
	return finite.Induction(interpretations, search)
}

// Excluding returns those formulas of the whole model that do not hold in the state before the step: with any of them left in, the
// counterexample would be none.
func Excluding(whole *logic.Model, c *finite.Counterexample) (excluding []*logic.Formula, err error) {
	ids := make([]int, c.Elements("Process"))
	for p := range ids {
		if ids[p], err = strconv.Atoi(c.Name("Process", p)); err != nil {
			return nil, err
		}
	}
	i, err := Ring(whole, ids, integers)
	if err != nil {
		return nil, err
	}
	return i.Broken(c.Before), nil
}

// orders returns all orders of the identifiers 1 to n on a ring: the smallest is first.
func orders(n int) [][]int {
	all := [][]int{{1}}
	for id := 2; id <= n; id++ {
		var longer [][]int
		for _, order := range all {
			for at := 1; at <= len(order); at++ {
				longer = append(longer, slices.Insert(slices.Clone(order), at, id))
			}
		}
		all = longer
	}
	return all
}
