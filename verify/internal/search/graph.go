package search

import (
	"fmt"
	"math"
	"slices"

	"ringleader.example/ringleader/election"
	"ringleader.example/ringleader/verify/internal/model"
)

// graph is the explored graph without the configurations: states are numbered in the order in which they were found,
// so that a smaller number is never further from the beginning.
type graph struct {
	roots   int        // states 0 … roots-1 are beginnings
	edges   [][]edge   // of 2^16 states each, since growing one list would copy it
	first   []uint32   // the index of a state's edges in their list
	actions [][]uint16 // of the edges, if termination is judged
	costs   []model.Cost
	numbers map[model.Cost]uint16 // of costs
	settled []bool                // of a service: whether all agree
}

const chunk = 1 << 16

type edge struct {
	to    uint32
	cost  uint16
	class model.Class
}

// number returns the number of a cost.
func (g *graph) number(c model.Cost) uint16 {
	number, found := g.numbers[c]
	if !found {
		if g.numbers == nil {
			g.numbers = map[model.Cost]uint16{}
		}
		number = uint16(len(g.costs))
		g.costs, g.numbers[c] = append(g.costs, c), number
	}
	return number
}

// open begins the edges of the next state.
func (g *graph) open() {
	if len(g.first)%chunk == 0 {
		g.edges = append(g.edges, nil)
	}
	g.first = append(g.first, uint32(len(g.edges[len(g.edges)-1])))
}

// add adds an edge to the state that was opened last.
func (g *graph) add(e edge) {
	last := &g.edges[len(g.edges)-1]
	*last = append(*last, e)
}

// from returns the edges of a state.
func (g *graph) from(state uint32) []edge {
	edges, next := g.edges[state/chunk], int(state)+1
	if next%chunk == 0 || next == len(g.first) {
		return edges[g.first[state]:]
	}
	return edges[g.first[state]:g.first[next]]
}

// way returns a shortest path to a state from one of the roots.
func (g *graph) way(to uint32) (root int, path []int) {
	from := make([]uint32, g.roots)
	for r := range from {
		from[r] = uint32(r)
	}
	if int(to) < g.roots {
		return int(to), nil
	}
	path, state := g.path(from, func(uint32, edge) bool { return true }, func(s uint32) bool { return s == to })
	return int(state), path
}

// path returns a shortest path of at least one edge, from one of some states to any goal, over allowed edges: the
// index of the edge at each state, and the state where it begins.
func (g *graph) path(from []uint32, allowed func(uint32, edge) bool, goal func(uint32) bool) (path []int, begin uint32) {
	type step struct {
		from uint32
		edge int
	}
	came := map[uint32]step{}
	begins := map[uint32]bool{}
	for _, s := range from {
		begins[s] = true
	}
	back := func(s step) ([]int, uint32) {
		path := []int{s.edge}
		for !begins[s.from] {
			s = came[s.from]
			path = append(path, s.edge)
		}
		slices.Reverse(path)
		return path, s.from
	}
	for queue := from; len(queue) > 0; queue = queue[1:] {
		s := queue[0]
		for i, e := range g.from(s) {
			if !allowed(s, e) {
				continue
			}
			if goal(e.to) {
				return back(step{s, i})
			}
			if _, seen := came[e.to]; !seen && !begins[e.to] {
				came[e.to] = step{s, i}
				queue = append(queue, e.to)
			}
		}
	}
	panic("verify: there is no such path")
}

// components holds the strongly connected components without faults, those without outgoing edges first: the
// component of each state, and the states by component.
type components struct {
	of     []uint32
	states []uint32
	begin  []int // of each component in states
}

// Components finds the components by Tarjan's algorithm, without recursion.
func (g *graph) Components() *components {
	n := len(g.first)
	const none = math.MaxUint32
	c := &components{of: make([]uint32, n)}
	for s := range c.of {
		c.of[s] = none
	}
	index, low, last := make([]uint32, n), make([]uint32, n), uint32(0) // index 0: not seen
	var stack []uint32
	type frame struct {
		state uint32
		edge  int
	}
	var calls []frame
	enter := func(s uint32) {
		last++
		index[s], low[s] = last, last
		stack, calls = append(stack, s), append(calls, frame{state: s})
	}
	for root := range uint32(n) {
		if index[root] == 0 {
			enter(root)
		}
		for len(calls) > 0 {
			f := &calls[len(calls)-1]
			s, edges := f.state, g.from(f.state)
			if f.edge < len(edges) {
				e := edges[f.edge]
				f.edge++
				switch {
				case e.class == model.ByFault:
				case index[e.to] == 0:
					enter(e.to)
				case c.of[e.to] == none:
					low[s] = min(low[s], index[e.to])
				}
				continue
			}
			calls = calls[:len(calls)-1]
			if len(calls) > 0 {
				up := calls[len(calls)-1].state
				low[up] = min(low[up], low[s])
			}
			if low[s] != index[s] {
				continue
			}
			c.begin = append(c.begin, len(c.states))
			for {
				top := stack[len(stack)-1]
				stack = stack[:len(stack)-1]
				c.of[top] = uint32(len(c.begin) - 1)
				c.states = append(c.states, top)
				if top == s {
					break
				}
			}
		}
	}
	return c
}

