package model

import (
	"slices"

	"ringleader.example/ringleader/election"
)

// Transition leads from one configuration to the next.
type Transition struct {
	Event   Event
	Class   Class
	Process int
	At      uint16         // the port, timer, or number of a command or cut
	Link    int            // receives, loses: the link of the message
	Place   int            // … and its place in the queue
	opens   bool           // starts: no process has started before
	Again   bool           // receives: the link keeps a copy
	Amid    bool           // the process crashes amid its step
	Left    int            // … after so many of its messages have left
	Time    election.Ticks // waits: how long
	Outcome *Outcome       // if the algorithm made a step
	Breach  *Breach        // it leads to a violation
}

// Class is whether a run must continue if a transition is possible.
type Class uint8

const (
	Due     Class = iota // it must, with this transition or another
	Free                 // it may, or end
	ByFault              // a fault or a command: it may, and the run no longer counts in costs
)

// Visitor receives a transition and its target configuration, which is valid only during the call.
type Visitor func(*Transition, Configuration)

// Transitions visits all possible next transitions.
func (c *Checker) Transitions(conf Configuration, visit Visitor) {
	if !c.faultless {
		c.faults(conf, visit)
	}
	if c.Options.Times {
		c.takeTurns(conf)
	}
	for q := range c.N {
		if c.Process(conf, q).Start == StartsFirst {
			c.start(conf, q, Due, visit)
			return
		}
	}
	g := c.Global(conf)
	if c.Declaration.Timing == election.Synchronous { // in one unit messages, then starts, then timers
		if c.deliver(conf, visit) {
			return
		}
		if !g.Late {
			c.startOthers(conf, visit)
		}
		c.suspicions(conf, visit)
		if !c.timers(conf, visit) {
			c.wait(conf, visit)
		}
		return
	}
	c.deliver(conf, visit)
	c.startOthers(conf, visit)
	if !c.faultless {
		c.suspicions(conf, visit)
	}
	c.stops(conf, visit)
	c.tellDeaths(conf, visit)
	c.timers(conf, visit)
	switch {
	case c.Options.Lazy:
		c.idle(conf, visit)
	case c.clock:
		c.wait(conf, visit)
	}
}

// perform visits all outcomes of an event at a process of the configuration c.base.
func (c *Checker) perform(t Transition, message uint32, visit Visitor) {
	outcomes := c.OutcomesOf(StepKey{c.Base[t.Process], t.Event, t.At, message})
	for i := range outcomes {
		o := &outcomes[i]
		copy(c.Next, c.Base)
		c.Next[t.Process] = o.Process
		t.Outcome, t.Breach = o, o.Breach
		if o.Breach == nil {
			link := int(c.Network.Network.First(t.Process))
			for _, s := range o.Sent {
				if !c.severed(c.Next, link+int(s.Port)) {
					c.push(c.Next, link+int(s.Port), s.Message)
				}
			}
			if o.decides {
				t.Breach = c.Decided(c.Next, t.Process, c.Work(c.Process(c.Base, t.Process), &t), o.effects)
			}
		}
		c.taken = t
		visit(&c.taken, c.Next)
		if o.Breach == nil && len(o.Sent) > 0 {
			c.crashAmid(t, o, visit)
		}
	}
}

func (c *Checker) start(conf Configuration, q int, class Class, visit Visitor) {
	if !c.selects(class) {
		return
	}
	copy(c.Base, conf)
	g := *c.Global(conf)
	opens := !g.Begun
	if opens {
		g.Begun = true
		c.SetGlobal(c.Base, &g)
	}
	c.perform(Transition{Event: Starts, Class: class, Process: q, opens: opens}, 0, visit)
}

func (c *Checker) startOthers(conf Configuration, visit Visitor) {
	for q := c.Low; q < c.High; q++ {
		switch c.Process(conf, q).Start {
		case MustStart:
			c.start(conf, q, Due, visit)
		case mayStart:
			class := Free
			if !c.Global(conf).Begun {
				class = Due
			}
			c.start(conf, q, class, visit)
		}
	}
}

// deliver delivers messages; in a synchronous run only the next one. It reports whether there was one.
func (c *Checker) deliver(conf Configuration, visit Visitor) bool {
	for q := c.Low; q < c.High; q++ {
		if c.Options.Starts == Each && c.Process(conf, q).Start == MustStart {
			continue // it starts first
		}
		for port, l := range c.Into[q] {
			queue := c.Queue(conf, l)
			if len(queue) == 0 || c.Process(conf, q).Suspected>>port&1 == 1 && !c.Options.Hasty { // Trust comes first
				continue
			}
			for place, m := range queue {
				if place > 0 && (!c.Options.Unordered || m == queue[place-1]) {
					continue
				}
				if c.clock && m.Age == 0 && !c.Options.Lazy {
					continue
				}
				c.arrive(conf, q, uint16(port), l, place, visit)
				if c.Declaration.Timing == election.Synchronous {
					return true
				}
			}
		}
	}
	return false
}

// arrive brings a message to its process, or loses it. A process that has crashed and a link that is cut lose what arrives; a fault
// loses it on any link, or brings it twice.
func (c *Checker) arrive(conf Configuration, q int, port uint16, l, place int, visit Visitor) {
	message := c.Queue(conf, l)[place].Message
	t := Transition{Event: Loses, Process: q, At: port, Link: l, Place: place}
	lost := !c.Process(conf, q).Alive || c.severed(conf, l)
	if c.selects(Due) {
		copy(c.Base, conf)
		c.pull(c.Base, l, place)
		if lost {
			c.taken = t
			visit(&c.taken, c.Base)
		} else {
			c.receive(t, message, visit)
		}
	}
	if !lost {
		c.disturb(conf, t, message, visit)
	}
}

