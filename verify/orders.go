package verify

import (
	"iter"
	"math"
	"math/bits"
	"slices"

	"ringleader.example/ringleader/election"
	"ringleader.example/ringleader/network"
)

// enumeration numbers the setups to explore: orders of identifiers that differ, times orientations.
type enumeration struct {
	o            *Options
	first        election.List // the first order; nil: there is one, the given
	still        int           // how many identifiers at its beginning keep their places
	orders       uint64
	orientations uint64
	mirrored     bool // of two mirror images, one is left out
}

// enumerate numbers the orders of the identifiers of Size, or the given one. A rotation of a ring changes nothing, so the largest stays
// at its place. Among known members, or without identifiers, there is one order.
func enumerate(d *election.Declaration, o *Options) *enumeration {
	e := &enumeration{o: o, orders: 1, orientations: 1, mirrored: o.alike && mirrored(d, o)}
	if o.Orientations {
		e.orientations = 1 << o.size()
	}
	if o.Size == 0 || d.Topology == election.Complete || d.Identifiers == election.Anonymous {
		return e
	}
	e.first = o.rising()
	if turns(d, o) {
		largest := e.first[o.Size-1]
		copy(e.first[1:], e.first)
		e.first[0] = largest
		e.still = 1
	}
	e.orders = factorial(len(e.first) - e.still)
	return e
}

// size returns the number of processes.
func (o *Options) size() int {
	if o.Size > 0 {
		return o.Size
	}
	return o.Setup.IDs.Len()
}

// factorial returns k!, or the largest number.
func factorial(k int) uint64 {
	product := uint64(1)
	for f := 2; f <= k; f++ {
		product = times(product, uint64(f))
	}
	return product
}

// times returns a product, or the largest number.
func times(a, b uint64) uint64 {
	if high, low := bits.Mul64(a, b); high == 0 {
		return low
	}
	return math.MaxUint64
}

// len returns how many numbers there are, or the largest number.
func (e *enumeration) len() uint64 { return times(e.orders, e.orientations) }

// at returns the setup of a number, or false if it is the mirror image of another one.
func (e *enumeration) at(number uint64) (setup network.Setup, ok bool) {
	setup = e.o.Setup
	if e.first != nil {
		ids := e.order(number / e.orientations)
		if e.mirrored && reflected(ids) {
			return setup, false
		}
		setup.IDs = ids
	}
	if e.o.Orientations {
		set := number % e.orientations
		setup.Flipped = make([]bool, e.o.size())
		for p := range setup.Flipped {
			setup.Flipped[p] = set>>p&1 == 1
		}
	}
	return setup, true
}

// order returns the order of a number, in lexicographic order.
func (e *enumeration) order(number uint64) election.List {
	ids := slices.Clone(e.first)
	for rest := ids[e.still:]; len(rest) > 1; rest = rest[1:] {
		below := factorial(len(rest) - 1) // orders of the others
		if place := int(number / below); place > 0 {
			id := rest[place]
			copy(rest[1:], rest[:place])
			rest[0] = id
		}
		number %= below
	}
	return ids
}

// setups yields all setups to explore.
func setups(d *election.Declaration, o *Options) iter.Seq[network.Setup] {
	return func(yield func(network.Setup) bool) {
		e := enumerate(d, o)
		for number := range e.len() {
			if setup, ok := e.at(number); ok && !yield(setup) {
				return
			}
		}
	}
}

// firstSetup returns the first setup.
func firstSetup(d *election.Declaration, o *Options) (setup network.Setup) {
	for setup = range setups(d, o) {
		break
	}
	return setup
}

// turns reports whether one of each order's rotations is enough.
func turns(d *election.Declaration, o *Options) bool {
	ring := d.Topology == election.Ring || o.alike && d.Topology == election.UnknownNeighbours && o.Setup.Ports == nil
	return ring && !o.Rotations && o.Setup.Flipped == nil && o.Setup.Votes == nil && len(o.Setup.Unwilling)+len(o.Initiators) == 0
}

// countSetups returns how many setups there are, or the largest number.
func countSetups(d *election.Declaration, o *Options) int {
	e := enumerate(d, o)
	count := e.len()
	if e.mirrored && count < math.MaxUint64 {
		count /= 2
	}
	return int(min(count, math.MaxInt))
}

// rising returns the identifiers of Size, the smallest first.
func (o *Options) rising() election.List {
	ids := make(election.List, o.Size)
	for p := range ids {
		ids[p] = uint64(p) + 1 + uint64(o.Shift)
	}
	return ids
}
