package verify

import (
	"slices"

	"ringleader.example/ringleader/election"
)

// transition leads from one configuration to the next.
type transition struct {
	event   event
	class   class
	process int
	at      uint16         // the port, timer, or number of a command or cut
	link    int            // receives, loses: the link of the message
	place   int            // … and its place in the queue
	opens   bool           // starts: no process has started before
	again   bool           // receives: the link keeps a copy
	amid    bool           // the process crashes amid its step
	left    int            // … after so many of its messages have left
	time    election.Ticks // waits: how long
	outcome *outcome       // if the algorithm made a step
	breach  *breach        // it leads to a violation
}

// class is whether a run must continue if a transition is possible.
type class uint8

const (
	due     class = iota // it must, with this transition or another
	free                 // it may, or end
	byFault              // a fault or a command: it may, and the run no longer counts in costs
)

// visitor receives a transition and its target configuration, which is valid only during the call.
type visitor func(*transition, configuration)

// transitions visits all possible next transitions.
func (c *checker) transitions(conf configuration, visit visitor) {
	if !c.faultless {
		c.faults(conf, visit)
	}
	if c.o.times {
		c.takeTurns(conf)
	}
	for q := range c.n {
		if c.process(conf, q).Start == first {
			c.start(conf, q, due, visit)
			return
		}
	}
	g := c.global(conf)
	if c.d.Timing == election.Synchronous { // in one unit messages, then starts, then timers
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
	case c.o.Lazy:
		c.idle(conf, visit)
	case c.clock:
		c.wait(conf, visit)
	}
}

// perform visits all outcomes of an event at a process of the configuration c.base.
func (c *checker) perform(t transition, message uint32, visit visitor) {
	outcomes := c.outcomesOf(stepKey{c.base[t.process], t.event, t.at, message})
	for i := range outcomes {
		o := &outcomes[i]
		copy(c.next, c.base)
		c.next[t.process] = o.process
		t.outcome, t.breach = o, o.breach
		if o.breach == nil {
			link := int(c.network.Network.First(t.process))
			for _, s := range o.sent {
				if !c.severed(c.next, link+int(s.port)) {
					c.push(c.next, link+int(s.port), s.message)
				}
			}
			if o.decides {
				t.breach = c.decided(c.next, t.process, c.work(c.process(c.base, t.process), &t), o.effects)
			}
		}
		c.taken = t
		visit(&c.taken, c.next)
		if o.breach == nil && len(o.sent) > 0 {
			c.crashAmid(t, o, visit)
		}
	}
}

func (c *checker) start(conf configuration, q int, class class, visit visitor) {
	if !c.selects(class) {
		return
	}
	copy(c.base, conf)
	g := *c.global(conf)
	opens := !g.Begun
	if opens {
		g.Begun = true
		c.setGlobal(c.base, &g)
	}
	c.perform(transition{event: starts, class: class, process: q, opens: opens}, 0, visit)
}

func (c *checker) startOthers(conf configuration, visit visitor) {
	for q := c.low; q < c.high; q++ {
		switch c.process(conf, q).Start {
		case must:
			c.start(conf, q, due, visit)
		case may:
			class := free
			if !c.global(conf).Begun {
				class = due
			}
			c.start(conf, q, class, visit)
		}
	}
}

// deliver delivers messages; in a synchronous run only the next one. It reports whether there was one.
func (c *checker) deliver(conf configuration, visit visitor) bool {
	for q := c.low; q < c.high; q++ {
		if c.o.Starts == each && c.process(conf, q).Start == must {
			continue // it starts first
		}
		for port, l := range c.into[q] {
			queue := c.queue(conf, l)
			if len(queue) == 0 || c.process(conf, q).Suspected>>port&1 == 1 && !c.o.hasty { // Trust comes first
				continue
			}
			for place, m := range queue {
				if place > 0 && (!c.o.Unordered || m == queue[place-1]) {
					continue
				}
				if c.clock && m.Age == 0 && !c.o.Lazy {
					continue
				}
				c.arrive(conf, q, uint16(port), l, place, visit)
				if c.d.Timing == election.Synchronous {
					return true
				}
			}
		}
	}
	return false
}

// arrive brings a message to its process, or loses it. A process that has crashed and a link that is cut lose what arrives; a fault
// loses it on any link, or brings it twice.
func (c *checker) arrive(conf configuration, q int, port uint16, l, place int, visit visitor) {
	message := c.queue(conf, l)[place].Message
	t := transition{event: loses, process: q, at: port, link: l, place: place}
	lost := !c.process(conf, q).Alive || c.severed(conf, l)
	if c.selects(due) {
		copy(c.base, conf)
		c.pull(c.base, l, place)
		if lost {
			c.taken = t
			visit(&c.taken, c.base)
		} else {
			c.receive(t, message, visit)
		}
	}
	if !lost {
		c.disturb(conf, t, message, visit)
	}
}

