package finite

import (
	"errors"

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

// ErrTooMany is the error of a search that has tried as many states as it may.
var ErrTooMany = errors.New("too many states to try")

// Induction returns the smallest counterexample to induction in any of these interpretations, whose model lacks an invariant: the one with the
// fewest facts. Without any it returns nil; after that many states, [ErrTooMany]; of a model that is too large, a [TooLargeError].
func Induction(interpretations []*Interpretation, mostFacts, mostStates int) (*Counterexample, error) {
	tried := 0
	for size := 0; size <= mostFacts; size++ {
		for _, i := range interpretations {
			var found *Counterexample
			more := false
			err := i.limited(mostAState, func() {
				first := i.Initial()
				more = i.choose(i.possible(first), 0, size, first, func(s *State) bool {
					tried, i.left = tried+1, mostAState
					if found = i.breaks(s); found != nil {
						found.Facts, found.Tried = i.Facts(s, first), tried
					}
					return found == nil && tried < mostStates
				})
			})
			switch {
			case err != nil:
				return nil, err
			case found != nil:
				return found, nil
			case !more:
				return nil, ErrTooMany
			}
		}
	}
	return nil, nil
}

// possible returns all facts that differ from those of the first state.
func (i *Interpretation) possible(first *State) (facts []Fact) {
	for place := range i.tables {
		t := &i.tables[place]
		values := i.domain(t.symbol.Result)
		for at := range t.length {
			for v := values.Least; v <= values.Most; v++ {
				if v != int(first.tables[place][at]) {
					facts = append(facts, Fact{t.symbol, t.arguments(at), v})
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

// breaks returns a step from a state in which all holds to one in which something does not, or nil.
func (i *Interpretation) breaks(s *State) (found *Counterexample) {
	for _, f := range i.goals {
		if !i.Holds(f, s) {
			return nil
		}
	}
	for _, a := range i.Model.Actions {
		i.Possible(a, s, func(args []int) bool {
			after := i.After(a, s, args...)
			if broken := i.Broken(after); len(broken) > 0 {
				found = &Counterexample{Interpretation: i, Before: s, After: after, New: i.Facts(after, s), Action: a, Args: append([]int(nil), args...), Broken: broken}
			}
			return found == nil
		})
		if found != nil {
			return found
		}
	}
	return nil
}