func (c *components) members(component int) []uint32 {
	if component+1 == len(c.begin) {
		return c.states[c.begin[component]:]
	}
	return c.states[c.begin[component]:c.begin[component+1]]
}

// kind reports whether a run may stay in a component for ever, or end there, and whether it has a cycle.
func (g *graph) kind(c *components, component int) (last, cyclic bool) {
	last = true
	for _, s := range c.members(component) {
		for _, e := range g.from(s) {
			inside := c.of[e.to] == uint32(component)
			cyclic = cyclic || inside && e.class != model.ByFault
			last = last && (inside || e.class != model.Due)
		}
	}
	return last, cyclic
}

const endless = math.MaxUint64

// Extremes returns, for each state, the least and the greatest quantity of the runs from there on.
func (g *graph) Extremes(c *components, m Measure) (least, most []election.Ticks) {
	least, most = make([]election.Ticks, len(g.first)), make([]election.Ticks, len(g.first))
	for component := range c.begin {
		last, cyclic := g.kind(c, component)
		members := c.members(component)
		if !last || g.recurs(c, m, members) {
			for _, s := range members {
				least[s] = election.Forever
			}
		}
		for g.improve(c, m, members, least, most) && cyclic {
		}
	}
	return least, most
}

// recurs reports whether a run that stays in a component has no value of a quantity.
func (g *graph) recurs(c *components, m Measure, members []uint32) bool {
	return slices.ContainsFunc(members, func(s uint32) bool {
		return slices.ContainsFunc(g.from(s), func(e edge) bool {
			return e.class != model.ByFault && c.of[e.to] == c.of[s] && m.recurs(g.costs[e.cost])
		})
	})
}

// improve brings the states of one component closer to their extremes, and reports whether it did.
func (g *graph) improve(c *components, m Measure, members []uint32, least, most []election.Ticks) bool {
	improved := false
	for _, s := range members {
		few, many := least[s], most[s]
		for _, e := range g.from(s) {
			if e.class == model.ByFault {
				continue
			}
			by := g.costs[e.cost]
			if value := m.before(by, least[e.to]); value.Less(few) {
				few = value
			}
			value := m.before(by, most[e.to])
			if c.of[e.to] == c.of[s] && value.Less(m.before(by, value)) { // each round adds to it
				value = election.Forever
			}
			if many.Less(value) {
				many = value
			}
		}
		if few != least[s] || many != most[s] {
			least[s], most[s], improved = few, many, true
		}
	}
	return improved
}

// Overall returns the extremes of all beginnings.
func (g *graph) Overall(least, most []election.Ticks) (few, many election.Ticks) {
	return slices.MinFunc(least[:g.roots], election.Ticks.Compare), slices.MaxFunc(most[:g.roots], election.Ticks.Compare)
}

// countOf returns a number of messages; endless without bound.
func countOf(messages election.Ticks) uint64 {
	if messages == election.Forever {
		return endless
	}
	return messages.Lo
}

// TicksOf is the inverse of countOf.
func TicksOf(messages uint64) election.Ticks {
	if messages == endless {
		return election.Forever
	}
	return election.Units(messages)
}

// judge searches for violations that only the whole graph shows, and adds the extremes of this search.
func (x *Search) judge(extremes *Ranges) *model.Finding {
	g := &x.graph
	parts := g.Components()
	if !x.Options.SafetyOnly && x.Options.Prefix == nil {
		if f := g.endless(parts); f != nil {
			return f
		}
	}
	for i, of := range model.CostNames {
		least, most := g.Extremes(parts, Counted(of))
		few, many := g.Overall(least, most)
		extremes.add(i, countOf(few), countOf(many))
		switch breach, greatest := x.wrong(of, countOf(few), countOf(many)); {
		case breach == nil:
		case greatest:
			return g.shows(breach, of, most, many)
		default:
			return g.shows(breach, of, least, few)
		}
	}
	return nil
}

