package finite

import (
	"slices"

	"ringleader.example/ringleader/internal/study/logic"
)

// A guided search finds the states from which a step breaks something without trying all states. It begins with the first state, and takes one
// thing that has to hold and does not: that the step is possible, that what is left holds, or that the step breaks it. Its value depends on the
// facts that were read to compute it, so one of these has to change. It tries each, and goes on. A state that holds all and has so many facts is
// not missed: it differs in one of those facts, or the value would be the same.

// guided is a search for a step that breaks something, in one interpretation.
type guided struct {
	*Interpretation
	state   *State
	values  [][]int // by cell: what may be there, but for what is there at first
	fixed   []bool  // by cell: it has its value for good, as far as is searched now
	demands []demand
	reads   []int
	more    func() bool // counts a state, and reports whether to go on
}

// demand is something that has to hold.
type demand struct {
	holds evaluate
	is    int
	vars  []int // the first variables of it
}

// instance is a part of a goal after an action, with the variables of which it has to hold for all values.
type instance struct {
	vars []logic.Binding
	body evaluate
}

// breaking is an action, its guards, and all that it may break. An action that changes nothing stands for none.
type breaking struct {
	action *logic.Action
	guards []evaluate
	parts  []instance
}

// breakings compiles each action with the goals that it may break.
func (i *Interpretation) breakings() (all []breaking) {
	for _, a := range i.Model.Actions {
		b := breaking{action: a, guards: i.actions[a].guards}
		for _, f := range i.goals {
			if !f.Term.Reads(a.Changes) {
				continue
			}
			for _, part := range parts(nil, f.Term) {
				c := &compiler{Interpretation: i, post: a}
				for _, v := range slices.Concat(a.Parameters, part.vars) {
					c.bind(v.Name)
				}
				part.body = c.term(part.term)
				b.parts = append(b.parts, part.instance)
			}
		}
		all = append(all, b)
	}
	return all
}

// unsafe compiles the safety formulas.
func (i *Interpretation) unsafe() breaking {
	b := breaking{action: &logic.Action{}}
	for _, f := range i.Model.Safety {
		for _, part := range parts(nil, f.Term) {
			part.body = i.compile(part.term, part.vars)
			b.parts = append(b.parts, part.instance)
		}
	}
	return b
}

type part struct {
	instance
	term *logic.Term
}

// parts returns what has to hold, each for all values of its variables, for a term to hold.
func parts(vars []logic.Binding, t *logic.Term) (all []part) {
	switch {
	case t.Op == logic.ForAll:
		return parts(slices.Concat(vars, t.Vars), t.Args[0])
	case t.Op == logic.Operator && t.Name == "and":
		for _, a := range t.Args {
			all = append(all, parts(vars, a)...)
		}
		return all
	}
	return []part{{instance{vars: vars}, t}}
}

// guide begins a guided search from the first state, for states in which some formulas hold. Facts are those that may be different in a state.
func (i *Interpretation) guide(first *State, facts []Fact, hold []*logic.Formula, more func() bool) *guided {
	g := &guided{Interpretation: i, state: &State{}, more: more}
	cells := 0
	for place, values := range first.tables {
		i.tables[place].first = cells
		cells += len(values)
		g.state.tables = append(g.state.tables, slices.Clone(values))
	}
	g.values, g.fixed = make([][]int, cells), make([]bool, cells)
	for _, f := range facts {
		t := &i.tables[i.place[f.Symbol]]
		cell := t.first + t.index(f.Args)
		g.values[cell] = append(g.values[cell], f.Value)
	}
	for _, f := range hold {
		g.demands = append(g.demands, demand{i.formulas[f], 1, nil})
	}
	return g
}

