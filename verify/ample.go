package verify

import (
	"slices"

	"ringleader.example/ringleader/election"
)

// Partial order: where all next events of one process can come first, only these are explored. The page on it in the package
// comment has the theorem.

// unordered returns the premise of partial order that does not hold, or "".
func unordered(o *modelOptions, d *election.Declaration, eligible bool) string {
	switch {
	case d.Timing != election.Asynchronous:
		return "time passes"
	case o.Unordered:
		return "links are not FIFO"
	case d.Task != election.Once:
		return "decisions are not for ever"
	case o.Cuts+o.Suspicions > 0:
		return "processes are suspected by mistake, or cut off"
	case o.Wardens:
		return "proofs of death come at any time"
	case eligible:
		return "the right leader depends on states"
	}
	return ""
}

// ample chooses, in each configuration, the processes whose events are enough.
type ample struct {
	*checker
	silent []bool // by link: whether it is taken to be silent
	heard  []int  // the links on which a step has sent although they are
	single bool   // what comes first is a single event
}

// narrow lets a configuration have only the events of one process, if these can come first.
func (c *ample) narrow(conf configuration) {
	c.low, c.high = 0, c.n
	if g := c.global(conf); c.has.Suspect && g.Crashes+g.Recoveries > 0 { // they give others something to suspect, or take it
		return
	}
	for q := range c.n {
		if c.precedes(conf, q) {
			c.low, c.high = q, q+1
			return
		}
	}
}

// precedes reports whether a process has an event that must come, and no other process can give it one more.
func (c *ample) precedes(conf configuration, q int) bool {
	p := c.process(conf, q)
	comes, carrying := p.Start == must, 0
	for _, l := range c.into[q] {
		switch {
		case p.Start == must && c.o.Starts == each: // before any message
		case len(c.queue(conf, l)) > 0:
			comes = true
			carrying++
		case !c.silent[l] && !c.gone(conf, q) && !c.gone(conf, c.links[l].from):
			return false
		}
	}
	return comes && (!c.single || carrying < 2)
}

// gone reports whether a process has crashed for ever.
func (c *ample) gone(conf configuration, q int) bool {
	return !c.process(conf, q).Alive && c.global(conf).Recoveries == 0
}

// hears notes on which links a step sends that were taken to be silent.
func (c *ample) hears(t *transition) {
	if t.outcome == nil {
		return
	}
	first := int(c.network.Network.First(t.process))
	for _, s := range t.outcome.sent {
		if l := first + int(s.port); c.silent[l] && !slices.Contains(c.heard, l) {
			c.heard = append(c.heard, l)
		}
	}
}
