package search

import (
	"math/rand/v2"
	"slices"
	"testing"

	"ringleader.example/ringleader/election"
	"ringleader.example/ringleader/verify/internal/model"
)

// edges are the edges of one state of a small graph.
type edges []edge

// graphOf returns a graph with these edges of each state, and weights of 0, 1, 2 … election and half as many
// announcements.
func graphOf(roots int, states ...edges) *graph {
	g := &graph{roots: roots}
	for weight := range uint64(8) {
		g.costs = append(g.costs, model.Cost{Election: weight, Announcement: weight / 2})
	}
	for _, list := range states {
		g.open()
		for i, e := range list {
			g.add(e)
			g.act(uint16(i))
		}
	}
	return g
}

func randomGraph(rnd *rand.Rand) *graph {
	states := make([]edges, 1+rnd.IntN(8))
	for s := range states {
		for range rnd.IntN(3) {
			states[s] = append(states[s], edge{uint32(rnd.IntN(len(states))), uint16(max(0, rnd.IntN(7)-3)), []model.Class{model.Due, model.Due, model.Due, model.Free, model.ByFault}[rnd.IntN(5)]})
		}
	}
	return graphOf(1+rnd.IntN(len(states)), states...)
}

// every visits all edges of a graph.
func every(g *graph, visit func(from uint32, ordinal int, e edge)) {
	for s := range uint32(len(g.first)) {
		for i, e := range g.from(s) {
			visit(s, i, e)
		}
	}
}

// leads returns the pairs of states of which the second can be reached from the first without a fault, in at least
// one step.
func leads(g *graph) map[[2]uint32]bool {
	reach := map[[2]uint32]bool{}
	every(g, func(s uint32, _ int, e edge) {
		if e.class != model.ByFault {
			reach[[2]uint32{s, e.to}] = true
		}
	})
	n := uint32(len(g.first))
	for via := range n {
		for a := range n {
			for b := range n {
				if reach[[2]uint32{a, via}] && reach[[2]uint32{via, b}] {
					reach[[2]uint32{a, b}] = true
				}
			}
		}
	}
	return reach
}

// mayStay returns for each state whether a run may stay among the states that lead back to it.
func mayStay(g *graph, reach map[[2]uint32]bool) map[uint32]bool {
	stays := map[uint32]bool{}
	together := func(s, t uint32) bool { return s == t || reach[[2]uint32{s, t}] && reach[[2]uint32{t, s}] }
	for s := range uint32(len(g.first)) {
		stays[s] = true
		every(g, func(from uint32, _ int, e edge) {
			if together(s, from) && !together(s, e.to) && e.class == model.Due {
				stays[s] = false
			}
		})
	}
	return stays
}

// forRandomGraphs tries many small graphs; reach and stays are computed by their definitions.
func forRandomGraphs(try func(rnd *rand.Rand, g *graph, reach map[[2]uint32]bool, stays map[uint32]bool)) {
	rnd := rand.New(rand.NewPCG(1, 2))
	for range 1500 {
		g := randomGraph(rnd)
		reach := leads(g)
		try(rnd, g, reach, mayStay(g, reach))
	}
}

func TestComponentsAreStatesThatLeadToEachOther(t *testing.T) {
	forRandomGraphs(func(_ *rand.Rand, g *graph, reach map[[2]uint32]bool, stays map[uint32]bool) {
		parts := g.Components()
		for a := range uint32(len(g.first)) {
			for b := range uint32(len(g.first)) {
				to, back := reach[[2]uint32{a, b}], reach[[2]uint32{b, a}]
				if (a == b || to && back) != (parts.of[a] == parts.of[b]) {
					t.Fatalf("%v: states %d and %d", g.edges, a, b)
				}
				if to && parts.of[b] > parts.of[a] {
					t.Fatalf("%v: the component of %d comes before that of %d, to which it leads", g.edges, a, b)
				}
			}
			last, cyclic := g.kind(parts, int(parts.of[a]))
			if last != stays[a] || cyclic != reach[[2]uint32{a, a}] {
				t.Fatalf("%v: state %d: last %v, cyclic %v", g.edges, a, last, cyclic)
			}
		}
	})
}

