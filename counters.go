package ringleader

import (
	"maps"
	"time"

	"ringleader.example/ringleader/internal/serve/view"
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
		Suspicions: c.Suspicions, Timers: c.Lateness.Count(), Lateness: c.Lateness.Sum, Saves: c.Saves.Count(), SaveTime: c.Saves.Sum, FailedSaves: c.FailedSaves,
	}
}

// ChangesByCause returns how often the known leader has changed, since Join, by the cause as far as this member knows it: see [LeaderChange]. It
// has all causes. The end of a lead and the leader that follows it are one change.
func (m *Member) ChangesByCause() map[string]uint64 {
	c := m.group.Counts()
	return maps.Collect(c.ByCause.All())
}

// Histogram counts lengths of time. Each number only grows.
type Histogram struct {
	Buckets []Bucket // by rising bound
	Count   uint64   // of all lengths, also of those above the last bound
	Sum     time.Duration
}

// Bucket counts the lengths of time that a bound has.
type Bucket struct {
	Most  time.Duration
	Count uint64 // of lengths that are not above Most
}

// Histograms are those of a process: its members in all groups share connections, clock and disk.
type Histograms struct {
	Saves      Histogram // how long votes took to be flushed to the disk
	RoundTrips Histogram // how long the others took to answer when this member, as the leader, renewed its lease; lost answers are not counted
	Lateness   Histogram // how late the member woke for a timer
}

// Histograms returns the current histograms.
func (m *Member) Histograms() Histograms {
	c := m.group.Counts()
	return Histograms{Saves: histogramOf(&c.Saves), RoundTrips: histogramOf(&c.RoundTrips), Lateness: histogramOf(&c.Lateness)}
}

func histogramOf(h *view.Histogram) Histogram {
	all := Histogram{Sum: h.Sum, Count: h.Count()}
	below := uint64(0)
	for i, most := range view.Bounds() {
		below += h.Buckets[i]
		all.Buckets = append(all.Buckets, Bucket{most, below})
	}
	return all
}
