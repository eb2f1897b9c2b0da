package reductions

import (
	"slices"

	"ringleader.example/ringleader/election"
	"ringleader.example/ringleader/verify/internal/model"
)

// Partial order: where all next events of one process can come first, only these are explored. The page on it in the package
// comment has the theorem.

// Unordered returns the premise of partial order that does not hold, or "".
func Unordered(o *model.Options, d *election.Declaration, eligible bool) string {
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

// Ample chooses, in each configuration, the processes whose events are enough.
type Ample struct {
	*model.Checker
	Silent []bool // by link: whether it is taken to be silent
	Heard  []int  // the links on which a step has sent although they are
	Single bool   // what comes first is a single event
}

// Narrow lets a configuration have only the events of one process, if these can come first.
func (c *Ample) Narrow(conf model.Configuration) {
	c.Low, c.High = 0, c.N
	if g := c.Global(conf); c.Functions.Suspect && g.Crashes+g.Recoveries > 0 { // they give others something to suspect, or take it
		return
	}
	for q := range c.N {
		if c.precedes(conf, q) {
			c.Low, c.High = q, q+1
			return
		}
	}
}

// precedes reports whether a process has an event that must come, and no other process can give it one more.
func (c *Ample) precedes(conf model.Configuration, q int) bool {
	p := c.Process(conf, q)
	comes, carrying := p.Start == model.MustStart, 0
	for _, l := range c.Into[q] {
		switch {
		case p.Start == model.MustStart && c.Options.Starts == model.Each: // before any message
		case len(c.Queue(conf, l)) > 0:
			comes = true
			carrying++
		case !c.Silent[l] && !c.gone(conf, q) && !c.gone(conf, c.Links[l].From):
			return false
		}
	}
	return comes && (!c.Single || carrying < 2)
}

// gone reports whether a process has crashed for ever.
func (c *Ample) gone(conf model.Configuration, q int) bool {
	return !c.Process(conf, q).Alive && c.Global(conf).Recoveries == 0
}

// Hears notes on which links a step sends that were taken to be silent.
func (c *Ample) Hears(t *model.Transition) {
	if t.Outcome == nil {
		return
	}
	first := int(c.Network.Network.First(t.Process))
	for _, s := range t.Outcome.Sent {
		if l := first + int(s.Port); c.Silent[l] && !slices.Contains(c.Heard, l) {
			c.Heard = append(c.Heard, l)
		}
	}
}