func TestExtremesAreThoseOfAllRuns(t *testing.T) {
	limits := map[string]int{}
	forRandomGraphs(func(_ *rand.Rand, g *graph, reach map[[2]uint32]bool, stays map[uint32]bool) {
		for _, of := range []string{"total", "election", "announcement"} {
			least, most := g.Extremes(g.Components(), Counted(of))
			wantLeast, wantMost := byHand(g, of, reach, stays)
			if !slices.EqualFunc(least, wantLeast, counts) || !slices.EqualFunc(most, wantMost, counts) {
				t.Fatalf("%v: from %v to %v %s messages; want from %v to %v", g.edges, least, most, of, wantLeast, wantMost)
			}
			if most[0] == election.Forever {
				limits["none"]++
			} else if !most[0].IsZero() {
				limits["some"]++
			}
			few, many := g.Overall(least, most)
			breaking(t, g, of, least, few)
			breaking(t, g, of, most, many)
		}
	})
	if limits["none"] < 100 || limits["some"] < 100 {
		t.Errorf("too few graphs are interesting: %v", limits)
	}
}

// fairly reports, by definition, whether a fair run may visit exactly these states for ever.
func fairly(g *graph, states []uint32) bool {
	inside := func(s uint32) bool { return slices.Contains(states, s) }
	reach, count, taken := map[[2]uint32]bool{}, map[uint16]int{}, map[uint16]bool{}
	for _, s := range states {
		for action := range uint16(4) {
			stays, enabled, some := true, false, false
			for i, e := range g.from(s) {
				if g.actionsOf(s)[i] == action && e.class != model.ByFault {
					stays, enabled, some = stays && inside(e.to), enabled || e.class == model.Due, true
				}
			}
			if enabled {
				count[action]++
			}
			if !some || !stays {
				continue
			}
			taken[action] = true
			for i, e := range g.from(s) {
				if g.actionsOf(s)[i] == action && e.class != model.ByFault {
					reach[[2]uint32{s, e.to}] = true
				}
			}
		}
	}
	return connected(states, reach) && !slices.ContainsFunc([]uint16{0, 1, 2, 3}, func(action uint16) bool {
		return count[action] == len(states) && !taken[action]
	})
}

// connected reports whether each of some states leads to each, over some of these steps.
func connected(states []uint32, steps map[[2]uint32]bool) bool {
	for _, via := range states {
		for _, a := range states {
			for _, b := range states {
				if steps[[2]uint32{a, via}] && steps[[2]uint32{via, b}] {
					steps[[2]uint32{a, b}] = true
				}
			}
		}
	}
	for _, a := range states {
		for _, b := range states {
			if !steps[[2]uint32{a, b}] {
				return false
			}
		}
	}
	return true
}

// A run that never ends is fair, and goes round in an end component. For a service, it is wrong only if a state there is not
// settled.
func TestARunThatNeverEndsIsAFairRound(t *testing.T) {
	found := map[bool]int{}
	rnd := rand.New(rand.NewPCG(3, 4))
	for range 3000 {
		g := randomGraph(rnd)
		g.actions = nil
		every(g, func(_ uint32, _ int, e edge) { g.act(uint16(rnd.IntN(4))) })
		n := len(g.first)
		if rnd.IntN(2) == 0 {
			for range n {
				g.settled = append(g.settled, rnd.IntN(3) > 0)
			}
		}
		want := -1
		for set := 1; set < 1<<n; set++ {
			var states []uint32
			for s := range n {
				if set>>s&1 == 1 {
					states = append(states, uint32(s))
				}
			}
			if !fairly(g, states) {
				continue
			}
			for _, s := range states {
				if (g.settled == nil || !g.settled[s]) && (want < 0 || int(s) < want) {
					want = int(s)
				}
			}
		}
		if want >= 0 && !reachable(g, want) {
			continue
		}
		f := g.endless(g.Components())
		if (f != nil) != (want >= 0) {
			t.Fatalf("%v, actions %v: %v; want a round at %d", g.edges, g.actions, f, want)
		}
		if found[f != nil]++; f != nil {
			roundAt(t, g, f, uint32(want))
		}
	}
	if found[true] < 300 || found[false] < 300 {
		t.Errorf("with and without a round: %v", found)
	}
}

