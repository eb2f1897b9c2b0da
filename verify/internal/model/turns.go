package model

import (
	"ringleader.example/ringleader/election"
)

// takeTurns lets a configuration have only the events of the first process that must do something at this moment, where
// messages take one unit.
func (c *Checker) takeTurns(conf Configuration) {
	c.Low, c.High = 0, c.N
	if c.Options.Delay > 1 || c.Declaration.Timing == election.Synchronous {
		return
	}
	for q := range c.N {
		if c.isDue(conf, q) {
			c.Low, c.High = q, q+1
			return
		}
	}
}

// isDue reports whether a message must arrive at a process, or a timer of it expire, at this moment.
func (c *Checker) isDue(conf Configuration, q int) bool {
	p := c.Process(conf, q)
	for t := range c.Declaration.Timers {
		if p.Running>>t&1 == 1 && remaining(p.Timers[t]).IsZero() {
			return true
		}
	}
	for _, l := range c.Into[q] {
		for _, m := range c.Queue(conf, l) {
			if m.Age > 0 {
				return true
			}
		}
	}
	return false
}