// wrong returns what is declared wrongly of the number of messages of one of model.CostNames, or nil, and whether a run with the greatest number shows it,
// or one with the least.
func (x *Search) wrong(of string, few, many uint64) (breach *model.Breach, greatest bool) {
	d, n := x.workers[0].Declaration, x.workers[0].N
	if b := x.Options.broken(d, n, of, few, many); b != nil {
		if b.Case == election.Worst {
			return exceeds(b, uint64(n), TicksOf(many)), true
		}
		return exceeds(b, uint64(n), TicksOf(few)), false
	}
	random := slices.ContainsFunc(x.workers, func(w *worker) bool { return w.Random })
	if few == many || random || !x.Options.Fixed(d) {
		return nil, false
	}
	if x.workers[0].Unclaimed(&model.Global{}, election.Units(uint64(x.Options.Delay))) != nil { // links without order, or slow ones, void the claim
		return nil, false
	}
	return &model.Breach{Property: model.CountsVary, Detail: fmt.Sprintf("%s %s messages, and %d under another schedule; the counts are declared to be %s", TicksOf(many), of, few, d.Counts)}, true
}

// Fixed reports whether the algorithm declares that all explored runs without faults have equally many messages of each kind, if it makes no random choices.
// Where the schedule determines which processes initiate, it declares nothing.
func (o *Options) Fixed(d *election.Declaration) bool {
	switch {
	case o.Prefix != nil || o.SafetyOnly || d.Task != election.Once && len(o.Initiators) != 1:
		return false
	case o.Initiators != nil && d.Starts != election.AllStart:
		return d.Counts >= election.CountsStartFirst
	case o.Initiators == nil && o.Starts == model.AllFirst:
		return d.Counts >= election.CountsAllFirst
	case d.Starts == election.AllStart && o.Starts != model.EverySet, o.Initiators == nil && o.Starts == model.Each:
		return d.Counts == election.CountsFixed
	}
	return false
}

// broken returns the first bound that the extremes of n processes break, or nil. Bounds apply to distinct identifiers,
// one election, and whole runs.
func (o *Options) broken(d *election.Declaration, n int, of string, few, many uint64) *election.Bound {
	if o.Prefix != nil || o.Setup.Duplicates || d.Task != election.Once && len(o.Initiators) != 1 {
		return nil
	}
	for _, b := range d.Bounds {
		if b.Of != of || b.Value == nil || b.OneStart && len(o.Initiators) != 1 {
			continue
		}
		bound := b.Value(uint64(n))
		if b.Case == election.Worst && many > bound || b.Case == election.Best && few < bound {
			return &b
		}
	}
	return nil
}

// shows returns a run with an extreme of one of model.CostNames, up to the last of these messages, for what that breaches.
func (g *graph) shows(breach *model.Breach, of string, costs []election.Ticks, extreme election.Ticks) *model.Finding {
	f := &model.Finding{Breach: *breach}
	var from []uint32
	for root := range g.roots {
		if costs[root] == extreme {
			from = append(from, uint32(root))
		}
	}
	if extreme.IsZero() || extreme == election.Forever {
		f.Root = int(from[0])
		return f
	}
	path, root := g.path(from, func(s uint32, e edge) bool {
		return e.class != model.ByFault && Counted(of).before(g.costs[e.cost], costs[e.to]) == costs[s]
	}, func(s uint32) bool { return costs[s].IsZero() })
	f.Root, f.Path = int(root), path
	return f
}

// exceeds returns the breach of a bound of n processes by so many messages.
func exceeds(b *election.Bound, n uint64, messages election.Ticks) *model.Breach {
	f := &model.Breach{Property: model.BoundBroken, Detail: fmt.Sprintf("%s %s messages; the bound, in the %s case, is %s = %d",
		messages, b.Of, b.Case, b.Formula, b.Value(n))}
	if messages == election.Forever {
		f.Detail = fmt.Sprintf("%s messages without end; the bound, in the %s case, is %s = %d", b.Of, b.Case, b.Formula, b.Value(n))
	}
	return f
}

// Ranges holds the least and the greatest numbers of messages of runs, in the order of costNames.
type Ranges struct {
	Seen      bool // of some run
	Unknown   bool // they are not known
	Unbounded bool // a greatest number is
	Min, Max  [model.Costs]uint64
}

// add adds the extremes of one of the numbers. The last one completes those of a run.
func (r *Ranges) add(i int, few, many uint64) {
	if !r.Seen {
		r.Min[i] = endless
		r.Seen = i == model.Costs-1
	}
	r.Min[i], r.Max[i] = min(r.Min[i], few), max(r.Max[i], many)
	r.Unbounded = r.Unbounded || many == endless
}
