package simulate

import (
	"math/bits"
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
