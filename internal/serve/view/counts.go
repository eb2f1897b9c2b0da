package view

import (
	"time"

	"ringleader.example/ringleader/network"
)

// Counts counts what has happened in a group since the start of this life of the member.
type Counts struct {
	Tenures     uint64        // of this member
	Lapses      uint64        // tenures of this member whose lease ran out
	Renewals    uint64        // times that the lease of this member was prolonged
	Late        uint64        // of these: less than half of it was left
	Changes     uint64        // of the known leader: each time that another one is known
	ByCause     ByCause       // likewise: each end of a lead, and each leader without one before
	Elections   uint64        // times without a known leader that have ended
	Electing    time.Duration // the sum of these times
	Suspicions  uint64        // of members that were reachable
	Lateness    Histogram     // of wakings for a timer that was due
	Saves       Histogram     // of flushes of durable state that succeeded: how long they took
	RoundTrips  Histogram     // from a renewal of the lease of this member to the answer of another one
	FailedSaves uint64        // writes of durable state that failed

	known uint64 // the leader that was known last
}

// Change counts a change of the state.
func (c *Counts) Change(before, now *State) {
	if now.Role == network.Leader && (before.Role != network.Leader || before.Term != now.Term) {
		c.Tenures++
	}
	if last := &now.Last; !last.counted && (last.To != 0 || last.From != 0 && last.Cause != Unknown) { // evidence for one that is unknown may come
		last.counted = true
		c.ByCause[last.Cause]++
	}
	if now.Leader == 0 {
		return
	}
	if before.Leader == 0 {
		c.Elections++
		c.Electing += now.Since.Sub(before.Since)
	}
	if now.Leader != c.known {
		c.known = now.Leader
		c.Changes++
	}
}
