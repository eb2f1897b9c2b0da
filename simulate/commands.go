package simulate

import (
	"ringleader.example/ringleader/election"
	"ringleader.example/ringleader/internal/core/process"
	"ringleader.example/ringleader/trace"
)

// command gives the process at p a command of its host at a time.
func (c *clocked) command(p int, at election.Ticks, asks election.Command) {
	c.commands = append(c.commands, asks)
	c.schedule(event{at: at, what: command, process: uint32(p), other: uint32(len(c.commands) - 1)}, 0)
}

// obey lets the process at p obey a command, if it lives.
func (c *clocked) obey(p int, asks election.Command) {
	if c.IsDead(p) {
		return
	}
	c.Processes.Commands(asks)
	c.react(p, process.Event{What: process.Commanded}, trace.Step{Event: trace.Command, Port: -1, Text: c.Processes.CommandText()})
}

// stopWork makes the host of the process at p stop its work, and report when it has.
func (c *clocked) stopWork(p int) {
	c.Stops(p, true)
	at := c.Now
	if c.o.StopTime > 0 {
		at = at.Add(election.Units(c.delays.Below(c.o.StopTime + 1)))
	}
	c.schedule(event{at: at, what: stopped, process: uint32(p), life: c.life(p)}, 0)
}

// prove makes the warden of the process at p, which has crashed, prove its death to all others: at once, and again some time
// later, since it repeats the proof until it is acknowledged.
func (c *clocked) prove(p int) {
	if !c.o.Wardens {
		return
	}
	const again = 8 // longest delays
	dead := election.Command{Order: election.Died, Member: c.Instance.ID(p), Number: c.Processes.Incarnation(p)}
	for q := range c.Instance.Size() {
		if q != p {
			soon := c.Now.Add(election.Units(1 + c.delays.Below(c.longest())))
			c.command(q, soon, dead)
			c.command(q, soon.Add(election.Units(c.delays.Below(again*c.longest()))), dead)
		}
	}
}
