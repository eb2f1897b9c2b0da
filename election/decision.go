package election

import (
	"errors"
	"fmt"
)

// Role is what a process believes that it is.
type Role uint8

// The roles.
const (
	Undecided Role = iota
	Follower
	Leader
)

func (r Role) String() string { return [...]string{"undecided", "follower", "leader"}[r] }

// Decision is what a process has decided. For a leader, Leader is its own ID.
type Decision struct {
	Term   Term
	Leader ID
	Role   Role
}

// ErrIrrevocable says that a process changed a decision for ever, or decided twice.
var ErrIrrevocable = errors.New("decided twice")

// ErrTerm says that a process decided in a lower term than before, or twice differently in one.
var ErrTerm = errors.New("went back on a term")

// Apply makes the decision of an effect, of the process with identifier self, and says whether the
// task allows it. The decision is made all the same.
func (d *Decision) Apply(task Task, e Effect, self ID) error {
	before := *d
	switch e.Op {
	case Lead:
		*d = Decision{e.Term, self, Leader}
	case Follow:
		*d = Decision{e.Term, e.ID, Follower}
	case NoLeader:
		*d = Decision{Term: d.Term}
	default:
		return nil
	}
	switch {
	case task == Once && (before.Role != Undecided || d.Role == Undecided):
		return fmt.Errorf("%w: was %s, then %s", ErrIrrevocable, before.Role, d.Role)
	case task == Once && d.Term != 0:
		return fmt.Errorf("%w: one-shot decisions have term 0, not %d", ErrTerm, d.Term)
	case task == Groups: // engines look at all processes together
		return nil
	case d.Term < before.Term:
		return fmt.Errorf("%w: %d after %d", ErrTerm, d.Term, before.Term)
	case d.Term == before.Term && d.Term != 0 && before.Role != Undecided && d.Role != Undecided && d.Leader != before.Leader:
		return fmt.Errorf("%w: two leaders in term %d", ErrTerm, d.Term)
	}
	return nil
}
