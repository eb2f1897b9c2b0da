// Package fence protects a resource from a leader that was replaced and does not know it yet.
//
// No election can prevent that by itself: a process may be paused between the moment at which it checks its lease and the
// moment at which its write arrives. But each leader has a term, greater than those of all leaders before, and the
// resource can compare terms. So each write carries the term of its leader, ringleader.Leadership.Term, and the resource
// refuses a term below the highest that it has seen.
//
// A [Guard] does that for a resource in the process that it belongs to, such as a server that leaders write to. A
// database does it in the same statement as the write:
//
//	UPDATE jobs SET state = $1, term = $2 WHERE id = $3 AND term <= $2
//
// An object store does it with a conditional write, on an object that holds the term.
//
// The API of this package is v1: what it exports stays, and keeps its meaning.
package fence

import (
	"errors"
	"fmt"
	"sync"
)

// ErrStale reports that a term is below one that the resource has seen: another leader has written since.
var ErrStale = errors.New("a leader of a later term has written already")

// Guard admits writes in terms that do not decrease. Its zero value has seen none. Its methods may be called at any time,
// by any goroutine.
type Guard struct {
	mu      sync.Mutex
	highest uint64
}

// New returns a guard that has seen a term: the highest one that the resource keeps durably.
func New(highest uint64) *Guard { return &Guard{highest: highest} }

// Do runs a write of the leader of a term, unless a higher term was seen: then it returns an [ErrStale], and write does
// not run. Writes run one at a time, so none of a lower term ends after one of a higher term has begun. What write does
// should keep the term durably with its effect, for New.
func (g *Guard) Do(term uint64, write func() error) error {
	g.mu.Lock()
	defer g.mu.Unlock()
	if term < g.highest {
		return fmt.Errorf("%w: term %d, and this is term %d", ErrStale, g.highest, term)
	}
	g.highest = term
	return write()
}

// Highest returns the highest term seen.
func (g *Guard) Highest() uint64 {
	g.mu.Lock()
	defer g.mu.Unlock()
	return g.highest
}
