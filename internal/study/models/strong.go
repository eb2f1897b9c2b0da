package models

import (
	"errors"
	"fmt"
	"slices"
	"strings"

	"ringleader.example/ringleader/internal/study/finite"
	"ringleader.example/ringleader/internal/study/logic"
)

// TooStrong returns an error if an axiom of a model does not hold on each ring of up to four processes, or on the instance that there is of such
// a model: then the model speaks of fewer groups than there are. An instance serves each model whose sorts and constants have the names, sorts and
// words of those that it was made for. Unsure are the axioms that may still be too strong.
func TooStrong(m *logic.Model) (unsure Unsure, err error) {
	tried := logic.Model{Name: m.Name, Sorts: m.Sorts, Constants: m.Constants}
	seeks, variables := seeker{}, counter{}
	for _, f := range m.Axioms {
		if !seeks.seeks(f.Term, true) && variables.of(f.Term) <= mostVariables {
			tried.Axioms = append(tried.Axioms, f)
		}
	}
	known := []string{"between", "next", "less", "largest"}
	if IsRing(m) && !slices.ContainsFunc(m.Constants, func(c *logic.Symbol) bool { return !slices.Contains(known, c.Name) }) {
		for n := 1; n <= 4; n++ {
			for _, ids := range orders(n) {
				switch _, err := Ring(&tried, ids, phases); {
				case tooLarge(err):
					return newAxioms(m, nil, "")
				case err != nil:
					return Unsure{}, fmt.Errorf("%s: %w on the ring %v, so what is proved is not of every ring", m.Name, err, ids)
				}
			}
		}
		return newAxioms(m, tried.Axioms, "on rings of up to four processes")
	}
	for name, instance := range instances {
		original, err := Load(name)
		if err != nil {
			return Unsure{}, err
		}
		if meanings(original) != meanings(m) {
			continue
		}
		switch _, err := instance(&tried); {
		case tooLarge(err):
			return newAxioms(m, nil, "")
		case err != nil:
			return Unsure{}, fmt.Errorf("%s: %w on the instance of %s, so what is proved is not of every group", m.Name, err, name)
		}
		return newAxioms(m, tried.Axioms, "on the instance of "+name)
	}
	return newAxioms(m, nil, "")
}

// Unsure are the names of the axioms of a model that are in no model of folder proofs.
type Unsure struct {
	Untried []string // on nothing
	Held    []string // where they were tried, which is not everywhere
	On      string
}

// Warnings returns what is to be said of them.
func (u *Unsure) Warnings() (all []string) {
	if len(u.Untried) > 0 {
		all = append(all, "these axioms were tried on no instance: "+strings.Join(u.Untried, ", "))
	}
	if len(u.Held) > 0 {
		all = append(all, fmt.Sprintf("these axioms hold %s, and were tried nowhere else: %s", u.On, strings.Join(u.Held, ", ")))
	}
	return all
}

// newAxioms returns those axioms that are in no model of folder proofs, of which some held on something.
func newAxioms(m *logic.Model, held []*logic.Formula, on string) (u Unsure, err error) {
	var known []*logic.Formula
	for _, name := range Names() {
		model, err := Load(name)
		if err != nil {
			return Unsure{}, err
		}
		known = append(known, model.Axioms...)
	}
	u.On = on
	for _, f := range m.Axioms {
		switch {
		case slices.ContainsFunc(known, func(o *logic.Formula) bool { return o.Term.String() == f.Term.String() }):
		case slices.Contains(held, f):
			u.Held = append(u.Held, f.Name)
		default:
			u.Untried = append(u.Untried, f.Name)
		}
	}
	return u, nil
}

// mostVariables are those of an axiom whose values are tried: all of them together.
const mostVariables = 6

// counter counts the quantified variables of terms, with those of the definitions that they use; by definition, at most one more than is asked for.
type counter map[*logic.Symbol]int

func (c counter) of(t *logic.Term) (count int) {
	t.Visit(func(u *logic.Term) {
		count += len(u.Vars)
		if u.Op == logic.Call && u.Symbol.Role == logic.Defined {
			of, known := c[u.Symbol]
			if !known {
				of = c.of(u.Symbol.Body)
				c[u.Symbol] = of
			}
			count += of
		}
		count = min(count, mostVariables+1)
	})
	return count
}

func tooLarge(err error) bool {
	large := (*finite.TooLargeError)(nil)
	return errors.As(err, &large)
}

// meanings returns what is said of the sorts and constants of a model.
func meanings(m *logic.Model) string {
	var all []string
	for _, s := range m.Sorts {
		all = append(all, fmt.Sprintf("%q", s))
	}
	for _, c := range m.Constants {
		all = append(all, fmt.Sprintf("%s %q %s %q", c.Name, c.Args, c.Result, c.Words))
	}
	slices.Sort(all)
	return strings.Join(all, "\n")
}

// seeker keeps, by definition, whether it seeks: if it is positive, and if not.
type seeker map[*logic.Symbol]*[2]bool

// seeks reports whether a term may be false, or true if it is not positive, since an instance has too few integers: it says that there is one.
func (s seeker) seeks(t *logic.Term, positive bool) bool {
	switch {
	case t.Op == logic.ForAll || t.Op == logic.Exists:
		exists := (t.Op == logic.Exists) == positive
		return exists && slices.ContainsFunc(t.Vars, func(v logic.Binding) bool { return v.Sort == logic.Int }) || s.seeks(t.Args[0], positive)
	case t.Op == logic.Call && t.Symbol.Role == logic.Defined:
		body := s.body(t.Symbol)
		return body[truth(positive)] || t.Symbol.Result != logic.Bool && body[truth(!positive)] || slices.ContainsFunc(t.Args, s.either)
	case t.Op == logic.Operator && (t.Name == "and" || t.Name == "or"):
		return slices.ContainsFunc(t.Args, func(a *logic.Term) bool { return s.seeks(a, positive) })
	case t.Op == logic.Operator && t.Name == "not":
		return s.seeks(t.Args[0], !positive)
	case t.Op == logic.Operator && t.Name == "=>":
		return s.seeks(t.Args[0], !positive) || s.seeks(t.Args[1], positive)
	}
	return slices.ContainsFunc(t.Args, s.either)
}

// either reports whether a term seeks, be it positive or not: it quantifies integers.
func (s seeker) either(t *logic.Term) (seeks bool) {
	t.Visit(func(u *logic.Term) {
		seeks = seeks || slices.ContainsFunc(u.Vars, func(v logic.Binding) bool { return v.Sort == logic.Int })
		if !seeks && u.Op == logic.Call && u.Symbol.Role == logic.Defined {
			body := s.body(u.Symbol)
			seeks = body[0] || body[1]
		}
	})
	return seeks
}

// body returns whether the body of a definition seeks, if it is not positive and if it is.
func (s seeker) body(d *logic.Symbol) *[2]bool {
	if s[d] == nil {
		s[d] = &[2]bool{s.seeks(d.Body, false), s.seeks(d.Body, true)}
	}
	return s[d]
}

func truth(is bool) int {
	if is {
		return 1
	}
	return 0
}
