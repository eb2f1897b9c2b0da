package order

import "ringleader.example/ringleader/election"

// Accepted returns the ring that an algorithm gets of the identifiers first, first + 1, … in some order. It is this order, but if the
// algorithm is for rings on which identifiers repeat: then all identifiers are first, except the greatest or the two greatest,
// which follow it without a gap and keep their positions. It is the first of these rings that the algorithm accepts, or the order
// itself if it accepts none.
func Accepted(by *election.Declaration, ids election.Arrangement, first uint64) election.Arrangement {
	if by.AllowDuplicates == nil {
		return ids
	}
	for different := 1; different <= min(2, ids.Len()-1); different++ {
		ring := alike{ids, first, uint64(ids.Len() - different - 1)}
		if by.AllowDuplicates(ring) == nil {
			return ring
		}
	}
	return ids
}

// alike is an order of consecutive identifiers, lowered so far that all but the greatest ones are the first.
type alike struct {
	election.Arrangement
	first, by uint64
}

// Dense reports whether all identifiers are different, and from 1 on.
func (a alike) Dense() bool { return a.by == 0 && a.Arrangement.Dense() }

// At returns the identifier at a position.
func (a alike) At(position int) uint64 {
	rank := a.Arrangement.At(position) - a.first
	return a.first + max(rank, a.by) - a.by
}
