package verify

import (
	"errors"

	"ringleader.example/ringleader/election"
	"ringleader.example/ringleader/internal/memory"
	"ringleader.example/ringleader/internal/process"
)

// The extremes of time. The section Time of the package comment defines it, and proves that this search is exact.

// untimed returns why no time is stated, or "".
func (o *Options) untimed(d *election.Declaration) string {
	switch {
	case o.Lazy:
		return "in lazy time a message takes any time"
	case d.Leased:
		return "a leader renews its lease for ever"
	case o.Initiators == nil && (o.Starts == AnyTime || o.Starts == Each), o.Initiators != nil && d.Starts == election.AllStart,
		o.Starts == EverySet && d.Starts == election.AllStart:
		return "a process may initiate after any time"
	}
	return ""
}

// timesOf finds the extremes of time, or why there are none.
func timesOf(program *process.Program, given *Options) (times *Times, none string, err error) {
	if none := given.untimed(program.Declaration); none != "" {
		return nil, none, nil
	}
	defer func() {
		fault := recover()
		if wrong, is := fault.(error); is && errors.Is(wrong, election.ErrTime) {
			times, none, err = nil, "time passes 2^128 units", nil
		} else if fault != nil {
			panic(fault)
		}
	}()
	o := *given
	o.times = true
	o.Crashes, o.Recoveries, o.Losses, o.Duplicates, o.Cuts, o.Suspicions, o.Commands, o.Wardens = 0, 0, 0, 0, 0, 0, 0, false
	m := newMeter(&o, countInstances(program.Declaration, &o))
	defer memory.Limited(m.enough())()
	l := newLane(program, &o, m, max(1, o.Cores))
	all := [...]outliers{{}, {}, {}}
	of := [...]marks{elects, decides, arrives}
	for instance := range instances(program.Declaration, &o) {
		g, err := l.graphOf(instance)
		if err != nil {
			return nil, "", err
		}
		parts := g.components()
		for i, mark := range of {
			few, many := g.overall(g.extremes(parts, mark))
			all[i].add(mark.value(few), mark.value(many), instance)
		}
		m.done(&l.search)
	}
	times = &Times{}
	for i, e := range []*Extreme{&times.Elected, &times.Decided, &times.Quiet} {
		if *e, err = all[i].extreme(l, of[i]); err != nil {
			return nil, "", err
		}
	}
	return times, "", nil
}

// takeTurns lets a configuration have only the events of the first process that must do something at this moment, where
// messages take one unit.
func (c *checker) takeTurns(conf configuration) {
	c.low, c.high = 0, c.n
	if c.o.Delay > 1 || c.d.Timing == election.Synchronous {
		return
	}
	for q := range c.n {
		if c.isDue(conf, q) {
			c.low, c.high = q, q+1
			return
		}
	}
}

// isDue reports whether a message must arrive at a process, or a timer of it expire, at this moment.
func (c *checker) isDue(conf configuration, q int) bool {
	p := c.process(conf, q)
	for t := range c.d.Timers {
		if p.Running>>t&1 == 1 && left(p.Timers[t]).IsZero() {
			return true
		}
	}
	for _, l := range c.into[q] {
		for _, m := range c.queue(conf, l) {
			if m.Age > 0 {
				return true
			}
		}
	}
	return false
}
