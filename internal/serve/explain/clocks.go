package explain

import (
	"cmp"
	"maps"
	"slices"
	"time"

	"ringleader.example/ringleader/internal/serve/record"
)

// timebase is a clock that some lives have in common. It is set anew around each change of the leader, as it may drift between them.
type timebase struct {
	name      string
	offset    int64    // from its readings to the axis, as the wall clock was at the beginning
	machine   bool     // a machine has it, and not one life
	reference bool     // the others are set by it
	turns     [][]knot // how it was set, one after the other
	windows   []window // in the order of time
	compared  int      // messages by which it was joined with others
}

// knot is by how much a clock is moved at a time. Between two knots it moves by degrees.
type knot struct{ at, by int64 }

// window is a time in which a clock is compared with others.
type window struct {
	from, to int64
	unsure   time.Duration // negative: nothing ties it to others
	conflict time.Duration // by how much messages arrive before they were sent, however the clock is set and drifts within its bound
}

// usualDrift is the bound of records that have none.
const usualDrift = 0.05

// on returns where a time is on the axis that the clock had before it was set.
func (b *timebase) on(at int64) int64 {
	for _, knots := range b.turns {
		at += moved(knots, at)
	}
	return at
}

// moved returns by how much a time is moved.
func moved(knots []knot, at int64) int64 {
	if len(knots) == 0 {
		return 0
	}
	i, _ := slices.BinarySearchFunc(knots, at, func(k knot, at int64) int { return cmp.Compare(k.at, at) })
	switch {
	case i == 0:
		return knots[0].by
	case i == len(knots):
		return knots[i-1].by
	}
	a, b := knots[i-1], knots[i]
	return a.by + int64(float64(b.by-a.by)*(float64(at-a.at)/float64(b.at-a.at)))
}

// near returns the window that is next to a time.
func (b *timebase) near(at int64) (next window) {
	next.unsure = -1
	distance := int64(-1)
	for _, w := range b.windows {
		if d := max(w.from-at, at-w.to, 0); distance < 0 || d < distance {
			next, distance = w, d
		}
	}
	return next
}

// unsure returns how well the clock is known at a time; negative: it is not.
func (b *timebase) unsure(at int64) time.Duration {
	if b.reference {
		return 0
	}
	return b.near(at).unsure
}

