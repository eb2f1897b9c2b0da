package simulate

import (
	"math/bits"
	"sort"

	"ringleader.example/ringleader/election"
)

// turns are slots that are served in turn: each link, and before the links of a process its start. It is a set of
// numbers below a fixed one, with a summary of each 64 of them, of each 64 of these, and so on.
type turns struct {
	levels [][]uint64
	slot   int // the slot served last
}

func newTurns(slots int) turns {
	t := turns{slot: -1}
	for size := slots; ; size = (size + 63) / 64 {
		t.levels = append(t.levels, make([]uint64, (size+63)/64))
		if size <= 64 {
			return t
		}
	}
}

func (t *turns) set(slot int) {
	for _, level := range t.levels {
		level[slot/64] |= 1 << (slot % 64)
		slot /= 64
	}
}

func (t *turns) has(slot int) bool { return t.levels[0][slot/64]>>(slot%64)&1 != 0 }

func (t *turns) clear(slot int) {
	for _, level := range t.levels {
		if level[slot/64] &^= 1 << (slot % 64); level[slot/64] != 0 {
			return
		}
		slot /= 64
	}
}

// from returns the first set slot at or after this one, cyclically. One must be set.
func (t *turns) from(slot int) int {
	if slot < 64*len(t.levels[0]) {
		if found, ok := t.after(0, slot); ok {
			return found
		}
	}
	found, _ := t.after(0, 0)
	return found
}

// after returns the first member of a level that is at least that.
func (t *turns) after(level, least int) (int, bool) {
	words := t.levels[level]
	if least/64 >= len(words) {
		return 0, false
	}
	if word := words[least/64] >> (least % 64); word != 0 {
		return least + bits.TrailingZeros64(word), true
	}
	if level+1 == len(t.levels) {
		return 0, false
	}
	next, ok := t.after(level+1, least/64+1)
	if !ok {
		return 0, false
	}
	return 64*next + bits.TrailingZeros64(words[next]), true
}

// slot returns the slot of the k-th link of the process at p, from 1, or with 0 of its start.
func (l *links) slot(p, k int) int { return int(l.net.First(p)) + p + k }

func (l *links) slotOf(link uint32) int { return int(link) + l.net.Owner(link) + 1 }

// inTurn serves the first slot with something to serve, from this one on.
func (l *links) inTurn(least int) (started bool) {
	slot := l.turns.from(least)
	l.turns.slot = slot
	p := slot / 3 // on a ring, each process has two links and a start
	if l.net.Topology != election.Ring {
		p = sort.Search(l.p.Size(), func(q int) bool { return l.slot(q, 0) > slot }) - 1
	}
	if slot == l.slot(p, 0) {
		l.turns.clear(slot)
		l.begins(p)
		return true
	}
	link := uint32(slot - p - 1)
	l.deliver(link, l.queues[link].head)
	return false
}

// firstLap makes the first lap of a sweep, in which processes start before any message reaches them.
func (l *links) firstLap() {
	for p := 0; p < l.p.Size() && l.result.Complete; p++ {
		if start := l.slot(p, 0); l.turns.has(start) {
			l.turns.clear(start)
			l.begins(p)
		}
		for p > 0 && l.queues[l.net.First(p-1)].head != 0 && l.mayContinue() {
			l.deliver(l.net.First(p-1), l.queues[l.net.First(p-1)].head)
		}
	}
	l.turns.slot = l.slot(l.p.Size()-1, 1)
}
