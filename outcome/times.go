package outcome

import (
	"ringleader.example/ringleader/election"
	"ringleader.example/ringleader/network"
)

// Times are times of a run, in units of delay; with random delays in ticks, of which there are many in a unit.
type Times struct {
	Elected election.Ticks // the last time that a process became leader
	Decided election.Ticks // the last time that a decision changed
	Quiet   election.Ticks // when the last message arrived
}

// Decision records that a decision changed, and into which role.
func (t *Times) Decision(role network.Role, now election.Ticks) {
	t.Decided = Later(t.Decided, now)
	if role == network.Leader {
		t.Elected = Later(t.Elected, now)
	}
}

// Later returns the later of two times.
func Later(t, u election.Ticks) election.Ticks {
	if t.Less(u) {
		return u
	}
	return t
}
