package search

import (
	"fmt"
	"math"
	"slices"

	"ringleader.example/ringleader/verify/internal/model"
)

// Termination under weak fairness. A run is fair if no action is enabled for ever, from some time on, and never taken. An
// action is the delivery on a link, or of a message where messages may overtake each other; a timer; a start, a suspicion, a
// recovery that is owed, and whatever else must happen.
//
// An endless run stays, from some time on, in a set of states, all of which it visits again and again. Where an
// action chooses at random, all its outcomes come sooner or later, so none may lead out of the set: the set is an end component.
// It is fair if each action that is enabled in all of its states is taken inside. If a set is fair then so is each larger end
// component, so it is enough to look at the largest ones.

// act notes the action of the edge that was added last.
func (g *graph) act(action uint16) {
	if len(g.actions) < len(g.edges) {
		g.actions = append(g.actions, nil)
	}
	last := &g.actions[len(g.actions)-1]
	*last = append(*last, action)
}

// actionsOf returns the actions of the edges of a state.
func (g *graph) actionsOf(state uint32) []uint16 {
	if int(state/chunk) >= len(g.actions) {
		return nil // nor has the state edges
	}
	first := g.first[state]
	return g.actions[state/chunk][first : int(first)+len(g.from(state))]
}

// usable reports of each edge of a state whether a run that stays in a set may take it: it is no fault, and all outcomes of its
// action stay inside.
func (g *graph) usable(state uint32, inside func(uint32) bool) []bool {
	edges, actions := g.from(state), g.actionsOf(state)
	may := make([]bool, len(edges))
	for i, e := range edges {
		may[i] = e.class != model.ByFault
		for j, other := range edges {
			if actions[j] == actions[i] && other.class != model.ByFault && !inside(other.to) {
				may[i] = false
			}
		}
	}
	return may
}

// among returns the test for being one of some states.
func among(states []uint32) func(uint32) bool {
	if len(states) == 1 {
		return func(s uint32) bool { return s == states[0] }
	}
	sorted := slices.Sorted(slices.Values(states))
	return func(s uint32) bool {
		_, found := slices.BinarySearch(sorted, s)
		return found
	}
}

// endComponents returns the largest end components among some states, those with a cycle.
func (g *graph) endComponents(states []uint32) (all [][]uint32) {
	inside, number := among(states), map[uint32]uint32{}
	for i, s := range states {
		number[s] = uint32(i)
	}
	sub := &graph{}
	cyclic := false
	for _, s := range states {
		sub.open()
		for i, may := range g.usable(s, inside) {
			if may {
				sub.add(edge{to: number[g.from(s)[i].to]})
				cyclic = true
			}
		}
	}
	parts := sub.Components()
	if len(parts.begin) == 1 {
		if cyclic {
			all = append(all, states)
		}
		return all
	}
	for part := range parts.begin {
		var smaller []uint32
		for _, i := range parts.members(part) {
			smaller = append(smaller, states[i])
		}
		all = append(all, g.endComponents(smaller)...)
	}
	return all
}

// fair reports whether each action that is enabled in all states of an end component is taken inside.
func (g *graph) fair(states []uint32) bool {
	inside := among(states)
	enabled, taken := map[uint16]int{}, map[uint16]bool{} // in how many states, and whether inside
	for _, s := range states {
		actions, here := g.actionsOf(s), map[uint16]bool{}
		for i, may := range g.usable(s, inside) {
			if action := actions[i]; g.from(s)[i].class == model.Due && !here[action] {
				here[action] = true
				enabled[action]++
			}
			taken[actions[i]] = taken[actions[i]] || may
		}
	}
	for _, action := range g.actionsOf(states[0]) {
		if enabled[action] == len(states) && (!taken[action] || action == model.MaxActions) {
			return false
		}
	}
	return true
}

// endless finds an endless run in which an election does not end. A service may go round for ever, for example
// to renew a lease, while all agree.
func (g *graph) endless(c *components) *model.Finding {
	at, where := uint32(math.MaxUint32), []uint32(nil)
	bad := func(s uint32) bool { return g.settled == nil || !g.settled[s] }
	for component := range c.begin {
		members := c.members(component)
		if _, cyclic := g.kind(c, component); !cyclic || !slices.ContainsFunc(members, bad) {
			continue
		}
		for _, states := range g.endComponents(members) {
			if slices.ContainsFunc(states, bad) && g.fair(states) {
				for _, s := range states {
					if bad(s) && s < at {
						at, where = s, states
					}
				}
			}
		}
	}
	if where == nil {
		return nil
	}
	root, path := g.way(at)
	round := g.round(where, at)
	return &model.Finding{Breach: model.Breach{Property: model.NeverEnds}, Root: root, Path: append(path, round...), Round: len(round)}
}

// round returns a way from a state back to it, inside an end component, on which each action is taken or, somewhere, not enabled.
func (g *graph) round(states []uint32, at uint32) (path []int) {
	inside, here := among(states), at
	var done []uint16 // actions taken, or seen not to be enabled
	take := func(s uint32, i int) {
		path, done, here = append(path, i), append(done, g.actionsOf(s)[i]), g.from(s)[i].to
	}
	enabled := func(s uint32, action uint16) bool {
		for i, e := range g.from(s) {
			if e.class == model.Due && g.actionsOf(s)[i] == action {
				return true
			}
		}
		return false
	}
	taking := func(s uint32, action uint16) int {
		for i, may := range g.usable(s, inside) {
			if may && g.actionsOf(s)[i] == action {
				return i
			}
		}
		return -1
	}
	for i, e := range g.from(at) {
		action := g.actionsOf(at)[i]
		if e.class != model.Due || slices.Contains(done, action) {
			continue
		}
		for _, step := range g.inside(inside, here, func(s uint32) bool { return !enabled(s, action) || taking(s, action) >= 0 }) {
			take(here, step)
		}
		if step := taking(here, action); step >= 0 && !slices.Contains(done, action) {
			take(here, step)
		}
	}
	if len(path) == 0 { // no action must be taken here
		take(at, slices.Index(g.usable(at, inside), true))
	}
	for _, step := range g.inside(inside, here, func(s uint32) bool { return s == at }) {
		take(here, step)
	}
	return path
}

// inside returns a shortest path from a state to a goal, which may be that state, in an end component.
func (g *graph) inside(states func(uint32) bool, from uint32, goal func(uint32) bool) (path []int) {
	if goal(from) {
		return nil
	}
	type step struct {
		from uint32
		edge int
	}
	came := map[uint32]step{}
	for queue := []uint32{from}; len(queue) > 0; queue = queue[1:] {
		for i, may := range g.usable(queue[0], states) {
			to := g.from(queue[0])[i].to
			if _, seen := came[to]; !may || seen {
				continue
			}
			came[to] = step{queue[0], i}
			if !goal(to) {
				queue = append(queue, to)
				continue
			}
			for s := to; len(path) == 0 || s != from; s = came[s].from {
				path = append(path, came[s].edge)
			}
			slices.Reverse(path)
			return path
		}
	}
	panic(fmt.Sprintf("verify: an end component in which %d leads nowhere", from))
}
