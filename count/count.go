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

// Result is what an election costs.
type Result struct {
	Messages outcome.Messages // ByKind as the algorithm declares its Kinds
	ByPhase  []uint64         // election messages by phase; nil where the algorithm has none
	Time     *Time            // nil where no closed form is known
	Leader   uint64           // its identifier
	Position int              // where the leader stands
}

// Time is when things happen if all start at 0 and every message takes one unit.
type Time struct {
	Elected *big.Int // a leader decides
	Decided *big.Int // the last process decides
	Quiet   *big.Int // the last message arrives
}

func times(elected, decided, quiet uint64) *Time {
	return &Time{new(big.Int).SetUint64(elected), new(big.Int).SetUint64(decided), new(big.Int).SetUint64(quiet)}
}

// Func counts what an algorithm with these parameters costs on a ring of these identifiers, clockwise. It
// fails with an ErrRing, or with the context's error. Progress may be nil; otherwise it is told now and then
// how many of all positions have been read.
//
// The arrangement is read by several goroutines at once. It can make the pass fast with two methods more,
// as package order does: Fill(ids []uint64, from int), At for a row of positions, and Position(id uint64) int,
// At's inverse. Where it is not Dense, and has no method Distinct() bool to say so, its identifiers are sorted first
// to find equal ones, in 8·n bytes.
type Func func(ctx context.Context, ids election.Arrangement, set election.Parameters, progress func(done, of int)) (*Result, error)

// ErrRing says that there is no exact count for a ring; the text says why.
var ErrRing = errors.New("cannot count")

// distinct refuses a ring of no size, or of equal identifiers.
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

// computable refuses identifiers that processes cannot compute with, as package election does: below from, which is 0 or
// 1, or too large.
func computable(least, greatest, from uint64) error {
	if least < from {
		return fmt.Errorf("%w: it computes with identifiers, where 0 stands for nobody; at least 1", ErrRing)
	}
	if most := network.MaxComputed - 1 + from; greatest > most {
		return fmt.Errorf("%w: it computes with identifiers, so %d is too large; at most %d", ErrRing, greatest, most)
	}
	return nil
}

// greatest is the position of the greatest identifier.
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

// messages is a count of which the last kind is the announcement and all others are the election.
func messages(announcement uint64, kinds ...uint64) outcome.Messages {
	m := outcome.Messages{Announcement: announcement, ByKind: append(kinds, announcement)}
	for _, k := range kinds {
		m.Election += k
	}
	m.Total = m.Election + m.Announcement
	return m
}
