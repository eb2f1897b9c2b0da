package search

import (
	"ringleader.example/ringleader/election"
	"ringleader.example/ringleader/verify/internal/model"
	"ringleader.example/ringleader/verify/internal/reductions"
)

// worker expands states.
type worker struct {
	*model.Checker
	ample       *reductions.Ample    // with partial order; else nil
	symmetry    *reductions.Symmetry // with symmetry; else nil
	exchange    *exchange
	numbers     [model.Parts]translation
	costNumbers []uint32            // by number of a cost: one more than the graph's number of it; 0: none yet
	here        model.Configuration // the state that is being expanded
	print0      model.Fingerprint   // its fingerprint
	came        []uint32            // … and the state by shared numbers
	sent        []uint32            // a configuration by shared numbers
	out         *batch
	ends        bool
	lean        bool // no actions are asked for
	visitor     model.Visitor
}

func newWorker(c *model.Checker, e *exchange) *worker {
	w := &worker{Checker: c, exchange: e}
	w.visitor = w.visit
	return w
}

// identity returns the fingerprint by which a configuration is known.
func (w *worker) identity(conf model.Configuration) model.Fingerprint {
	if w.symmetry != nil {
		return w.symmetry.Orbit(conf)
	}
	return w.Checker.Print(conf)
}

// expand makes all moves out of the states of a page.
func (w *worker) expand(p *page, b *batch) {
	b.begin(w, p)
	w.out = b
	confs := p.confs
	for i := range p.prints {
		w.ends, w.print0 = true, p.prints[i]
		confs = w.load(confs)
		if w.ample != nil {
			w.ample.Narrow(w.here)
		}
		w.Transitions(w.here, w.visitor)
		e := exit{moves: uint32(len(b.sides)), ends: w.ends}
		if !w.Options.SafetyOnly && (w.ends || w.Declaration.Task != election.Once) {
			e.wrong = w.Settled(w.here)
			e.settled = e.wrong == nil
		}
		b.exits = append(b.exits, e)
	}
}

func (w *worker) visit(t *model.Transition, next model.Configuration) {
	w.ends = w.ends && t.Class != model.Due
	if w.ample != nil {
		w.ample.Hears(t)
	}
	m := move{class: t.Class, state: uint8(len(w.out.exits))}
	switch {
	case t.Outcome != nil:
		m.cost = t.Outcome.Cost
	case w.Options.Times && t.Event == model.Waits:
		m.cost = w.CostNumber(model.Cost{Time: t.Time})
	}
	if !w.lean && !w.Options.SafetyOnly {
		m.action = w.Action(t, w.here)
	}
	b, side := w.out, 0
	if t.Breach != nil {
		m.to = broken
		b.broke(t.Breach)
	} else {
		if w.symmetry != nil {
			m.print = w.symmetry.Orbit(next)
		} else {
			m.print = w.PrintAfter(w.print0, w.here, next)
		}
		shard := fringeOf(m.print)
		b.more[shard]++
		side = ownerOf(shard, len(b.moves))
		w.exportAfter(next)
		b.confs.add(w.sent)
	}
	b.moves[side] = append(b.moves[side], m)
	b.sides = append(b.sides, uint8(side))
}
