package live

import (
	"cmp"
	"slices"
	"sync"
	"time"

	"ringleader.example/ringleader/election"
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
}

// Counts returns what has happened so far. Suspicions, saves, timers and round trips are counted for the member, in all its groups.
func (g *Group) Counts() Counts {
	g.mu.Lock()
	c := g.counts
	g.mu.Unlock()
	m := &g.member.counts
	m.mu.Lock()
	defer m.mu.Unlock()
	c.Suspicions, c.Lateness, c.RoundTrips, c.Saves, c.FailedSaves = m.Suspicions, m.Lateness, m.RoundTrips, m.Saves, m.FailedSaves
	return c
}

// counts is a Counts of what belongs to no group.
type counts struct {
	mu sync.Mutex
	Counts
}

// add counts something.
func (c *counts) add(count func(*Counts)) {
	c.mu.Lock()
	defer c.mu.Unlock()
	count(&c.Counts)
}

// count counts a change of the state.
func (g *Group) count(s *State) {
	c, before := &g.counts, &g.state
	if s.Role == network.Leader && (before.Role != network.Leader || before.Term != s.Term) {
		c.Tenures++
	}
	if last := &s.Last; !last.counted && (last.To != 0 || last.From != 0 && last.Cause != Unknown) { // evidence for one that is unknown may come
		last.counted = true
		c.ByCause[last.Cause]++
	}
	if s.Leader == 0 {
		return
	}
	if before.Leader == 0 {
		c.Elections++
		c.Electing += s.Since.Sub(before.Since)
	}
	if s.Leader != g.last {
		g.last = s.Leader
		c.Changes++
	}
}

// lapse counts a lease that has run out.
func (g *Group) lapse() {
	g.mu.Lock()
	defer g.mu.Unlock()
	g.counts.Lapses++
}

// renew prolongs the lease of this member, and counts that.
func (g *Group) renew(until time.Duration, late bool) {
	g.mu.Lock()
	defer g.mu.Unlock()
	g.counts.Renewals++
	if late {
		g.counts.Late++
	}
	g.move(until)
	g.shows()
}

// isLate reports whether less than half of the lease is left. Only the loop calls it.
func (g *Group) isLate() bool { return g.until-g.member.boot() < g.lasts()/2 }

// lasts returns how long the lease lasts that this member has, or follows. Only the loop calls it.
func (g *Group) lasts() time.Duration { return cmp.Or(g.span, g.entitled) }

// lastsFor notes that.
func (g *Group) lastsFor(span time.Duration) {
	if span != g.span {
		g.mu.Lock()
		defer g.mu.Unlock()
		g.span = span
	}
}

// Length returns the length of the lease that this member has, or follows; 0: none.
func (g *Group) Length() time.Duration {
	g.mu.Lock()
	defer g.mu.Unlock()
	if g.state.Leader == 0 || g.entitled == 0 {
		return 0
	}
	return time.Duration(float64(g.lasts()) / float64(g.entitled) * float64(g.longest)).Round(g.member.config.Unit)
}

// Timer returns how long a timer of the algorithm still runs, by its declared name; 0 if it does not.
func (g *Group) Timer(name string) time.Duration {
	timer := slices.Index(g.member.program.Timers, name)
	if timer < 0 {
		return 0
	}
	clocks := g.member.clocks()
	g.mu.Lock()
	defer g.mu.Unlock()
	left, runs := g.timers.Left(election.Timer(timer), clocks)
	if !runs {
		return 0
	}
	return max(0, left)
}
