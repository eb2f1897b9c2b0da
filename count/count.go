package count

import (
	"context"
	"errors"
	"fmt"
	"math/big"
	"slices"

	"ringleader.example/ringleader/election"
	"ringleader.example/ringleader/network"
	"ringleader.example/ringleader/outcome"
)

// Result is the cost of an election.
type Result struct {
	Messages outcome.Messages // ByKind is in the order of the declared Kinds
	ByPhase  []uint64         // election messages by phase; nil if the algorithm has no phases
	Entered  []uint64         // how many candidates begin each phase: those that survive the one before; nil if ByPhase is
	Time     *Time            // nil if no closed form is known
	Leader   uint64           // its identifier
	Position int              // the leader's position
}

// Time holds times of a synchronous run in which all start at 0 and every message takes one unit.
type Time struct {
	Elected *big.Int // a leader decides
	Decided *big.Int // the last process decides
	Quiet   *big.Int // the last message arrives
}

func times(elected, decided, quiet uint64) *Time {
	return &Time{new(big.Int).SetUint64(elected), new(big.Int).SetUint64(decided), new(big.Int).SetUint64(quiet)}
}

// Func counts the cost of an algorithm with these parameters on a ring of these identifiers, clockwise. It fails with
// an ErrRing, or with the context's error. Progress may be nil; otherwise it is called from time to time with the
// number of positions read.
//
// Several goroutines may read the arrangement at once. Two more methods make the pass fast, as in package order:
// Fill(ids []uint64, from int), which is At for consecutive positions, and Position(id uint64) int, the inverse of At.
// If the arrangement is not Dense, and has no method Distinct() bool that returns true, its identifiers are first sorted to
// find equal ones, in 8·n bytes.
type Func func(ctx context.Context, ids election.Arrangement, set election.Parameters, progress func(done, of int)) (*Result, error)

// ErrRing reports that there is no exact count for a ring; the text gives the reason.
var ErrRing = errors.New("cannot count")

// distinct refuses an empty ring, and equal identifiers.
func distinct(ids election.Arrangement) error {
	if n := ids.Len(); n < 1 || uint64(n) > maxRing {
		return fmt.Errorf("%w: a ring has 1 to %d processes, not %d", ErrRing, uint64(maxRing), n)
	}
	if known, ok := ids.(interface{ Distinct() bool }); ids.Dense() || ok && known.Distinct() {
		return nil
	}
	sorted := make([]uint64, ids.Len())
	fill(ids, sorted, 0)
	slices.Sort(sorted)
	for i, id := range sorted[1:] {
		if id == sorted[i] {
			return fmt.Errorf("%w: identifier %d occurs twice; exact counts need distinct ones", ErrRing, id)
		}
	}
	return nil
}

// computable refuses identifiers outside the range of algorithms that use identifier values: below from, which is 0
// or 1, or too large.
func computable(least, greatest, from uint64) error {
	if least < from {
		return fmt.Errorf("%w: it uses identifier values, where 0 means no process; identifiers start at 1", ErrRing)
	}
	if most := network.MaxComputed - 1 + from; greatest > most {
		return fmt.Errorf("%w: it uses identifier values, so %d is too large; at most %d", ErrRing, greatest, most)
	}
	return nil
}

// greatest returns the position of the greatest identifier.
func greatest(ids election.Arrangement) int {
	if inverse, ok := ids.(interface{ Position(id uint64) int }); ok && ids.Dense() {
		return inverse.Position(uint64(ids.Len()))
	}
	at, greatest := 0, ids.At(0)
	for p := range ids.Len() {
		if id := ids.At(p); id > greatest {
			at, greatest = p, id
		}
	}
	return at
}

func fill(ids election.Arrangement, into []uint64, from int) {
	if row, ok := ids.(interface {
		Fill(ids []uint64, from int)
	}); ok {
		row.Fill(into, from)
		return
	}
	for i := range into {
		into[i] = ids.At(from + i)
	}
}

// messages returns counts whose last kind is the announcement; all others are election messages.
func messages(announcement uint64, kinds ...uint64) outcome.Messages {
	m := outcome.Messages{Announcement: announcement, ByKind: append(kinds, announcement)}
	for _, k := range kinds {
		m.Election += k
	}
	m.Total = m.Election + m.Announcement
	return m
}