// breaks finds a step that breaks something in a state of up to so many facts. It reports whether the search has ended: there is one, or too much
// was tried.
func (g *guided) breaks(all []breaking, size int, found **Counterexample) bool {
	goals := len(g.demands)
	for _, b := range all {
		if g.each(b.action.Parameters, nil, func(args []int) bool {
			for _, holds := range b.guards {
				g.demands = append(g.demands, demand{holds, 1, args})
			}
			defer func() { g.demands = g.demands[:goals] }()
			return g.reach(size, func(left int) bool {
				return slices.ContainsFunc(b.parts, func(p instance) bool {
					return g.each(p.vars, args, func(vars []int) bool {
						g.demands = append(g.demands, demand{p.body, 0, vars})
						defer func() { g.demands = g.demands[:len(g.demands)-1] }()
						return g.reach(left, func(int) bool {
							s := &State{}
							for _, values := range g.state.tables {
								s.tables = append(s.tables, slices.Clone(values))
							}
							return g.broken(b.action, s, args, found)
						})
					})
				})
			})
		}) {
			return true
		}
	}
	return false
}

// each calls try with all values of variables, behind others, until that returns true.
func (g *guided) each(vars []logic.Binding, before []int, try func(all []int) bool) bool {
	if len(vars) == 0 {
		return try(before)
	}
	values := g.domain(vars[0].Sort)
	for place := range values.size() {
		if g.each(vars[1:], append(slices.Clip(before), values.value(place)), try) {
			return true
		}
	}
	return false
}

// reach changes up to so many facts until all demands hold, and then calls reached with how many are left, until that returns true.
func (g *guided) reach(left int, reached func(left int) bool) bool {
	if !g.more() {
		return true
	}
	cells, holds := g.open()
	if holds {
		return reached(left)
	}
	if left == 0 {
		return false
	}
	defer func() {
		for _, cell := range cells {
			g.fixed[cell] = false
		}
	}()
	for _, cell := range cells {
		g.fixed[cell] = true
		at := g.at(cell)
		was := *at
		for _, value := range g.values[cell] {
			*at = int32(value)
			if g.reach(left-1, reached) {
				return true
			}
		}
		*at = was // and so it stays for what is tried next
	}
	return false
}

// open returns cells one of which has to change, or reports that all demands hold. Of the demands that do not, it takes the one with the fewest.
func (g *guided) open() (cells []int, holds bool) {
	holds = true
	fewest := 0
	for k := len(g.demands) - 1; k >= 0; k-- {
		d := &g.demands[k]
		if d.holds(g.run(g.state, d.vars)) == d.is {
			continue
		}
		m := g.run(g.state, d.vars)
		m.reads, m.tracks = m.reads[:0], true
		d.holds(m)
		m.tracks = false
		of, ways := g.reads[:0], 0
		for _, cell := range m.reads {
			if !g.fixed[cell] && len(g.values[cell]) > 0 && !slices.Contains(of, cell) {
				of, ways = append(of, cell), ways+len(g.values[cell])
			}
		}
		if g.reads = of; ways <= 1 { // there is no better one
			return slices.Clone(of), false
		}
		if holds || ways < fewest {
			holds, fewest, cells = false, ways, slices.Clone(of)
		}
	}
	return cells, holds
}

// at returns where the value of a cell is.
func (g *guided) at(cell int) *int32 {
	for place := range g.tables {
		if t := &g.tables[place]; cell < t.first+t.length {
			return &g.state.tables[place][cell-t.first]
		}
	}
	panic("there is no such cell")
}

// changed compiles a call of a state function that an action changes, as it is after that.
func (c *compiler) changed(place int, args []evaluate) evaluate {
	table, values := &c.tables[place], make([]int, len(args))
	post, outer := c.post, c.vars
	c.post, c.vars = nil, c.vars[:len(post.Parameters):len(post.Parameters)]
	defer func() { c.post, c.vars = post, outer }()
	set := post.Assignments[slices.IndexFunc(post.Assignments, func(set *logic.Assignment) bool { return set.Symbol == table.symbol })]
	where, first := c.terms(set.Where), c.used
	for _, v := range set.Vars {
		c.bind(v.Name)
	}
	value := c.term(set.Value)
	return func(m *machine) int {
		here := true
		for k, a := range args {
			values[k] = a(m)
			if set.Where != nil {
				here = here && where[k](m) == values[k]
			}
		}
		if here {
			copy(m.vars[first:], values[:len(set.Vars)])
			return value(m)
		}
		if at := table.index(values); at >= 0 {
			return m.read(place, at)
		}
		return 0
	}
}
