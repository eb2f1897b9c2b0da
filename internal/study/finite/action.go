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
	compiled.search = (&compiler{Interpretation: i}).search(a.Parameters, conditions, "", "")
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

// change is what an action changes in a table.
type change struct {
	table  int
	all    []int32 // all values, or nil
	at     int     // the place of the one value that changes
	number int32   // it
}

// changes returns what an action changes, whether it is possible or not. It panics with a [TooLargeError] if an integer needs more than 32 bits.
func (i *Interpretation) changes(a *logic.Action, s *State, args []int) (all []change) {
	for _, set := range i.actions[a].sets {
		t := &i.tables[set.table]
		if len(set.where) == 0 && len(t.args) > 0 {
			all = append(all, change{table: set.table, all: i.all(t, s, args, set.value)})
			continue
		}
		m := i.run(s, args)
		where := make([]int, len(set.where))
		for k, w := range set.where {
			where[k] = w(m)
		}
		if at := t.index(where); at >= 0 {
			all = append(all, change{table: set.table, at: at, number: i.stored32(set.value(m))})
		}
	}
	return all
}

// After returns the state after an action, whether it is possible or not. It panics with a [TooLargeError] if an integer needs more than 32 bits.
func (i *Interpretation) After(a *logic.Action, s *State, args ...int) *State {
	next := &State{slices.Clone(s.tables)}
	for _, c := range i.changes(a, s, args) {
		if c.all == nil {
			c.all = slices.Clone(s.tables[c.table])
			c.all[c.at] = c.number
		}
		next.tables[c.table] = c.all
	}
	return next
}

// Advance is After for a state that is used nowhere else: it becomes the one after the action. In a long run a copy of each state takes most of the time.
func (i *Interpretation) Advance(a *logic.Action, s *State, args ...int) {
	for _, c := range i.changes(a, s, args) {
		if c.all == nil {
			s.tables[c.table][c.at] = c.number
		} else {
			s.tables[c.table] = c.all
		}
	}
}
