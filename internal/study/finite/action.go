package finite

import (
	"slices"

	"ringleader.example/ringleader/internal/study/logic"
)

// action is a compiled action.
type action struct {
	guards []evaluate
	sets   []assignment
	search func(m *machine, found func() bool) bool
}

type assignment struct {
	table int
	where []evaluate // of a put
	value evaluate
}

func (i *Interpretation) compileAction(a *logic.Action) *action {
	compiled := &action{}
	for _, g := range a.Guards {
		compiled.guards = append(compiled.guards, i.compile(g.Term, a.Parameters))
	}
	for _, set := range a.Assignments {
		s := assignment{table: i.place[set.Symbol], value: i.compile(set.Value, slices.Concat(a.Parameters, set.Vars))}
		for _, t := range set.Where {
			s.where = append(s.where, i.compile(t, a.Parameters))
		}
		compiled.sets = append(compiled.sets, s)
	}
	var conditions []condition
	for _, g := range a.Guards {
		conditions = append(conditions, conjuncts(g.Term, true)...)
	}
	compiled.search = (&compiler{Interpretation: i}).search(a.Parameters, conditions)
	return compiled
}

// Prevents returns the number, from 1, of the first guard that does not hold in a state, or 0: the action is possible.
func (i *Interpretation) Prevents(a *logic.Action, s *State, args ...int) int {
	for k := range a.Guards {
		if !i.Guard(a, k+1, s, args...) {
			return k + 1
		}
	}
	return 0
}

// Guard reports whether a guard, by its number from 1, holds in a state.
func (i *Interpretation) Guard(a *logic.Action, number int, s *State, args ...int) bool {
	return i.actions[a].guards[number-1](i.run(s, args)) == 1
}

// Possible calls found with the arguments of each way in which an action is possible in a state, until that returns false. Integers
// are those of the interpretation's range.
func (i *Interpretation) Possible(a *logic.Action, s *State, found func(args []int) bool) {
	args := make([]int, len(a.Parameters))
	m := &machine{Interpretation: i, state: s, vars: make([]int, mostVars)} // found may evaluate something else
	i.actions[a].search(m, func() bool {
		copy(args, m.vars)
		return !found(args)
	})
}

// After returns the state after an action, whether it is possible or not. It panics with a [TooLargeError] if an integer needs more than 32 bits.
func (i *Interpretation) After(a *logic.Action, s *State, args ...int) *State {
	next := &State{slices.Clone(s.tables)}
	for _, set := range i.actions[a].sets {
		t := &i.tables[set.table]
		if len(set.where) == 0 && len(t.args) > 0 {
			next.tables[set.table] = i.all(t, s, args, set.value)
			continue
		}
		m := i.run(s, args)
		where := make([]int, len(set.where))
		for k, w := range set.where {
			where[k] = w(m)
		}
		if at := t.index(where); at >= 0 {
			next.tables[set.table] = slices.Clone(s.tables[set.table])
			next.tables[set.table][at] = i.stored32(set.value(m))
		}
	}
	return next
}
