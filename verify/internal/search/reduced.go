package search

import (
	"slices"

	"ringleader.example/ringleader/network"
	"ringleader.example/ringleader/verify/internal/model"
	"ringleader.example/ringleader/verify/internal/reductions"
)

// decide explores one schedule of a setup, and reports whether that was enough.
func (l *Searcher) decide(setup network.Setup) (v Verdict, enough bool, err error) {
	if l.runner == nil {
		l.runner = reductions.NewRunner(l.program)
	}
	r := l.runner
	if err := r.On(setup); err != nil {
		return v, false, err
	}
	if !r.Run(r.Network.Right(r.Network.Willing)) {
		return v, false, nil
	}
	for i, of := range model.CostNames {
		if l.Options.broken(r.Network.Declaration(), r.Network.Size(), of, r.Costs[i], r.Costs[i]) != nil {
			return v, false, nil
		}
		v.Extremes.add(i, r.Costs[i], r.Costs[i])
	}
	v.result = result{States: r.Steps + 1, Transitions: r.Steps, Finals: 1, Depth: r.Steps, Complete: true, Bits: 128, Confluent: 1}
	v.Seen = 1 << model.SawLeader
	l.result = v.result
	return v, true, nil
}

// decideCauses explores one schedule of the setup of the workers, and reports whether that was enough.
func (l *Searcher) decideCauses(v *Verdict) bool {
	c := l.workers[0].Checker
	if l.causes == nil || l.causes.Checker != c {
		l.causes = &reductions.Causes{Checker: c}
	}
	k := l.causes
	r := result{Complete: true, Bits: 128, Confluent: 1}
	var extremes Ranges
	for _, beginning := range c.Beginnings() {
		if !k.Decides(beginning) {
			return false
		}
		for i, of := range model.CostNames {
			count := k.Cost.All()[i]
			if l.Options.broken(c.Declaration, c.N, of, count, count) != nil {
				return false
			}
			extremes.add(i, count, count)
		}
		r.States, r.Transitions, r.Finals, r.Depth = r.States+k.Steps+1, r.Transitions+k.Steps, r.Finals+1, max(r.Depth, k.Steps)
	}
	v.result, v.Extremes, v.Seen = r, extremes, 1<<model.SawLeader
	l.result = r
	return true
}

// searchPartly explores the setup of the workers with partial order and symmetry, and reports whether that was enough. Links
// are taken to be silent until a step sends on them; then the search begins again. A violation is not enough: the whole search
// has a shortest run to it. If that reaches its limit before, the verdict has this one.
func (l *Searcher) searchPartly(v *Verdict) bool {
	defer l.part(nil, nil, false)
	var silent []bool
	if l.Options.Partial {
		silent = slices.Repeat([]bool{true}, len(l.workers[0].Links))
	}
	var alike [][]int
	if l.Options.Symmetric {
		alike = reductions.Symmetries(l.workers[0].Checker)
	}
	pass := leanly
	if l.edges {
		pass = acyclic
	}
	for (silent != nil || alike != nil) && pass < passes {
		l.part(silent, alike, pass == singly)
		l.reset(pass == leanly)
		l.strict = l.lean
		found := l.Search.explore(-1)
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
		case l.Complete && !l.lean && !l.terminates(pass):
			pass++
			continue
		case l.Complete && l.lean && !l.sum(&v.Extremes): // edges show a run to what is wrong
			pass = acyclic
			continue
		case l.Complete && !l.lean:
			if found = l.judge(&v.Extremes); found != nil {
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
func (l *Searcher) part(silent []bool, alike [][]int, single bool) {
	for _, w := range l.workers {
		w.Low, w.High = 0, w.N
		w.ample, w.symmetry, w.Checker.Narrow = nil, nil, nil
		if silent != nil {
			w.ample = &reductions.Ample{Checker: w.Checker, Silent: silent, Single: single}
			w.Checker.Narrow = w.ample.Narrow
		}
		if alike != nil {
			w.symmetry = &reductions.Symmetry{Checker: w.Checker, Alike: alike}
		}
	}
}

// learn notes which links are not silent: those on which a step has sent, and those that are like them.
func (l *Searcher) learn(silent []bool, alike [][]int) {
	places := l.workers[0].Places
	for _, w := range l.workers {
		for _, heard := range w.ample.Heard {
			silent[heard] = false
			for link, place := range places {
				like := func(from []int) bool { return place >= 0 && from[place] == places[heard] }
				silent[link] = silent[link] && !slices.ContainsFunc(alike, like)
			}
		}
	}
}

// remember keeps what a reduced search found, if anything. Its run may be longer than need be.
func (l *Searcher) remember(v *Verdict, found *model.Finding) {
	if found != nil && (v.Fewer < 0 || len(found.Path) < v.Fewer) {
		v.Found, v.Violation = found, l.workers[0].Violation(found)
	}
}

// took sets a verdict to what was explored.
func (l *Searcher) took(v *Verdict, partial, symmetric bool) {
	v.result = l.result
	if v.Symmetric = symmetric; partial {
		v.Partial = 1
	}
	for _, w := range l.workers {
		v.Seen |= w.Seen
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
func (x *Search) heard() bool {
	return slices.ContainsFunc(x.workers, func(w *worker) bool { return w.ample != nil && w.ample.Heard != nil })
}

// terminates reports whether the edges show, in a pass, that all runs end.
func (l *Searcher) terminates(pass int) bool {
	parts := l.graph.Components()
	for part := range parts.begin {
		if _, cyclic := l.graph.kind(parts, part); cyclic && (pass == acyclic || l.Options.SafetyOnly || len(l.graph.endComponents(parts.members(part))) > 0) {
			return false
		}
	}
	return true
}
