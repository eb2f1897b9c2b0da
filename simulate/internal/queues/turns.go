package queues

import (
	"math/bits"
)

// Turns are slots that are served in turn: each link, and before the links of a process its start. It is a set of
// numbers below a fixed one, with a summary of each 64 of them, of each 64 of these, and so on.
type Turns struct {
	Levels [][]uint64
	Last   int // the slot served last
}

// NewTurns returns an empty set of numbers below slots.
func NewTurns(slots int) Turns {
	t := Turns{Last: -1}
	for size := slots; ; size = (size + 63) / 64 {
		t.Levels = append(t.Levels, make([]uint64, (size+63)/64))
		if size <= 64 {
			return t
		}
	}
}

// Set adds a slot.
func (t *Turns) Set(slot int) {
	for _, level := range t.Levels {
		level[slot/64] |= 1 << (slot % 64)
		slot /= 64
	}
}

// Has reports whether a slot is set.
func (t *Turns) Has(slot int) bool { return t.Levels[0][slot/64]>>(slot%64)&1 != 0 }

// Clear removes a slot.
func (t *Turns) Clear(slot int) {
	for _, level := range t.Levels {
		if level[slot/64] &^= 1 << (slot % 64); level[slot/64] != 0 {
			return
		}
		slot /= 64
	}
}

// From returns the first set slot at or after this one, cyclically. One must be set.
func (t *Turns) From(slot int) int {
	if slot < 64*len(t.Levels[0]) {
		if found, ok := t.after(0, slot); ok {
			return found
		}
	}
	found, _ := t.after(0, 0)
	return found
}

// after returns the first member of a level that is at least that.
func (t *Turns) after(level, least int) (int, bool) {
	words := t.Levels[level]
	if least/64 >= len(words) {
		return 0, false
	}
	if word := words[least/64] >> (least % 64); word != 0 {
		return least + bits.TrailingZeros64(word), true
	}
	if level+1 == len(t.Levels) {
		return 0, false
	}
	next, ok := t.after(level+1, least/64+1)
	if !ok {
		return 0, false
	}
	return 64*next + bits.TrailingZeros64(words[next]), true
}