// receive brings a message to its process.
func (c *Checker) receive(t Transition, message uint32, visit Visitor) {
	if t.Event = Receives; t.Place > 0 {
		c.saw(sawOvertaking)
	}
	c.perform(t, message, visit)
}

// disturb loses a message that would arrive, or brings it twice, as long as such faults may come.
func (c *Checker) disturb(conf Configuration, t Transition, message uint32, visit Visitor) {
	g := c.Global(conf)
	if t.Class = ByFault; g.Losses > 0 && c.selects(ByFault) {
		c.saw(sawLoss)
		c.fault(conf, func(g *Global) { g.Losses-- })
		c.pull(c.Base, t.Link, t.Place)
		c.taken = t
		visit(&c.taken, c.Base)
	}
	if g.Duplicates > 0 && c.selects(ByFault) {
		t.Again = true
		c.saw(sawDuplicate)
		c.fault(conf, func(g *Global) { g.Duplicates-- })
		c.receive(t, message, visit)
	}
}

// stops lets a host that has stopped the work of its process say so, at any time.
func (c *Checker) stops(conf Configuration, visit Visitor) {
	for q := c.Low; q < c.High; q++ {
		if c.Process(conf, q).Stopping && c.selects(Due) {
			copy(c.Base, conf)
			c.perform(Transition{Event: Obeys, Process: q, At: stopped}, 0, visit)
		}
	}
}

// timers lets each due timer expire. In a synchronous run only the next one expires, and the result is whether there
// was one.
func (c *Checker) timers(conf Configuration, visit Visitor) bool {
	for q := c.Low; q < c.High; q++ {
		for t := range c.Declaration.Timers {
			p := c.Process(conf, q)
			if p.Running>>t&1 == 0 || !remaining(p.Timers[t]).IsZero() {
				continue
			}
			c.expire(conf, q, uint16(t), visit)
			if c.Declaration.Timing == election.Synchronous {
				return true
			}
		}
	}
	return false
}

// expire lets a timer of a process expire.
func (c *Checker) expire(conf Configuration, q int, timer uint16, visit Visitor) {
	if !c.selects(Due) {
		return
	}
	copy(c.Base, conf)
	if c.Declaration.Timing == election.Synchronous {
		g := *c.Global(conf)
		g.Late = true
		c.SetGlobal(c.Base, &g)
	}
	c.perform(Transition{Event: TimesOut, Process: q, At: timer}, 0, visit)
}

func remaining(d election.Deadline) election.Ticks { return d.Left(election.Ticks{}) }

// wait lets time pass, if no event must happen before. If no event can happen before the next timer expires, time
// jumps there; otherwise one unit passes.
func (c *Checker) wait(conf Configuration, visit Visitor) {
	flying := false
	for l := range c.Links {
		for _, m := range c.Queue(conf, l) {
			if int(m.Age) >= c.Options.Delay {
				return
			}
			flying = true
		}
	}
	next, running := c.nextTimer(conf)
	if running && next.IsZero() {
		return
	}
	t := Transition{Event: Waits, Time: election.Units(1)}
	switch alone := !flying && !c.outside(conf); {
	case alone && running:
		t.Time = next
	case alone: // only leases expire
		if t.Time = c.nextLease(conf); t.Time.IsZero() {
			return // no event will ever happen
		}
		t.Class = Free
	case !flying && !running: // only leases and deadlines expire
		t.Class = Free
	}
	copy(c.Next, conf)
	c.pass(c.Next, t.Time)
	if !slices.Equal(c.Next, conf) && c.selects(t.Class) {
		visit(&t, c.Next)
	}
}

// nextTimer returns the time until a timer expires, if any runs.
func (c *Checker) nextTimer(conf Configuration) (next election.Ticks, running bool) {
	for q := range c.N {
		p := c.Process(conf, q)
		for t := range c.Declaration.Timers {
			if p.Running>>t&1 == 0 {
				continue
			}
			if wait := remaining(p.Timers[t]); !running || wait.Less(next) {
				next = wait
			}
			running = true
		}
	}
	return next, running
}

// nextLease returns the time until a lease expires; 0 if none runs.
func (c *Checker) nextLease(conf Configuration) (next election.Ticks) {
	for q := range c.N {
		p := c.Process(conf, q)
		for _, lease := range []election.Ticks{remaining(p.Lease), remaining(p.Orphan)} {
			if next.IsZero() || !lease.IsZero() && lease.Less(next) {
				next = lease
			}
		}
	}
	return next
}

// outside reports whether an event other than a message or a timer can happen.
func (c *Checker) outside(conf Configuration) bool {
	g := c.Global(conf)
	if g.Crashes > 0 || g.Commands > 0 || g.Cuts > 0 || len(g.Cut) > 0 || g.Suspicions > 0 {
		return true
	}
	for q := range c.N {
		p := c.Process(conf, q)
		if p.Start != NeverStarts || p.Suspects != 0 || p.Suspected != 0 && c.errs() || p.Stopping || p.Alive && len(p.Proofs) > 0 || !p.Alive && g.Recoveries > 0 {
			return true
		}
	}
	return false
}