// roundAt checks a run that reaches a state, and then returns to it, without a fault and in a fair way.
func roundAt(t *testing.T, g *graph, f *model.Finding, want uint32) {
	t.Helper()
	at, states, taken := uint32(f.Root), []uint32{}, map[uint16]bool{}
	for i, ordinal := range f.Path {
		e := g.from(at)[ordinal]
		if i >= len(f.Path)-f.Round {
			states, taken[g.actionsOf(at)[ordinal]] = append(states, at), true
			if e.class == model.ByFault {
				t.Fatalf("%v: a fault in the round of %v", g.edges, f)
			}
		}
		at = e.to
	}
	if f.Root >= g.roots || f.Round < 1 || states[0] != want || at != want {
		t.Fatalf("%v: %v is no round at %d", g.edges, f, want)
	}
	for action := range uint16(4) {
		everywhere := true
		for _, s := range states {
			enabled := false
			for i, e := range g.from(s) {
				enabled = enabled || e.class == model.Due && g.actionsOf(s)[i] == action
			}
			everywhere = everywhere && enabled
		}
		if everywhere && !taken[action] {
			t.Fatalf("%v, actions %v: action %d waits for ever in the round of %v", g.edges, g.actions, action, f)
		}
	}
}

// The time of the last mark is that of the longest and of the shortest run, found by trying all up to a length. A run that stays
// where marks come again and again has none.
func TestTimesAreThoseOfAllRuns(t *testing.T) {
	limits := map[string]int{}
	forRandomGraphs(func(_ *rand.Rand, g *graph, reach map[[2]uint32]bool, stays map[uint32]bool) {
		g.costs = []model.Cost{{}, {Marks: model.Elects | model.Arrives}, {Time: election.Units(1)}, {Time: election.Units(5), Marks: model.Decides}}
		least, most := g.Extremes(g.Components(), Moment(model.Elects))
		n := len(g.first)
		every(g, func(s uint32, _ int, e edge) {
			if e.class == model.ByFault || e.cost != 1 || s != e.to && !reach[[2]uint32{e.to, s}] {
				return
			}
			for other := range uint32(n) {
				if other == s || reach[[2]uint32{s, other}] && reach[[2]uint32{other, s}] {
					stays[other] = false
				}
			}
		})
		few, many, longer := lasting(g, stays, 4*n), lasting(g, nil, 4*n), lasting(g, nil, 8*n)
		for s := range n {
			want := [2]election.Ticks{election.Forever, Moment(model.Elects).Value(election.Units(uint64(max(0, many[s]))))}
			if few[s] >= 0 {
				want[0] = Moment(model.Elects).Value(election.Units(uint64(few[s])))
			}
			if longer[s] > many[s] {
				want[1] = election.Forever
			}
			if got := [2]election.Ticks{Moment(model.Elects).Value(least[s]), Moment(model.Elects).Value(most[s])}; got != want {
				t.Fatalf("%v: state %d has times %v; want %v", g.edges, s, got, want)
			}
			limits[map[bool]string{true: "none", false: "some"}[want[1] == election.Forever]]++
		}
	})
	if limits["none"] < 100 || limits["some"] < 100 {
		t.Errorf("too few graphs are interesting: %v", limits)
	}
}

// lasting returns, by state, 1 more than the time of the last election mark of the runs of so many transitions that end where runs may rest, 0 if
// they have none: of the shortest one, or, if runs may rest anywhere, of the longest. -1: there is no such run.
func lasting(g *graph, rests map[uint32]bool, length int) []int {
	times := make([]int, len(g.first))
	for s := range times {
		if rests != nil && !rests[uint32(s)] {
			times[s] = -1
		}
	}
	for range length {
		next := slices.Clone(times)
		every(g, func(s uint32, _ int, e edge) {
			after := times[e.to]
			switch {
			case e.class == model.ByFault || after < 0:
				return
			case after == 0 && e.cost == 1:
				after = 1
			case after > 0:
				after += int(g.costs[e.cost].Time.Lo)
			}
			if rests == nil {
				next[s] = max(next[s], after)
			} else if next[s] < 0 || after < next[s] {
				next[s] = after
			}
		})
		times = next
	}
	return times
}

// counts reports whether an extreme is a number of messages.
func counts(extreme election.Ticks, messages uint64) bool { return extreme == TicksOf(messages) }

