package explain

import (
	"cmp"
	"maps"
	"slices"
	"time"

	"ringleader.example/ringleader/internal/serve/explain/setting"
	"ringleader.example/ringleader/internal/serve/record"
)

// timebase is a clock that some lives have in common. It is set anew around each change of the leader, as it may drift between them.
type timebase struct {
	name      string
	offset    int64            // from its readings to the axis, as the wall clock was at the beginning
	machine   bool             // a machine has it, and not one life
	reference bool             // the others are set by it
	turns     [][]setting.Knot // how it was set, one after the other
	windows   []setting.Window // in the order of time
	compared  int              // messages by which it was joined with others
}

// usualDrift is the bound of records that have none.
const usualDrift = 0.05

// on returns where a time is on the axis that the clock had before it was set.
func (b *timebase) on(at int64) int64 {
	for _, knots := range b.turns {
		at += setting.Moved(knots, at)
	}
	return at
}

// unsure returns how well the clock is known at a time; negative: it is not.
func (b *timebase) unsure(at int64) time.Duration {
	if b.reference {
		return 0
	}
	return setting.Near(b.windows, at).Unsure
}

// move sets clocks.
func (l *line) move(turns map[*timebase][]setting.Knot) (moves bool) {
	for b, knots := range turns {
		if slices.ContainsFunc(knots, func(k setting.Knot) bool { return k.By != 0 }) {
			b.turns, moves = append(b.turns, knots), true
		}
	}
	for _, v := range l.lives {
		knots := turns[v.base]
		if len(knots) == 0 {
			continue
		}
		v.begun, v.last = v.begun+setting.Moved(knots, v.begun), v.last+setting.Moved(knots, v.last)
		for i := range v.facts {
			v.facts[i].at += setting.Moved(knots, v.facts[i].at)
		}
		for i := range v.spans {
			for n, at := range v.spans[i] {
				v.spans[i][n] = at + setting.Moved(knots, at)
			}
		}
	}
	return moves
}

// sight is when a clock had a term first.
type sight struct {
	base *timebase
	at   int64
}

// coarse sets the clocks of different machines about right: a member follows a leader soon after that leads. Wall clocks may be wrong by hours, and
// then the steps around a change of one machine would be those of another time on the other. A member that was not there in a term follows later, so
// each is compared with those around it.
func (l *line) coarse() (moves bool) {
	if len(l.clocks) < 2 {
		return false
	}
	seen := map[uint64][]sight{} // by term
	for _, v := range l.lives {
		for i := range v.facts {
			d, is := v.facts[i].body.(*record.Decision)
			if is && d.Leader != 0 && d.Term != 0 && !slices.ContainsFunc(seen[d.Term], func(s sight) bool { return s.base == v.base }) {
				seen[d.Term] = append(seen[d.Term], sight{v.base, v.facts[i].at})
			}
		}
	}
	turns := map[*timebase][]setting.Knot{}
	names := slices.Sorted(maps.Keys(l.clocks))
	settled := map[*timebase]bool{l.clocks[names[0]]: true}
	for _, name := range names[1:] {
		b := l.clocks[name]
		var knots []setting.Knot
		for _, term := range slices.Sorted(maps.Keys(seen)) {
			all := seen[term]
			mine := slices.IndexFunc(all, func(s sight) bool { return s.base == b })
			other := slices.IndexFunc(all, func(s sight) bool { return settled[s.base] })
			if mine >= 0 && other >= 0 {
				o := all[other]
				knots = append(knots, setting.Knot{At: all[mine].at, By: o.at + setting.Moved(turns[o.base], o.at) - all[mine].at})
			}
		}
		settled[b], turns[b] = true, setting.Smooth(knots, l.drift)
	}
	return l.move(turns)
}

// apart is how far two messages are at least from each other that belong to different windows.
const apart = int64(2 * around)

// join sets the clocks of different machines so that no message arrives before it was sent. It reports whether a clock has moved.
func (l *line) join() (moves bool) {
	if len(l.clocks) < 2 {
		return false
	}
	crossings := l.crossings()
	turns := map[*timebase][]setting.Knot{}
	names := slices.Sorted(maps.Keys(l.clocks))
	settled := []*timebase{l.clocks[names[0]]}
	settled[0].reference = true
	for _, name := range names[1:] {
		b := l.clocks[name]
		var all []setting.Bound
		for _, c := range crossings {
			switch {
			case c.to.base == b && slices.Contains(settled, c.from.base):
				all = append(all, setting.Bound{At: c.received, By: c.sent + setting.Moved(turns[c.from.base], c.sent) - c.received})
			case c.from.base == b && slices.Contains(settled, c.to.base):
				all = append(all, setting.Bound{At: c.sent, By: c.received + setting.Moved(turns[c.to.base], c.received) - c.sent, Most: true})
			}
		}
		slices.SortStableFunc(all, func(a, b setting.Bound) int { return cmp.Compare(a.At, b.At) })
		b.compared = len(all)
		for begin := 0; begin < len(all); {
			end := begin + 1
			for end < len(all) && all[end].At-all[end-1].At <= apart && all[end].At-all[begin].At <= 4*apart {
				end++
			}
			l.window(b, all[begin:end], turns)
			begin = end
		}
		settled = append(settled, b)
	}
	return l.move(turns)
}

// window sets a clock by messages of a time. It may drift meanwhile, within the bound.
func (l *line) window(b *timebase, all []setting.Bound, turns map[*timebase][]setting.Knot) {
	w := setting.Window{From: all[0].At, To: all[len(all)-1].At, Unsure: -1}
	least, most := slices.ContainsFunc(all, func(b setting.Bound) bool { return !b.Most }), slices.ContainsFunc(all, func(b setting.Bound) bool { return b.Most })
	if !least || !most {
		b.windows = append(b.windows, w)
		return
	}
	rate := setting.Rate(all, l.drift)
	low, high := setting.Limits(all, rate)
	middle := low + (high-low)/2
	if w.Unsure = time.Duration(high-low) / 2; high < low {
		w.Conflict, w.Unsure = time.Duration(low-high), time.Duration(low-high)
	}
	ends := []setting.Knot{{At: w.From, By: middle}}
	if w.To > w.From {
		ends = append(ends, setting.Knot{At: w.To, By: middle + int64(rate*float64(w.To-w.From))})
	}
	if before := turns[b]; len(before) == 0 || before[len(before)-1].At < w.From {
		turns[b] = append(before, ends...)
	}
	b.windows = append(b.windows, w)
}
