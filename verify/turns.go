package verify

import (
	"ringleader.example/ringleader/election"
)

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
		if p.Running>>t&1 == 1 && remaining(p.Timers[t]).IsZero() {
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