// breaking checks a run whose cost violates a bound: it begins at a beginning, and ends when it has sent that many
// messages.
func breaking(t *testing.T, g *graph, of string, costs []election.Ticks, extreme election.Ticks) {
	t.Helper()
	f := g.shows(&model.Breach{}, of, costs, extreme)
	if f.Root >= g.roots || costs[f.Root] != extreme || len(f.Path) > 0 && (extreme.IsZero() || extreme == election.Forever) {
		t.Fatalf("%v: it begins at %d, and goes %v", g.edges, f.Root, f.Path)
	}
	if extreme == election.Forever {
		return
	}
	at, sent := uint32(f.Root), uint64(0)
	for _, ordinal := range f.Path {
		e := g.from(at)[ordinal]
		if e.class == model.ByFault || sent == extreme.Lo {
			t.Fatalf("%v: %d transitions to %s %s messages, of which one is a fault, or too many", g.edges, len(f.Path), extreme, of)
		}
		at, sent = e.to, sent+g.costs[e.cost].Of(of)
	}
	if sent != extreme.Lo {
		t.Fatalf("%v: %d %s messages are sent; want %s", g.edges, sent, of, extreme)
	}
}

// reachable reports whether a state is a beginning or can be reached from one.
func reachable(g *graph, state int) bool {
	seen := map[uint32]bool{}
	var visit func(s uint32)
	visit = func(s uint32) {
		if !seen[s] {
			seen[s] = true
			for _, e := range g.from(s) {
				visit(e.to)
			}
		}
	}
	for root := range g.roots {
		visit(uint32(root))
	}
	return seen[uint32(state)]
}

// byHand computes extremes by going step after step, as often as there are states.
func byHand(g *graph, of string, reach map[[2]uint32]bool, stays map[uint32]bool) (least, most []uint64) {
	n := len(g.first)
	least, most = make([]uint64, n), make([]uint64, n)
	for s := range uint32(n) {
		if !stays[s] {
			least[s] = endless
		}
	}
	costly := map[uint32]bool{} // there is a cycle with a cost
	every(g, func(s uint32, _ int, e edge) {
		if e.class != model.ByFault && g.costs[e.cost].Of(of) > 0 && (e.to == s || reach[[2]uint32{e.to, s}]) {
			costly[s] = true
		}
	})
	for range n * n {
		every(g, func(s uint32, _ int, e edge) {
			if e.class == model.ByFault {
				return
			}
			weight := g.costs[e.cost].Of(of)
			if least[e.to] != endless {
				least[s] = min(least[s], weight+least[e.to])
			}
			if most[e.to] != endless {
				most[s] = max(most[s], weight+most[e.to])
			}
		})
		for s := range uint32(n) {
			for c := range costly {
				if s == c || reach[[2]uint32{s, c}] {
					most[s] = endless
				}
			}
		}
	}
	return least, most
}

func TestWaysAreShortest(t *testing.T) {
	rnd := rand.New(rand.NewPCG(3, 4))
	for range 1000 {
		g := randomGraph(rnd)
		distance := map[uint32]int{}
		for root := range g.roots {
			distance[uint32(root)] = 0
		}
		for range g.first {
			every(g, func(s uint32, _ int, e edge) {
				if from, ok := distance[s]; ok {
					if to, ok := distance[e.to]; !ok || from+1 < to {
						distance[e.to] = from + 1
					}
				}
			})
		}
		for to, length := range distance {
			root, path := g.way(to)
			at := uint32(root)
			for _, ordinal := range path {
				at = g.from(at)[ordinal].to
			}
			if root >= g.roots || at != to || len(path) != length {
				t.Fatalf("%v: the way to %d is %v from %d; its length is %d", g.edges, to, path, root, length)
			}
		}
	}
}

func TestEdgesBelongToTheirStatesAcrossChunks(t *testing.T) {
	g := &graph{}
	count := func(s uint32) uint32 { return s % 3 }
	for s := range uint32(2*chunk + 5) {
		g.open()
		for range count(s) {
			g.add(edge{to: s})
		}
	}
	for _, s := range []uint32{0, 1, 2, chunk - 2, chunk - 1, chunk, chunk + 1, chunk + 2, 2*chunk - 1, 2 * chunk, 2*chunk + 1, 2*chunk + 4} {
		list := g.from(s)
		if uint32(len(list)) != count(s) || slices.ContainsFunc(list, func(e edge) bool { return e.to != s }) {
			t.Errorf("the edges of state %d are %v", s, list)
		}
	}
	if len(g.edges) != 3 {
		t.Errorf("%d lists for %d states", len(g.edges), len(g.first))
	}
}
