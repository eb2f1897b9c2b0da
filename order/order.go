package order

import (
	"errors"
	"fmt"
	"math/bits"
	"slices"
	"strings"

	"ringleader.example/ringleader/election"
)

// MaxLen is the greatest number of identifiers.
const MaxLen = 1<<32 - 1

// ErrOrder reports that an order cannot exist; the text gives the reason and a remedy.
var ErrOrder = errors.New("no such order")

// Names are the names that Parse accepts.
var Names = []string{"increasing", "decreasing", "random", "bit-reversal"}

type kind uint8

const ( // as in Names
	increasing kind = iota
	decreasing
	shuffled
	bitReversal
)

// Order is a clockwise order of the identifiers 1 … n, or of n other consecutive ones, at positions 0 … n-1. It is an
// [election.Arrangement], and it is computed, not stored: it takes at most 8 KB, for any n.
type Order struct {
	kind    kind
	n       uint64
	before  uint64      // one less than the smallest identifier, modulo 2^64
	table   []uint16    // shuffled, n up to MaxTable: identifiers by position
	permute permutation // shuffled, larger n
}

var _ election.Arrangement = (*Order)(nil)

// Increasing returns 1, 2, … n.
func Increasing(n int) (*Order, error) { return create(increasing, n) }

// Decreasing returns n, … 2, 1.
func Decreasing(n int) (*Order, error) { return create(decreasing, n) }

// BitReversal returns the order with identifier i + 1 at the position whose binary digits are those of i in reverse.
// n must be a power of two.
func BitReversal(n int) (*Order, error) {
	if n > 0 && n&(n-1) != 0 {
		return nil, fmt.Errorf("%w: bit-reversal needs a power of two, such as %d, not %d", ErrOrder, 1<<(bits.Len(uint(n))-1), n)
	}
	return create(bitReversal, n)
}

func create(k kind, n int) (*Order, error) {
	if n < 1 || uint64(n) > MaxLen {
		return nil, fmt.Errorf("%w: %s has 1 to %d identifiers, not %d", ErrOrder, Names[k], uint64(MaxLen), n)
	}
	return &Order{kind: k, n: uint64(n)}, nil
}

// Parse returns the order of that name; only random uses the seed.
func Parse(name string, n int, seed uint64) (*Order, error) {
	switch name {
	case "increasing":
		return Increasing(n)
	case "decreasing":
		return Decreasing(n)
	case "random":
		return Random(n, seed)
	case "bit-reversal":
		return BitReversal(n)
	}
	return nil, fmt.Errorf("%w: %q; choose one of %s", ErrOrder, name, strings.Join(Names, ", "))
}

// From returns the same order of the identifiers from first on.
func (o *Order) From(first uint64) (*Order, error) {
	if last := first + (o.n - 1); last < first {
		return nil, fmt.Errorf("%w: identifiers end at 2^64 - 1, so %d of them cannot begin with %d", ErrOrder, o.n, first)
	}
	moved := *o
	moved.before = first - 1
	return &moved, nil
}

// Name returns the name that Parse accepts.
func (o *Order) Name() string { return Names[o.kind] }

// Len returns n.
func (o *Order) Len() int { return int(o.n) }

// Dense reports whether the identifiers are exactly 1 … n.
func (o *Order) Dense() bool { return o.before == 0 }

// Distinct returns true: no two identifiers are equal.
func (o *Order) Distinct() bool { return true }

// At returns the identifier at a position 0 … n-1.
func (o *Order) At(position int) uint64 {
	p := uint64(position)
	if p >= o.n {
		panic(fmt.Sprintf("order: position %d of %d", position, o.n))
	}
	switch o.kind {
	case increasing:
		return o.before + p + 1
	case decreasing:
		return o.before + o.n - p
	case bitReversal:
		return o.before + o.reverse(p) + 1
	}
	if o.table != nil {
		return o.before + uint64(o.table[p])
	}
	p = o.permute.apply(p)
	for p >= o.n {
		p = o.permute.apply(p)
	}
	return o.before + p + 1
}

// Position returns the position of an identifier.
func (o *Order) Position(id uint64) int {
	if id -= o.before; id < 1 || id > o.n {
		panic(fmt.Sprintf("order: identifier %d of %d", id, o.n))
	}
	x := id - 1
	switch o.kind {
	case increasing:
		return int(x)
	case decreasing:
		return int(o.n - id)
	case bitReversal:
		return int(o.reverse(x))
	}
	if o.table != nil {
		return slices.Index(o.table, uint16(id)) // used once a pass: not worth a second table
	}
	x = o.permute.invert(x)
	for x >= o.n {
		x = o.permute.invert(x)
	}
	return int(x)
}

// Fill sets ids to the identifiers at positions from, from + 1, … It is much faster than At for each.
func (o *Order) Fill(ids []uint64, from int) {
	if from < 0 || uint64(from)+uint64(len(ids)) > o.n {
		panic(fmt.Sprintf("order: %d positions from %d of %d", len(ids), from, o.n))
	}
	if o.table != nil {
		for i, id := range o.table[from:][:len(ids)] {
			ids[i] = o.before + uint64(id)
		}
		return
	}
	if o.kind != shuffled {
		for i := range ids {
			ids[i] = o.At(from + i)
		}
		return
	}
	var outside [256]uint8 // the identifiers whose walk continues. A branch on that would be mispredicted half the time.
	for len(ids) > 0 {
		block := ids[:min(len(ids), len(outside))]
		for i := range block {
			block[i] = uint64(from + i)
			outside[i] = uint8(i)
		}
		for left := len(block); left > 0; {
			still := 0
			for _, i := range outside[:left] {
				x := o.permute.apply(block[i])
				block[i] = x
				outside[uint8(still)] = i
				still += int((o.n - 1 - x) >> 63)
			}
			left = still
		}
		for i := range block {
			block[i] += 1 + o.before
		}
		ids, from = ids[len(block):], from+len(block)
	}
}

// reverse returns x with its lg n binary digits reversed.
func (o *Order) reverse(x uint64) uint64 { return bits.Reverse64(x) >> (65 - bits.Len64(o.n)) }
