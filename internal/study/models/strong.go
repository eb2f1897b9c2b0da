package models

import (
	"fmt"
	"slices"
	"strings"

	"ringleader.example/ringleader/internal/study/logic"
)

// TooStrong returns an error if an axiom of a model does not hold on each ring of up to four processes, or on the instance that there is of such
// a model: then the model speaks of fewer groups than there are. An instance serves each model whose sorts and constants have the names, sorts and
// words of those that it was made for. Untried are the names of the axioms that were tried on none and are in no model of folder proofs.
func TooStrong(m *logic.Model) (untried []string, err error) {
	tried := *m
	tried.Axioms = slices.DeleteFunc(slices.Clone(m.Axioms), func(f *logic.Formula) bool { return seeks(f.Term, true) })
	known := []string{"between", "next", "less", "largest"}
	if IsRing(m) && !slices.ContainsFunc(m.Constants, func(c *logic.Symbol) bool { return !slices.Contains(known, c.Name) }) {
		for n := 1; n <= 4; n++ {
			for _, ids := range orders(n) {
				if _, err := Ring(&tried, ids, phases); err != nil {
					return nil, fmt.Errorf("%s: %w on the ring %v, so what is proved is not of every ring", m.Name, err, ids)
				}
			}
		}
		return newAxioms(m, tried.Axioms)
	}
	for name, instance := range instances {
		original, err := Load(name)
		if err != nil {
			return nil, err
		}
		if meanings(original) != meanings(m) {
			continue
		}
		if _, err := instance(&tried); err != nil {
			return nil, fmt.Errorf("%s: %w on the instance of %s, so what is proved is not of every group", m.Name, err, name)
		}
		return newAxioms(m, tried.Axioms)
	}
	return newAxioms(m, nil)
}

// newAxioms returns the names of those axioms that are neither among some others nor in a model of folder proofs.
func newAxioms(m *logic.Model, others []*logic.Formula) (names []string, err error) {
	for _, name := range Names() {
		model, err := Load(name)
		if err != nil {
			return nil, err
		}
		others = append(others, model.Axioms...)
	}
	for _, f := range m.Axioms {
		if !slices.ContainsFunc(others, func(o *logic.Formula) bool { return o.Term.String() == f.Term.String() }) {
			names = append(names, f.Name)
		}
	}
	return names, nil
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

// seeks reports whether a term may be false, or true if it is not positive, since an instance has too few integers: it says that there is one.
func seeks(t *logic.Term, positive bool) bool {
	either := func(all []*logic.Term) bool {
		return slices.ContainsFunc(all, func(a *logic.Term) bool { return seeks(a, true) || seeks(a, false) })
	}
	switch {
	case t.Op == logic.ForAll || t.Op == logic.Exists:
		exists := (t.Op == logic.Exists) == positive
		return exists && slices.ContainsFunc(t.Vars, func(v logic.Binding) bool { return v.Sort == logic.Int }) || seeks(t.Args[0], positive)
	case t.Op == logic.Call && t.Symbol.Role == logic.Defined:
		return seeks(t.Symbol.Body, positive) || t.Symbol.Result != logic.Bool && seeks(t.Symbol.Body, !positive) || either(t.Args)
	case t.Op == logic.Operator && (t.Name == "and" || t.Name == "or"):
		return slices.ContainsFunc(t.Args, func(a *logic.Term) bool { return seeks(a, positive) })
	case t.Op == logic.Operator && t.Name == "not":
		return seeks(t.Args[0], !positive)
	case t.Op == logic.Operator && t.Name == "=>":
		return seeks(t.Args[0], !positive) || seeks(t.Args[1], positive)
	}
	return either(t.Args)
}
