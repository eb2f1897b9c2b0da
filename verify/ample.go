package verify

import (
	"slices"

	"ringleader.example/ringleader/election"
)

// Partial order: where all next events of one process can come first, only these are explored. The page on it in the package
// comment has the theorem.

// unordered returns the premise of partial order that does not hold, or "".
func (o *Options) unordered(d *election.Declaration, eligible bool) string {
	switch {
	case d.Timing != election.Asynchronous:
		return "time passes"
	case o.Unordered:
		return "links are not FIFO"
	case d.Task != election.Once:
		return "decisions are not for ever"
	case o.Cuts+o.Suspicions > 0:
		return "processes are suspected by mistake, or cut off"
	case o.Wardens:
		return "proofs of death come at any time"
	case eligible:
		return "the right leader depends on states"
	}
	return ""
}

// narrow lets a configuration have only the events of one process, if these can come first.
func (c *checker) narrow(conf configuration) {
	c.low, c.high = 0, c.n
	if g := c.global(conf); c.has.Suspect && g.Crashes+g.Recoveries > 0 { // they give others something to suspect, or take it
		return
	}
	for q := range c.n {
		if c.precedes(conf, q) {
			c.low, c.high = q, q+1
			return
		}
	}
}

// precedes reports whether a process has an event that must come, and no other process can give it one more.
func (c *checker) precedes(conf configuration, q int) bool {
	p := c.process(conf, q)
	comes, carrying := p.Start == must, 0
	for _, l := range c.into[q] {
		switch {
		case p.Start == must && c.o.Starts == Each: // before any message
		case len(c.queue(conf, l)) > 0:
			comes = true
			carrying++
		case !c.silent[l] && !c.gone(conf, q) && !c.gone(conf, c.links[l].from):
			return false
		}
	}
	return comes && (!c.single || carrying < 2)
}

// gone reports whether a process has crashed for ever.
func (c *checker) gone(conf configuration, q int) bool {
	return !c.process(conf, q).Alive && c.global(conf).Recoveries == 0
}

// hears notes on which links a step sends that were taken to be silent.
func (c *checker) hears(t *transition) {
	if t.outcome == nil {
		return
	}
	first := int(c.network.Network.First(t.process))
	for _, s := range t.outcome.sent {
		if l := first + int(s.port); c.silent[l] && !slices.Contains(c.heard, l) {
			c.heard = append(c.heard, l)
		}
	}
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
		alike = l.workers[0].symmetries()
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
		w.silent, w.heard, w.single, w.alike, w.bares = silent, nil, single, alike, nil
		w.low, w.high = 0, w.n
	}
}

// learn notes which links are not silent: those on which a step has sent, and those that are like them.
func (l *searcher) learn(silent []bool, alike [][]int) {
	places := l.workers[0].places
	for _, w := range l.workers {
		for _, heard := range w.heard {
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
	return slices.ContainsFunc(x.workers, func(w *worker) bool { return w.heard != nil })
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
