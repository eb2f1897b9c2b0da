package network

import (
	"errors"
	"fmt"

	"ringleader.example/ringleader/election"
)

// Role is the role of a process in an election, by its own decision.
type Role uint8

// The roles.
const (
	Undecided Role = iota
	Follower
	Leader
)

func (r Role) String() string { return [...]string{"undecided", "follower", "leader"}[r] }

// Decision is the decision of a process. The Leader of a leader is its own identifier.
type Decision struct {
	Term   election.Term
	Leader election.ID
	Role   Role
}

// ErrIrrevocable reports that a process decided twice where its first decision is final.
var ErrIrrevocable = errors.New("decided twice")

// ErrTerm reports a decision in a lower term than the one before, or a different one in the same term.
var ErrTerm = errors.New("went back on a term")

// Apply applies the decision of an effect of the process with identifier self. It returns [ErrIrrevocable] or
// [ErrTerm] if the task does not allow the decision, which is applied all the same.
func (d *Decision) Apply(task election.Task, e election.Effect, self election.ID) error {
	before := *d
	switch e.Op {
	case election.Lead:
		*d = Decision{e.Term, self, Leader}
	case election.Follow:
		*d = Decision{e.Term, e.ID, Follower}
	case election.NoLeader:
		*d = Decision{Term: d.Term}
	default:
		return nil
	}
	switch {
	case task == election.Once && (before.Role != Undecided || d.Role == Undecided):
		return fmt.Errorf("%w: was %s, then %s", ErrIrrevocable, before.Role, d.Role)
	case task == election.Once && d.Term != 0:
		return fmt.Errorf("%w: one-shot decisions have term 0, not %d", ErrTerm, d.Term)
	case task == election.Groups: // engines check all processes together
		return nil
	case d.Term < before.Term:
		return fmt.Errorf("%w: %d after %d", ErrTerm, d.Term, before.Term)
	case d.Term == before.Term && d.Term != 0 && before.Role != Undecided && d.Role != Undecided && d.Leader != before.Leader:
		return fmt.Errorf("%w: two leaders in term %d", ErrTerm, d.Term)
	}
	return nil
}