// move sets clocks.
func (l *line) move(turns map[*timebase][]knot) (moves bool) {
	for b, knots := range turns {
		if slices.ContainsFunc(knots, func(k knot) bool { return k.by != 0 }) {
			b.turns, moves = append(b.turns, knots), true
		}
	}
	for _, v := range l.lives {
		knots := turns[v.base]
		if len(knots) == 0 {
			continue
		}
		v.begun, v.last = v.begun+moved(knots, v.begun), v.last+moved(knots, v.last)
		for i := range v.facts {
			v.facts[i].at += moved(knots, v.facts[i].at)
		}
		for i := range v.spans {
			for n, at := range v.spans[i] {
				v.spans[i][n] = at + moved(knots, at)
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

// roughly is how well clocks are set by terms.
const roughly = 2 * time.Second

// neighbours is how many terms before and after one are compared with it.
const neighbours = 2

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
	turns := map[*timebase][]knot{}
	names := slices.Sorted(maps.Keys(l.clocks))
	settled := []*timebase{l.clocks[names[0]]}
	for _, name := range names[1:] {
		b := l.clocks[name]
		var knots []knot
		for _, term := range slices.Sorted(maps.Keys(seen)) {
			all := seen[term]
			mine := slices.IndexFunc(all, func(s sight) bool { return s.base == b })
			other := slices.IndexFunc(all, func(s sight) bool { return slices.Contains(settled, s.base) })
			if mine >= 0 && other >= 0 {
				o := all[other]
				knots = append(knots, knot{all[mine].at, o.at + moved(turns[o.base], o.at) - all[mine].at})
			}
		}
		settled, turns[b] = append(settled, b), l.smooth(knots)
	}
	return l.move(turns)
}

// smooth returns knots of which each is the median of those around it, and no two are further apart than drift allows.
func (l *line) smooth(knots []knot) (smoothed []knot) {
	slices.SortStableFunc(knots, func(a, b knot) int { return cmp.Compare(a.at, b.at) })
	for i, k := range knots {
		var around []int64
		for _, n := range knots[max(0, i-neighbours):min(len(knots), i+neighbours+1)] {
			around = append(around, n.by)
		}
		slices.Sort(around)
		if k.by = around[len(around)/2]; max(k.by, -k.by) < int64(roughly) { // it has followed late, and messages tell better
			k.by = 0
		}
		if last := len(smoothed) - 1; last >= 0 {
			if smoothed[last].at == k.at {
				continue
			}
			most := int64(2 * l.drift * float64(k.at-smoothed[last].at))
			k.by = min(max(k.by, smoothed[last].by-most), smoothed[last].by+most)
		}
		smoothed = append(smoothed, k)
	}
	return smoothed
}

// bound is what a message says about a clock: what is to be added to it at a time, at least or at most.
type bound struct {
	at, by int64
	most   bool
}

// apart is how far two messages are at least from each other that belong to different windows.
const apart = int64(2 * around)

// join sets the clocks of different machines so that no message arrives before it was sent. It reports whether a clock has moved.
func (l *line) join() (moves bool) {
	if len(l.clocks) < 2 {
		return false
	}
	crossings := l.crossings()
	turns := map[*timebase][]knot{}
	names := slices.Sorted(maps.Keys(l.clocks))
	settled := []*timebase{l.clocks[names[0]]}
	settled[0].reference = true
	for _, name := range names[1:] {
		b := l.clocks[name]
		var all []bound
		for _, c := range crossings {
			switch {
			case c.to.base == b && slices.Contains(settled, c.from.base):
				all = append(all, bound{c.received, c.sent + moved(turns[c.from.base], c.sent) - c.received, false})
			case c.from.base == b && slices.Contains(settled, c.to.base):
				all = append(all, bound{c.sent, c.received + moved(turns[c.to.base], c.received) - c.sent, true})
			}
		}
		slices.SortStableFunc(all, func(a, b bound) int { return cmp.Compare(a.at, b.at) })
		b.compared = len(all)
		for begin := 0; begin < len(all); {
			end := begin + 1
			for end < len(all) && all[end].at-all[end-1].at <= apart && all[end].at-all[begin].at <= 4*apart {
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
func (l *line) window(b *timebase, all []bound, turns map[*timebase][]knot) {
	w := window{from: all[0].at, to: all[len(all)-1].at, unsure: -1}
	least, most := slices.ContainsFunc(all, func(b bound) bool { return !b.most }), slices.ContainsFunc(all, func(b bound) bool { return b.most })
	if !least || !most {
		b.windows = append(b.windows, w)
		return
	}
	rate := l.rate(all)
	low, high := limits(all, rate)
	middle := low + (high-low)/2
	if w.unsure = time.Duration(high-low) / 2; high < low {
		w.conflict, w.unsure = time.Duration(low-high), time.Duration(low-high)
	}
	ends := []knot{{w.from, middle}}
	if w.to > w.from {
		ends = append(ends, knot{w.to, middle + int64(rate*float64(w.to-w.from))})
	}
	if before := turns[b]; len(before) == 0 || before[len(before)-1].at < w.from {
		turns[b] = append(before, ends...)
	}
	b.windows = append(b.windows, w)
}

// rate returns the rate by which a clock is to be moved so that messages leave most room. 0: there is no sign of a drift.
func (l *line) rate(all []bound) float64 {
	// The room that a rate leaves is concave in the rate.
	slow, fast := -2*l.drift, 2*l.drift
	for range 50 {
		third := (fast - slow) / 3
		if room(all, slow+third) < room(all, fast-third) {
			slow += third
		} else {
			fast -= third
		}
	}
	if rate := (slow + fast) / 2; room(all, 0) < 0 || room(all, rate) >= 2*room(all, 0) {
		return rate
	}
	return 0
}

// limits returns between what a clock is to be moved at the first of some messages, if it is to be moved by a rate from then on.
func limits(all []bound, rate float64) (low, high int64) {
	low, high = -1<<62, 1<<62
	if len(all) == 0 {
		return low, high
	}
	for _, b := range all {
		by := b.by - int64(rate*float64(b.at-all[0].at))
		if b.most {
			high = min(high, by)
		} else {
			low = max(low, by)
		}
	}
	return low, high
}

// room returns how much the limits leave; negative: they contradict each other.
func room(all []bound, rate float64) int64 {
	low, high := limits(all, rate)
	return high - low
}
