// Package random is the one source of pseudo-randomness: PCG-DXSM, as math/rand/v2 specifies it, with
// a reduction of its own, so that a seed means the same run on every machine and in every later version.
package random

import (
	"math/bits"
	"math/rand/v2"
)

// Source yields pseudo-random numbers.
type Source struct{ pcg rand.PCG }

// The streams that one seed is split into, so that a new use of one never shifts another.
const (
	Schedule uint64 = iota + 1 // which link delivers next, and delays
	Choices                    // what algorithms choose
	Order                      // where identifiers stand
	Network                    // orientations, trees
	Links                      // which messages are lost or duplicated
	Faults                     // which processes crash, and what else goes wrong, when
	Inputs                     // where a search for costly inputs goes; each climb has a stream of its own
)

// New is the source for a seed and a stream.
func New(seed, stream uint64) *Source {
	s := &Source{}
	s.pcg.Seed(seed, stream)
	return s
}

// Uint64 is any number, each as likely as the others.
func (s *Source) Uint64() uint64 { return s.pcg.Uint64() }

// Below is one of 0 .. n-1, each as likely as the others; n is at least 1.
func (s *Source) Below(n uint64) uint64 {
	hi, lo := bits.Mul64(s.pcg.Uint64(), n)
	if lo < n { // Lemire's method: reject the few that would favour some results
		for least := -n % n; lo < least; {
			hi, lo = bits.Mul64(s.pcg.Uint64(), n)
		}
	}
	return hi
}
