package invitation

import "ringleader.example/ringleader/election"

// Set is a set of members: member j is bit j%64 of word j/64. Equal sets have equal words. No word is ever written
// to.
type Set []uint64

// Has reports whether a member is in the set.
func (s Set) Has(j election.ID) bool {
	return int(j/64) < len(s) && s[j/64]>>(j%64)&1 == 1
}

// With returns the set with one member more.
func (s Set) With(j election.ID) Set {
	longer := make(Set, max(len(s), int(j/64)+1))
	copy(longer, s)
	longer[j/64] |= 1 << (j % 64)
	return longer
}
