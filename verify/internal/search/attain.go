package search

import (
	"ringleader.example/ringleader/election"
	"ringleader.example/ringleader/network"
	"ringleader.example/ringleader/trace"
	"ringleader.example/ringleader/verify/internal/model"
)

// Unfinished reports that a search has not reached its end, so that no run is known that attains an extreme.
type Unfinished struct{ Reached limit }

// Is reports that a limit was reached, for [errors.Is].
func (u Unfinished) Is(target error) bool { return target == model.ErrLimit && u.Reached != NoLimit }

func (u Unfinished) Error() string {
	switch u.Reached {
	case NoLimit:
		return "stopped"
	case MemoryLimit:
		return "the extremes are known, and there is not enough memory for a run that attains one: allow more, or leave the runs out"
	}
	return "the extremes are known, and a run that attains one is beyond the limit of states or of depth: allow more, or leave the runs out"
}

// attained is an extreme, and a shortest run that attains it.
type attained struct {
	Value     election.Ticks // messages, or units of delay
	Unbounded bool
	Record    trace.Record
}

// GraphOf explores a setup, and keeps the edges.
func (l *Searcher) GraphOf(setup network.Setup) (g *graph, err error) {
	defer model.Halted(&err)
	if err := l.on(setup); err != nil {
		return nil, err
	}
	l.reset(false)
	l.Search.explore(-1)
	if !l.Complete {
		return nil, Unfinished{l.Reached}
	}
	return &l.graph, nil
}

// AttainIn finds a run with an extreme quantity in the graph of an order.
func (l *Searcher) AttainIn(g *graph, m Measure, most bool) (a attained) {
	values, greatest := g.Extremes(g.Components(), m)
	best, greatestOfAll := g.Overall(values, greatest)
	if most {
		values, best = greatest, greatestOfAll
	}
	var from []uint32
	for root := range uint32(g.roots) {
		if values[root] == best {
			from = append(from, root)
		}
	}
	if best == election.Forever {
		return attained{Unbounded: true}
	}
	a.Value = m.Value(best)
	root, path := g.whole(from, m, values, l.workers[0].Declaration.Task == election.Once && !l.Options.SafetyOnly)
	a.Record = l.workers[0].Record(&model.Finding{Root: root, Path: path}).Record
	return a
}

// whole returns a shortest run whose quantity is the extreme of its beginning: up to an end, or, of a service, which may
// go round for ever, up to the last event that counts.
func (g *graph) whole(from []uint32, m Measure, values []election.Ticks, ends bool) (root int, path []int) {
	goal := func(s uint32) bool {
		if !values[s].IsZero() || !ends {
			return values[s].IsZero()
		}
		for _, e := range g.from(s) {
			if e.class == model.Due {
				return false
			}
		}
		return true
	}
	for _, s := range from {
		if goal(s) {
			return int(s), nil
		}
	}
	path, begin := g.path(from, func(s uint32, e edge) bool {
		return e.class != model.ByFault && m.before(g.costs[e.cost], values[e.to]) == values[s]
	}, goal)
	return int(begin), path
}
