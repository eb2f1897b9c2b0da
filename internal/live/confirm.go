package live

import (
	"context"
	"time"

	"ringleader.example/ringleader/election"
)

// Confirm waits until a majority has answered a request for the lease of a term that left after the call began. Each of
// these members then had no other leader, so this member led at a moment after the call began, whatever the clocks did
// meanwhile. It returns false if the lease has ended before.
func (g *Group) Confirm(ctx context.Context, term election.Term) (leads bool, err error) {
	unit, alarm := g.member.config.Unit, g.member.clock.NewTimer()
	defer alarm.Stop()
	// The algorithm knows whole units. A request with this time, or a later one, left after the call began.
	after := (g.member.boot()/unit + 1) * unit
	for {
		wait, longer, done := g.confirmed(term, after)
		switch {
		case done:
			return true, nil
		case wait == 0:
			return false, nil
		}
		alarm.Reset(wait)
		select {
		case <-alarm.C():
		case <-longer:
		case <-ctx.Done():
			return false, context.Cause(ctx)
		}
	}
}

// confirmed reports whether a majority has answered a request of that time or later. If not, it returns how long to wait,
// 0 if the lease has ended, and a channel that is closed when a majority has answered again. It sends a request unless one
// is under way: the algorithm counts only answers to its last requests.
func (g *Group) confirmed(term election.Term, after time.Duration) (wait time.Duration, longer <-chan struct{}, done bool) {
	boot := g.member.boot()
	g.mu.Lock()
	left, idle := g.left(term, boot), g.until >= g.round+g.entitled
	if g.longer == nil {
		g.longer = make(chan struct{})
	}
	longer, done = g.longer, left > 0 && g.until >= after+g.entitled
	ask := left > 0 && !done && idle && boot >= after
	if ask {
		g.round = after
	}
	g.mu.Unlock()
	if ask {
		g.Command(election.Command{Order: election.Confirm})
	}
	if left > 0 && boot < after {
		left = min(left, after-boot)
	}
	return left, longer, done
}
