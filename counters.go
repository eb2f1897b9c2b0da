package ringleader

import (
	"maps"
	"time"
)

// Counters counts what has happened to a member, since Join, for metrics. Each number only grows.
type Counters struct {
	Tenures       uint64 // times that this member began to lead
	Lapses        uint64 // tenures of this member that ended because its lease ran out
	LeaderChanges uint64 // times that another leader than before was known

	Renewals     uint64 // times that the lease of this member was prolonged
	LateRenewals uint64 // of these, the times that less than half of the lease was left

	Elections    uint64        // times without a known leader that have ended
	ElectionTime time.Duration // the sum of these times

	// These are of the process: its members in all groups share connections, clock and disk.

	Suspicions  uint64        // times that a member that was heard from fell silent
	Timers      uint64        // times that the member woke for a timer
	Lateness    time.Duration // the sum of how late it was then
	Saves       uint64        // times that votes were flushed to the disk
	SaveTime    time.Duration // the sum of how long that took
	FailedSaves uint64        // times that votes could not be written; the member gives no answer meanwhile
}

// Counters returns the current counts.
func (m *Member) Counters() Counters {
	c := m.group.Counts()
	return Counters{
		Tenures: c.Tenures, Lapses: c.Lapses, LeaderChanges: c.Changes, Renewals: c.Renewals, LateRenewals: c.Late, Elections: c.Elections, ElectionTime: c.Electing,
		Suspicions: c.Suspicions, Timers: c.Timers, Lateness: c.Lateness, Saves: c.Saves, SaveTime: c.SaveTime, FailedSaves: c.FailedSaves,
	}
}

// ChangesByCause returns how often the known leader has changed, since Join, by the cause as far as this member knows it: see [LeaderChange]. It
// has all causes. The end of a lead and the leader that follows it are one change.
func (m *Member) ChangesByCause() map[string]uint64 {
	c := m.group.Counts()
	return maps.Collect(c.ByCause.All())
}