// receive brings a message to its process.
func (c *checker) receive(t transition, message uint32, visit visitor) {
	if t.event = receives; t.place > 0 {
		c.saw(sawOvertaking)
	}
	c.perform(t, message, visit)
}

// disturb loses a message that would arrive, or brings it twice, as long as such faults may come.
func (c *checker) disturb(conf configuration, t transition, message uint32, visit visitor) {
	g := c.global(conf)
	if t.class = byFault; g.Losses > 0 && c.selects(byFault) {
		c.saw(sawLoss)
		c.fault(conf, func(g *global) { g.Losses-- })
		c.pull(c.base, t.link, t.place)
		c.taken = t
		visit(&c.taken, c.base)
	}
	if g.Duplicates > 0 && c.selects(byFault) {
		t.again = true
		c.saw(sawDuplicate)
		c.fault(conf, func(g *global) { g.Duplicates-- })
		c.receive(t, message, visit)
	}
}

// stops lets a host that has stopped the work of its process say so, at any time.
func (c *checker) stops(conf configuration, visit visitor) {
	for q := c.low; q < c.high; q++ {
		if c.process(conf, q).Stopping && c.selects(due) {
			copy(c.base, conf)
			c.perform(transition{event: obeys, process: q, at: stopped}, 0, visit)
		}
	}
}

// timers lets each due timer expire. In a synchronous run only the next one expires, and the result is whether there
// was one.
func (c *checker) timers(conf configuration, visit visitor) bool {
	for q := c.low; q < c.high; q++ {
		for t := range c.d.Timers {
			p := c.process(conf, q)
			if p.Running>>t&1 == 0 || !remaining(p.Timers[t]).IsZero() {
				continue
			}
			c.expire(conf, q, uint16(t), visit)
			if c.d.Timing == election.Synchronous {
				return true
			}
		}
	}
	return false
}

// expire lets a timer of a process expire.
func (c *checker) expire(conf configuration, q int, timer uint16, visit visitor) {
	if !c.selects(due) {
		return
	}
	copy(c.base, conf)
	if c.d.Timing == election.Synchronous {
		g := *c.global(conf)
		g.Late = true
		c.setGlobal(c.base, &g)
	}
	c.perform(transition{event: timesOut, process: q, at: timer}, 0, visit)
}

func remaining(d election.Deadline) election.Ticks { return d.Left(election.Ticks{}) }

// wait lets time pass, if no event must happen before. If no event can happen before the next timer expires, time
// jumps there; otherwise one unit passes.
func (c *checker) wait(conf configuration, visit visitor) {
	flying := false
	for l := range c.links {
		for _, m := range c.queue(conf, l) {
			if int(m.Age) >= c.o.Delay {
				return
			}
			flying = true
		}
	}
	next, running := c.nextTimer(conf)
	if running && next.IsZero() {
		return
	}
	t := transition{event: waits, time: election.Units(1)}
	switch alone := !flying && !c.outside(conf); {
	case alone && running:
		t.time = next
	case alone: // only leases expire
		if t.time = c.nextLease(conf); t.time.IsZero() {
			return // no event will ever happen
		}
		t.class = free
	case !flying && !running: // only leases and deadlines expire
		t.class = free
	}
	copy(c.next, conf)
	c.pass(c.next, t.time)
	if !slices.Equal(c.next, conf) && c.selects(t.class) {
		visit(&t, c.next)
	}
}

// nextTimer returns the time until a timer expires, if any runs.
func (c *checker) nextTimer(conf configuration) (next election.Ticks, running bool) {
	for q := range c.n {
		p := c.process(conf, q)
		for t := range c.d.Timers {
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
func (c *checker) nextLease(conf configuration) (next election.Ticks) {
	for q := range c.n {
		p := c.process(conf, q)
		for _, lease := range []election.Ticks{remaining(p.Lease), remaining(p.Orphan)} {
			if next.IsZero() || !lease.IsZero() && lease.Less(next) {
				next = lease
			}
		}
	}
	return next
}

// outside reports whether an event other than a message or a timer can happen.
func (c *checker) outside(conf configuration) bool {
	g := c.global(conf)
	if g.Crashes > 0 || g.Commands > 0 || g.Cuts > 0 || len(g.Cut) > 0 || g.Suspicions > 0 {
		return true
	}
	for q := range c.n {
		p := c.process(conf, q)
		if p.Start != never || p.Suspects != 0 || p.Suspected != 0 && c.errs() || p.Stopping || p.Alive && len(p.Proofs) > 0 || !p.Alive && g.Recoveries > 0 {
			return true
		}
	}
	return false
}
