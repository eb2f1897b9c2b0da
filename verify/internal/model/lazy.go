package model

import (
	"slices"

	"ringleader.example/ringleader/election"
)

// Lazy time: no event is urgent. A message takes any time, a timer is late by any time, and time passes at any moment, in
// steps of the true time. Each process has two clocks, as guarantee 9 of package election allows: the clock of its timers
// has the highest rate within the clock error, and the clock of its deadlines the lowest. The package comment explains
// why these two rates cover all rates between them.

// step is the step in which lazy time passes, in units of the true time.
func (o *Options) step() uint64 { return max(1, o.ClockError.Of) * max(1, o.Pace) }

// ageLazily lets the clocks of a process run for a step of lazy time.
func (c *Checker) ageLazily(p *ProcessState, step election.Ticks) {
	err := step.Lo / max(1, c.Options.ClockError.Of) * c.Options.ClockError.Times
	fast, slow := election.Units(step.Lo+err), election.Units(step.Lo-err)
	for t := range c.Declaration.Timers {
		if p.Anchored>>t&1 == 0 {
			p.Timers[t] = later(p.Timers[t], fast)
		}
	}
	c.ageDeadlines(p, slow)
}

// ageDeadlines lets the clock run on which a process reads deadlines, with the leases that end by it.
func (c *Checker) ageDeadlines(p *ProcessState, passed election.Ticks) {
	for t := range c.Declaration.Timers {
		if p.Anchored>>t&1 == 1 {
			p.Timers[t] = later(p.Timers[t], passed)
		}
	}
	p.Lease, p.Orphan = later(p.Lease, passed), later(p.Orphan, passed)
	p.State = c.Values.Age(p.State, passed)
}

// later returns a deadline when some time has passed.
func later(d election.Deadline, passed election.Ticks) election.Deadline {
	return election.DeadlineIn(d.Left(passed), election.Ticks{})
}

// idle lets a step of lazy time pass, or the clock gain a step on which one process reads deadlines.
func (c *Checker) idle(conf Configuration, visit Visitor) {
	t := Transition{Event: Waits, Class: Free, Time: election.Units(c.Options.step())}
	if c.selects(Free) {
		copy(c.Next, conf)
		c.pass(c.Next, t.Time)
		if !slices.Equal(c.Next, conf) {
			visit(&t, c.Next)
		}
	}
	for q := range c.N {
		if !c.Process(conf, q).Alive || !c.selects(Free) {
			continue
		}
		p := *c.Process(conf, q)
		copy(c.Next, conf)
		c.ageDeadlines(&p, election.Units(c.Options.step()))
		c.SetProcess(c.Next, &p)
		if !slices.Equal(c.Next, conf) {
			visit(&Transition{Event: Hastens, Class: Free, Process: q}, c.Next)
		}
	}
}
