package finite

import (
	"slices"

	"ringleader.example/ringleader/internal/study/logic"
)

// chain returns two integer variables x and y of a search that has to try only consecutive integers for them. The search looks for a counterexample to
// "f(x) <= f(y) for x <= y", or to "f(x) = f(y)". Both relations are transitive: if all consecutive integers satisfy one, all pairs do. The names are
// empty if there are no such variables.
func chain(vars []logic.Binding, conditions []condition) (x, y string) {
	for _, a := range vars {
		for _, b := range vars {
			if a.Name != b.Name && a.Sort == logic.Int && b.Sort == logic.Int && chained(a.Name, b.Name, conditions) {
				return a.Name, b.Name
			}
		}
	}
	return "", ""
}

func chained(x, y string, conditions []condition) bool {
	links, ordered, symmetric := 0, false, false
	for _, d := range conditions {
		t := d.term
		switch binary := t.Op == logic.Operator && len(t.Args) == 2; {
		case !mentions(t, x) && !mentions(t, y):
		case binary && d.is && t.Name == "<=" && t.Args[0].Op == logic.Variable && t.Args[0].Name == x && t.Args[1].Op == logic.Variable && t.Args[1].Name == y:
			ordered = true
		case binary && !d.is && (t.Name == "<=" || t.Name == "=") && !mentions(t.Args[0], y) && renamed(t.Args[0], t.Args[1], x, y):
			links++
			symmetric = t.Name == "="
		default:
			return false
		}
	}
	return links == 1 && (ordered || symmetric)
}

func mentions(t *logic.Term, variable string) (is bool) {
	t.Visit(func(t *logic.Term) { is = is || t.Op == logic.Variable && t.Name == variable })
	return is
}

// renamed reports whether b is a with y in the place of x, and has no quantifier.
func renamed(a, b *logic.Term, x, y string) bool {
	name := a.Name
	if a.Op == logic.Variable && name == x {
		name = y
	}
	return a.Op == b.Op && name == b.Name && a.Number == b.Number && a.Symbol == b.Symbol && len(a.Vars)+len(b.Vars) == 0 &&
		slices.EqualFunc(a.Args, b.Args, func(a, b *logic.Term) bool { return renamed(a, b, x, y) })
}
