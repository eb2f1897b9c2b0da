package finite

import (
	"fmt"
	"slices"

	"ringleader.example/ringleader/internal/study/logic"
)

// Counterexample is a counterexample to induction: a state in which all invariants hold, and a step after which one does not. No run
// need reach that state; an invariant that excludes it is missing.
type Counterexample struct {
	*Interpretation
	Before, After *State
	Facts         []Fact // of the state before, that differ from the first state
	New           []Fact // what the step changes
	Action        *logic.Action
	Args          []int
	Broken        []*logic.Formula // what does not hold after the step
	Tried         int              // the states that were tried
}

// TooManyError is the error of a search that has tried as many states as it may. All that have up to so many facts were searched.
type TooManyError struct{ Tried, Facts int }

func (e *TooManyError) Error() string {
	return fmt.Sprintf("with up to %d facts, nor in the first %d states", e.Facts, e.Tried)
}

// Search is how far a search for a counterexample to induction goes.
type Search struct {
	Facts, States int
	All           int   // up to so many states are tried one after the other; then the search is guided
	Integers      Range // that facts may have; an interpretation has more, which a step reaches
	Unsafe        bool  // instead of a step, a state is looked for in which the invariants hold, and a safety formula does not
}

// Induction returns the smallest counterexample to induction in any of these interpretations, whose model lacks an invariant: one with the
// fewest facts. Without any it returns nil; after that many states, a [TooManyError]; of a model that is too large, a [TooLargeError].
func Induction(interpretations []*Interpretation, search Search) (*Counterexample, error) {
	tried, steps := 0, map[*Interpretation][]breaking{}
	for size := 0; size <= search.Facts; size++ {
		for _, i := range interpretations {
			var found *Counterexample
			err := i.limited(mostAState, func() {
				first, more := i.Initial(), func() bool {
					tried, i.left = tried+1, mostAState
					return tried <= search.States
				}
				facts := i.possible(first, search.Integers)
				switch {
				case search.Unsafe:
					i.guide(first, facts, i.Model.Invariants, more).breaks([]breaking{i.unsafe()}, size, &found)
				case tried+ways(len(facts), size, search.All) <= search.All:
					i.choose(facts, 0, size, first, func(s *State) bool { return more() && i.breaks(s, &found) })
				default:
					if steps[i] == nil {
						steps[i] = i.breakings()
					}
					i.guide(first, facts, i.goals, more).breaks(steps[i], size, &found)
				}
				if found != nil {
					found.Facts, found.Tried = i.Facts(found.Before, first), tried
				}
			})
			switch {
			case err != nil:
				return nil, err
			case found != nil:
				return found, nil
			case tried > search.States:
				return nil, &TooManyError{search.States, size - 1}
			}
		}
	}
	return nil, nil
}

// ways returns in how many ways some of n things can be chosen, or more than most.
func ways(n, some, most int) int {
	all := 1
	for k := range some {
		if all = all * (n - k) / (k + 1); all > most {
			return all
		}
	}
	return all
}

// possible returns all facts that differ from those of the first state, with these integers.
func (i *Interpretation) possible(first *State, integers Range) (facts []Fact) {
	inside := func(sort string, value int) bool { return sort != logic.Int || integers.place(value) >= 0 }
	for place := range i.tables {
		t := &i.tables[place]
		values := i.domain(t.symbol.Result)
		for at := range t.length {
			args, outside := t.arguments(at), false
			for k, sort := range t.symbol.Args {
				outside = outside || !inside(sort, args[k])
			}
			if outside {
				continue
			}
			for v := values.Least; v <= values.Most; v++ {
				if v != int(first.tables[place][at]) && inside(t.symbol.Result, v) {
					facts = append(facts, Fact{t.symbol, args, v})
				}
				if len(facts) > mostFacts {
					i.tooLarge("more than %d facts are possible", mostFacts)
				}
			}
		}
	}
	return facts
}

// choose calls try for each state with so many of the facts, from the given one on, until that returns false.
func (i *Interpretation) choose(facts []Fact, from, size int, s *State, try func(*State) bool) bool {
	if size == 0 {
		return try(s)
	}
	for k := from; k <= len(facts)-size; k++ {
		f := &facts[k]
		next := k + 1
		for next < len(facts) && facts[next].Symbol == f.Symbol && i.tables[i.place[f.Symbol]].index(facts[next].Args) == i.tables[i.place[f.Symbol]].index(f.Args) {
			next++ // another value of the same function
		}
		if !i.choose(facts, next, size-1, i.With(s, f.Symbol, f.Value, f.Args...), try) {
			return false
		}
	}
	return true
}

// breaks reports whether to go on: in a state in which all holds it finds a step to one in which something does not.
func (i *Interpretation) breaks(s *State, found **Counterexample) bool {
	for _, f := range i.goals {
		if !i.Holds(f, s) {
			return true
		}
	}
	return !slices.ContainsFunc(i.Model.Actions, func(a *logic.Action) bool {
		i.Possible(a, s, func(args []int) bool { return !i.broken(a, s, args, found) })
		return *found != nil
	})
}

// broken reports whether something does not hold after a step, and keeps that as a counterexample.
func (i *Interpretation) broken(a *logic.Action, s *State, args []int, found **Counterexample) bool {
	after := s
	if len(a.Assignments) > 0 {
		after = i.After(a, s, args...)
	}
	broken := i.Broken(after)
	if len(broken) > 0 {
		*found = &Counterexample{Interpretation: i, Before: s, After: after, New: i.Facts(after, s), Action: a, Args: slices.Clone(args), Broken: broken}
	}
	return len(broken) > 0
}
