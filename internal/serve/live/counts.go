package live

import (
	"cmp"
	"slices"
	"sync"
	"time"

	"ringleader.example/ringleader/election"
	"ringleader.example/ringleader/internal/serve/view"
)

// Counts returns what has happened so far. Suspicions, saves, timers and round trips are counted for the member, in all its groups.
func (g *Group) Counts() view.Counts {
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
	view.Counts
}

// add counts something.
func (c *counts) add(count func(*view.Counts)) {
	c.mu.Lock()
	defer c.mu.Unlock()
	count(&c.Counts)
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
