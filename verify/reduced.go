package verify

import (
	"slices"

	"ringleader.example/ringleader/network"
)

// decide explores one schedule of an instance, and reports whether that was enough.
func (l *searcher) decide(instance network.Setup) (v verdict, enough bool, err error) {
	if l.runner == nil {
		l.runner = newRunner(l.program)
	}
	r := l.runner
	if err := r.on(instance); err != nil {
		return v, false, err
	}
	if !r.run(r.network.Right(r.network.Willing)) {
		return v, false, nil
	}
	for i, of := range costNames {
		if l.o.broken(r.network.Declaration(), r.network.Size(), of, r.costs[i], r.costs[i]) != nil {
			return v, false, nil
		}
		v.extremes.add(i, r.costs[i], r.costs[i])
	}
	v.result = result{states: r.steps + 1, transitions: r.steps, finals: 1, depth: r.steps, complete: true, bits: 128, confluent: 1}
	v.seen = 1 << sawLeader
	l.result = v.result
	return v, true, nil
}

// decideCauses explores one schedule of the instance of the workers, and reports whether that was enough.
func (l *searcher) decideCauses(v *verdict) bool {
	c := l.workers[0].checker
	if l.causes == nil || l.causes.checker != c {
		l.causes = &causes{checker: c}
	}
	k := l.causes
	r := result{complete: true, bits: 128, confluent: 1}
	var extremes ranges
	for _, beginning := range c.beginnings() {
		if !k.decides(beginning) {
			return false
		}
		for i, of := range costNames {
			count := k.cost.all()[i]
			if l.o.broken(c.d, c.n, of, count, count) != nil {
				return false
			}
			extremes.add(i, count, count)
		}
		r.states, r.transitions, r.finals, r.depth = r.states+k.steps+1, r.transitions+k.steps, r.finals+1, max(r.depth, k.steps)
	}
	v.result, v.extremes, v.seen = r, extremes, 1<<sawLeader
	l.result = r
	return true
}

// searchPartly explores the instance of the workers with partial order and symmetry, and reports whether that was enough. Links
// are taken to be silent until a step sends on them; then the search begins again. A violation is not enough: the whole search
// has a shortest run to it. If that reaches its limit before, the verdict has this one.
func (l *searcher) searchPartly(v *verdict) bool {
	defer l.part(nil, nil, false)
	var silent []bool
	if l.o.partial {
		silent = slices.Repeat([]bool{true}, len(l.workers[0].links))
	}
	var alike [][]int
	if l.o.symmetric {
		alike = symmetries(l.workers[0].checker)
	}
	pass := leanly
	if l.edges {
		pass = acyclic
	}
	for (silent != nil || alike != nil) && pass < passes {
		l.part(silent, alike, pass == singly)
		l.reset(pass == leanly)
		l.strict = l.lean
		found := l.search.explore(-1)
		l.remember(v, found)
		switch {
		case l.heard():
			l.learn(silent, alike)
			continue
		case found != nil:
			return false
		case l.lean && !l.layered:
			l.edges = true
			pass = acyclic
			continue
		case l.complete && !l.lean && !l.terminates(pass):
			pass++
			continue
		case l.complete && l.lean && !l.sum(&v.extremes): // a run breaks a bound, and edges show it
			pass = acyclic
			continue
		case l.complete && !l.lean:
			if found = l.judge(&v.extremes); found != nil {
				l.remember(v, found)
				return false
			}
		}
		l.took(v, silent != nil, alike != nil)
		return true
	}
	return false
}

// part sets what the workers leave out.
func (l *searcher) part(silent []bool, alike [][]int, single bool) {
	for _, w := range l.workers {
		w.low, w.high = 0, w.n
		w.ample, w.symmetry, w.checker.narrow = nil, nil, nil
		if silent != nil {
			w.ample = &ample{checker: w.checker, silent: silent, single: single}
			w.checker.narrow = w.ample.narrow
		}
		if alike != nil {
			w.symmetry = &symmetry{checker: w.checker, alike: alike}
		}
	}
}

// learn notes which links are not silent: those on which a step has sent, and those that are like them.
func (l *searcher) learn(silent []bool, alike [][]int) {
	places := l.workers[0].places
	for _, w := range l.workers {
		for _, heard := range w.ample.heard {
			silent[heard] = false
			for link, place := range places {
				like := func(from []int) bool { return place >= 0 && from[place] == places[heard] }
				silent[link] = silent[link] && !slices.ContainsFunc(alike, like)
			}
		}
	}
}

// remember keeps what a reduced search found, if anything. Its run may be longer than need be.
func (l *searcher) remember(v *verdict, found *finding) {
	if found != nil && (v.fewer < 0 || len(found.path) < v.fewer) {
		v.found, v.violation = found, l.workers[0].violation(found)
	}
}

// took sets a verdict to what was explored.
func (l *searcher) took(v *verdict, partial, symmetric bool) {
	v.result = l.result
	if v.symmetric = symmetric; partial {
		v.partial = 1
	}
	for _, w := range l.workers {
		v.seen |= w.seen
	}
}

// The passes of a search with partial order: each is for what the one before cannot decide.
const (
	leanly  = iota // every move leads to the next level, so there is no cycle
	acyclic        // the edges show that there is no cycle
	singly         // there are cycles, and chance leads out of all of them; events that come first are single
	passes
)

// heard reports whether a step has sent on a link that was taken to be silent.
func (x *search) heard() bool {
	return slices.ContainsFunc(x.workers, func(w *worker) bool { return w.ample != nil && w.ample.heard != nil })
}

// terminates reports whether the edges show, in a pass, that all runs end.
func (l *searcher) terminates(pass int) bool {
	parts := l.graph.components()
	for part := range parts.begin {
		if _, cyclic := l.graph.kind(parts, part); cyclic && (pass == acyclic || l.o.SafetyOnly || len(l.graph.endComponents(parts.members(part))) > 0) {
			return false
		}
	}
	return true
}
