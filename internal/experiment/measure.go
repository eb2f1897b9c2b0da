package experiment

import (
	"context"
	"errors"
	"fmt"
	"math/big"
	"sync"

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
func (p *place) simulated() bool { return !p.counted() || p.n <= mostTimed && !p.timed }

// varies reports whether runs may differ: by a random order, by the schedule or by what processes choose.
func (p *place) varies() bool { return p.order == "random" || p.Claims.Counts == election.CountsVary }

// cost is the cost of one run.
type cost struct {
	election, announcement uint64
	elected, quiet         *big.Int // nil if unknown
}

// run makes one run; timed reports whether its time is worth a simulation, if it takes one.
func (p *place) run(ctx context.Context, seed uint64, timed bool) (c cost, err error) {
	i, err := p.instance(seed)
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
		Instance: i, Seed: seed, SkipPhases: true,
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

// Options control the execution of a study; none of them changes a number.
type Options struct {
	Cores    int                       // the number of simultaneous runs; at least 1
	Durable  []*Point                  // the points measured before
	Finished func(*Point) error        // called with each further point; an error ends the study
	Progress func(done, total float64) // called after each run, with the work done and the estimated total
}

// Measure measures all points, in the order of the table. An error names the place; the points before are finished.
func (s *Study) Measure(ctx context.Context, o Options) ([]*Point, error) {
	kept := map[string]*Point{}
	for _, p := range o.Durable {
		kept[p.key()] = p
	}
	ctx, stop := context.WithCancel(ctx)
	defer stop()
	m := measuring{Study: s, o: o, free: make(chan struct{}, o.Cores), left: map[*place]uint64{}, expected: map[string]uint64{}}
	places := s.places()
	points, errs := make([]*Point, len(places)), make([]error, len(places))
	for i := range places {
		if points[i] = kept[places[i].point().key()]; points[i] == nil {
			m.left[&places[i]] = 0
		}
	}
	var wait sync.WaitGroup
	atOnce := make(chan struct{}, o.Cores)
	for i := range places {
		if points[i] != nil {
			continue
		}
		atOnce <- struct{}{}
		if ctx.Err() != nil {
			break
		}
		wait.Go(func() {
			defer func() { <-atOnce }()
			if points[i], errs[i] = m.point(ctx, &places[i]); errs[i] != nil {
				stop()
			}
		})
	}
	wait.Wait()
	for i, err := range errs {
		if err != nil && !errors.Is(err, context.Canceled) {
			return nil, fmt.Errorf("%s: %w", points[i].key(), err)
		}
	}
	return points, ctx.Err()
}

// measuring is a study under way.
type measuring struct {
	*Study
	o    Options
	free chan struct{} // capacity: the number of cores

	sync.Mutex
	left     map[*place]uint64 // unfinished places, with the runs made so far
	expected map[string]uint64 // by algorithm: the number of runs of its last point
	done     float64           // work
}

// progress reports a run, and the remaining work if each point takes as many runs as the last one of its algorithm.
func (m *measuring) progress(p *place) {
	if m.o.Progress == nil {
		return
	}
	m.Lock()
	defer m.Unlock()
	m.left[p]++
	m.done += p.weight()
	total := m.done
	for other, runs := range m.left {
		if expected := max(m.first(other), m.expected[other.Label]); runs < expected {
			total += float64(expected-runs) * other.weight()
		}
	}
	m.o.Progress(m.done, total)
}

// point measures a point, in batches of runs until there are enough.
func (m *measuring) point(ctx context.Context, p *place) (*Point, error) {
	point := p.point()
	for target := m.first(p); point.Runs() < target; {
		before := point.Runs()
		costs, errs := make([]cost, target-before), make([]error, target-before)
		var wait sync.WaitGroup
		for i := range costs {
			m.free <- struct{}{}
			wait.Go(func() {
				defer func() { <-m.free }()
				if errs[i] = ctx.Err(); errs[i] == nil {
					run := before + uint64(i)
					costs[i], errs[i] = p.run(ctx, m.Seed+run, run < timedRuns)
				}
				m.progress(p)
			})
		}
		wait.Wait()
		for i := range costs {
			if errs[i] != nil {
				return point, errs[i]
			}
		}
		for _, c := range costs {
			point.add(c)
		}
		if p.varies() && m.Runs == 0 && target < MostRuns && !point.Election.reached(m.Until) {
			target *= 2
		}
	}
	m.Lock()
	defer m.Unlock()
	delete(m.left, p)
	m.expected[p.Label] = point.Runs()
	if m.o.Finished == nil {
		return point, nil
	}
	return point, m.o.Finished(point)
}

// first returns the least number of runs.
func (s *Study) first(p *place) uint64 {
	switch {
	case !p.varies():
		return 1
	case s.Runs > 0:
		return s.Runs
	}
	return min(max(enoughRead/uint64(p.n), leastRuns), enoughRuns)
}
