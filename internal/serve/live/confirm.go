package live

import (
	"context"
	"errors"
	"time"

	"ringleader.example/ringleader/election"
	"ringleader.example/ringleader/internal/core/process"
)

// ErrDisputed reports that this member hears from a majority, but so many of these know of a higher term that they cannot confirm the lead in
// this one.
var ErrDisputed = errors.New("too many members know of a higher term")

// Confirm waits until a majority has answered a request for the lease of a term that left after the call began, of members that
// had promised no higher term. None was won at that time, since its leader needs the promise of one of them: so this member led at a
// moment after the call began, whatever the clocks did. It returns false if the lease has ended before, and [ErrDisputed] as soon as
// so many that this member hears from have promised one that the others are no majority.
func (g *Group) Confirm(ctx context.Context, term election.Term) (leads bool, err error) {
	unit, alarm := g.member.config.Unit, g.member.clock.NewTimer()
	defer alarm.Stop()
	// The algorithm knows whole units. A request with this time, or a later one, left after the call began.
	after := (g.member.boot()/unit + 1) * unit
	for {
		wait, longer, done, disputed := g.confirmed(term, after)
		switch {
		case done:
			return true, nil
		case wait == 0:
			return false, nil
		case disputed:
			return false, ErrDisputed
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
// 0 if the lease has ended, a channel that is closed when a majority has answered again, and whether none can. It sends a request
// unless one is under way: the algorithm counts only answers to its last requests.
func (g *Group) confirmed(term election.Term, after time.Duration) (wait time.Duration, longer <-chan struct{}, done, disputed bool) {
	boot := g.member.boot()
	g.mu.Lock()
	left, idle := g.left(term, boot), g.agreed >= g.round+g.entitled
	disputed = g.dispute
	if g.longer == nil {
		g.longer = make(chan struct{})
	}
	longer, done = g.longer, left > 0 && g.agreed >= after+g.entitled
	ask := left > 0 && !done && !disputed && idle && boot >= after
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
	return left, longer, done, disputed
}

// agree notes until when those agree that know of no higher term, and whether too many know of one.
func (g *group) agree() {
	until := process.Moment(0, g.voters.Confirmed.Left(election.Ticks{}), g.member.config.Unit)
	dispute := g.disputed()
	g.handle.mu.Lock()
	defer g.handle.mu.Unlock()
	if until == g.handle.agreed && dispute == g.handle.dispute {
		return
	}
	g.handle.agreed, g.handle.dispute = until, dispute
	g.handle.wake()
}

// disputed reports whether the voters that this member hears from are a majority, and those of them that know of no higher term are none.
func (g *group) disputed() bool {
	if g.voters.Disputed == nil {
		return false
	}
	voters, hears, clear := g.votersNow().Members, 0, 0
	for _, id := range voters {
		rank, known := g.member.Rank(id)
		if p := g.member.peerOf(id); !known || p != nil && p.health != reachable {
			continue
		}
		hears++
		if d := g.voters.Disputed; int(rank) > len(d) || !d[rank-1] {
			clear++
		}
	}
	return hears > len(voters)/2 && clear <= len(voters)/2
}
