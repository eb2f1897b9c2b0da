// Package view has the values that a member shows of a group: its state, why the leader has changed, how members stand for election, and what was
// counted. They know neither a loop nor a clock.
package view

import (
	"time"

	"ringleader.example/ringleader/election"
	"ringleader.example/ringleader/network"
)

// State is the visible state of a member in a group.
type State struct {
	Role      network.Role
	Leader    uint64 // 0 if not known
	Term      election.Term
	Value     string     // what the leader has published in Term
	Since     time.Time  // when Role, Leader and Term last changed
	Until     time.Time  // when leadership ends by itself, if it does: a lease; wall clock
	Stopping  bool       // it leads, and its work is to stop
	Members   []uint64   // the list, by identifier
	Reachable []bool     // in the same order: whether the member is heard from
	Problems  []string   // in the same order: the member's known problem; empty: none
	Standings []Standing // in the same order, as far as they are known

	// Granted is, in the same order, for how long the newest grant of each member still entitles this one to lead; nil: this one does not lead, or
	// without leases.
	Granted []time.Duration

	ListLacks uint64 // the voter that the last list of the host lacks, so that it waits; 0: it does not
	Voters    Voters
	Last      Change // the last change of Leader
}

// Voters is what a member knows about the members that vote.
type Voters struct {
	Term    election.Term // of the leader that made the last change; 0: there was none
	Version uint64        // the number of changes
	Members []uint64      // that vote, in rising order
	Kept    int           // how many voters are known to keep this; 0 if this member does not lead
}

// Keeps reports whether a majority of the voters is known to keep them, so that the change has happened for good.
func (v *Voters) Keeps() bool {
	return v.Kept > len(v.Members)/2
}

// Settled reports whether no change of the voters is under way: those of the configuration need no process to keep them.
func (v *Voters) Settled() bool { return v.Version == 0 || v.Keeps() }

// RoleName returns the name of the role in the log: that which status has.
func (s *State) RoleName() string {
	if s.Role == network.Undecided {
		return "electing"
	}
	return s.Role.String()
}
