package experiment

import (
	"context"
	"errors"
	"fmt"
	"math/big"

	"ringleader.example/ringleader/election"
	"ringleader.example/ringleader/simulate"
)

// A closed form that counts messages only is also simulated, for the time: with limits on the processes of a ring and
// on the runs of a point.
const (
	mostTimed = 1 << 20
	timedRuns = 32
)

// simulated reports whether a point takes simulations.
func (p *place) simulated() bool {
	return !p.counted() || p.n <= mostTimed && !p.timed && !p.exhausted()
}

// varies reports whether runs may differ: by a random order, by the schedule or by what processes choose.
func (p *place) varies() bool {
	return p.order == "random" || p.exhausted() || p.Claims.Counts == election.CountsVary
}

// cost is the cost of one run.
type cost struct {
	election, announcement uint64
	elected, quiet         *big.Int // nil if unknown
}

// run makes one run; timed reports whether its time is worth a simulation, if it takes one.
func (p *place) run(ctx context.Context, seed uint64, timed bool) (c cost, err error) {
	i, err := p.setup(seed)
	if err != nil {
		return c, err
	}
	if p.counted() {
		r, err := p.Count(ctx, i.IDs, p.Parameters, nil)
		if err != nil {
			return c, err
		}
		c = cost{election: r.Messages.Election, announcement: r.Messages.Announcement}
		if r.Time != nil {
			c.elected, c.quiet = r.Time.Elected, r.Time.Quiet
			return c, nil
		}
		if !timed || p.n > mostTimed {
			return c, nil
		}
	}
	r, err := p.Simulate(simulate.Options{
		Setup: i, Seed: seed, SkipPhases: true,
		Progress: func(uint64) bool { return ctx.Err() == nil },
	})
	switch {
	case err != nil:
		return c, err
	case ctx.Err() != nil:
		return c, ctx.Err()
	case !r.Complete || !r.Right || len(r.Faults) > 0:
		return c, errors.New("the run does not end with the right leader")
	case p.counted() && (r.Messages.Election != c.election || r.Messages.Announcement != c.announcement):
		return c, fmt.Errorf("counted %d + %d messages, simulated %d + %d",
			c.election, c.announcement, r.Messages.Election, r.Messages.Announcement)
	}
	c = cost{election: r.Messages.Election, announcement: r.Messages.Announcement}
	if r.Time != nil {
		c.elected, c.quiet = r.Time.Elected.Big(), r.Time.Quiet.Big()
	}
	return c, nil
}

// point returns a point without runs.
func (p *place) point() *Point {
	point := &Point{Algorithm: p.Label, N: p.n, Order: p.order, Varies: p.varies(), How: SimulatedOnce}
	switch {
	case p.counted():
		point.How = Counted
	case p.Claims.Counts == election.CountsVary:
		point.How = Simulated
	}
	return point
}

// add adds a run.
func (p *Point) add(c cost) {
	p.Election.add(new(big.Int).SetUint64(c.election))
	p.Announcement.add(new(big.Int).SetUint64(c.announcement))
	if c.elected == nil {
		return
	}
	if p.Elected == nil {
		p.Elected, p.Quiet = new(Sum), new(Sum)
	}
	p.Elected.add(c.elected)
	p.Quiet.add(c.quiet)
}
