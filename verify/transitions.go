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
	at      uint16         // the port, timer or command
	link    int            // receives, loses: the link of the message
	place   int            // … and its place in the queue
	time    election.Ticks // waits: how long
	outcome *outcome       // if the algorithm made a step
	breach  *breach        // it leads to a violation
}

// class tells whether a run must go on if a transition is possible.
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
	c.faults(conf, visit)
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
	c.suspicions(conf, visit)
	c.stops(conf, visit)
	c.timers(conf, visit)
	if c.clock {
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
				c.push(c.next, link+int(s.port), s.message)
			}
			if o.decides {
				t.breach = c.decided(c.next, t.process, o.effects)
			}
		}
		c.taken = t
		visit(&c.taken, c.next)
	}
}

func (c *checker) start(conf configuration, q int, class class, visit visitor) {
	copy(c.base, conf)
	if g := *c.global(conf); !g.Begun {
		g.Begun = true
		c.setGlobal(c.base, &g)
	}
	c.perform(transition{event: starts, class: class, process: q}, 0, visit)
}

func (c *checker) startOthers(conf configuration, visit visitor) {
	for q := range c.n {
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
	for q := range c.n {
		if c.o.Starts == Each && c.process(conf, q).Start == must {
			continue // it starts first
		}
		for port, l := range c.into[q] {
			queue := c.queue(conf, l)
			for place, m := range queue {
				if place > 0 && (!c.o.Unordered || m == queue[place-1]) {
					continue
				}
				if c.clock && m.Age == 0 {
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

func (c *checker) arrive(conf configuration, q int, port uint16, l, place int, visit visitor) {
	message := c.queue(conf, l)[place].Message
	copy(c.base, conf)
	c.pull(c.base, l, place)
	if !c.process(conf, q).Alive {
		visit(&transition{event: loses, process: q, at: port, link: l, place: place}, c.base)
		return
	}
	c.perform(transition{event: receives, process: q, at: port, link: l, place: place}, message, visit)
}

// suspicions reports the crash of one process to another, after all messages between them have arrived.
func (c *checker) suspicions(conf configuration, visit visitor) {
	for q := range c.n {
		for port, l := range c.into[q] {
			if c.process(conf, q).Suspects>>port&1 == 1 && (len(c.queue(conf, l)) == 0 || c.o.hasty) {
				copy(c.base, conf)
				c.perform(transition{event: suspects, process: q, at: uint16(port)}, 0, visit)
			}
		}
	}
}

// stops lets a host that has stopped the work of its process say so, at any time.
func (c *checker) stops(conf configuration, visit visitor) {
	for q := range c.n {
		if c.process(conf, q).Stopping {
			copy(c.base, conf)
			c.perform(transition{event: obeys, process: q, at: uint16(election.Stopped)}, 0, visit)
		}
	}
}

// timers fires those whose time has come; in a synchronous run just the next one, and it reports whether
// there was any.
func (c *checker) timers(conf configuration, visit visitor) bool {
	for q := range c.n {
		for t := range c.d.Timers {
			p := c.process(conf, q)
			if p.Running>>t&1 == 0 || !left(p.Timers[t]).IsZero() {
				continue
			}
			copy(c.base, conf)
			if c.d.Timing == election.Synchronous {
				g := *c.global(conf)
				g.Late = true
				c.setGlobal(c.base, &g)
			}
			c.perform(transition{event: timesOut, process: q, at: uint16(t)}, 0, visit)
			if c.d.Timing == election.Synchronous {
				return true
			}
		}
	}
	return false
}

func left(d election.Deadline) election.Ticks { return d.Left(election.Ticks{}) }

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
	if !slices.Equal(c.next, conf) {
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
			if wait := left(p.Timers[t]); !running || wait.Less(next) {
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
		for _, lease := range []election.Ticks{left(p.Lease), left(p.Orphan)} {
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
	if g.Crashes > 0 || g.Commands > 0 {
		return true
	}
	for q := range c.n {
		p := c.process(conf, q)
		if p.Start != never || p.Suspects != 0 || p.Stopping || !p.Alive && g.Recoveries > 0 {
			return true
		}
	}
	return false
}

// faults visits crashes, recoveries and commands.
func (c *checker) faults(conf configuration, visit visitor) {
	g := *c.global(conf)
	for q := range c.n {
		alive := c.process(conf, q).Alive
		if alive && g.Crashes > 0 {
			c.crash(conf, q, visit)
		}
		if !alive && g.Recoveries > 0 {
			c.recover(conf, q, visit)
		}
		if alive && g.Commands > 0 {
			copy(c.base, conf)
			fewer := g
			fewer.Commands--
			fewer.Disturbed = true
			c.setGlobal(c.base, &fewer)
			c.perform(transition{event: obeys, class: byFault, process: q, at: uint16(election.Resign)}, 0, visit)
		}
	}
}

// crash sets a process to the state in which it will recover, so that all crashed configurations look alike.
func (c *checker) crash(conf configuration, q int, visit visitor) {
	g := *c.global(conf)
	g.Crashes--
	g.Disturbed = true
	copy(c.base, conf)
	c.setGlobal(c.base, &g)
	old := *c.process(conf, q)
	dead := processState{State: c.values.Reborn(old.State, q), Position: old.Position, ID: old.ID}
	if c.d.Leased {
		if dead.Orphan = old.Lease; dead.Orphan.Before(old.Orphan) {
			dead.Orphan = old.Orphan
		}
	}
	c.setProcess(c.base, &dead)
	c.detect(c.base, q, false)
	visit(&transition{event: crashes, class: byFault, process: q}, c.base)
}

func (c *checker) recover(conf configuration, q int, visit visitor) {
	g := *c.global(conf)
	g.Recoveries--
	copy(c.base, conf)
	c.setGlobal(c.base, &g)
	p := *c.process(conf, q)
	p.Alive = true
	if c.has.Suspect { // its detector finds out which others have crashed
		for port, l := range c.into[q] {
			if peer := c.links[l].from; peer != q && !c.process(conf, peer).Alive {
				p.Suspects |= 1 << port
			}
		}
	}
	c.setProcess(c.base, &p)
	c.detect(c.base, q, true)
	class := byFault
	if c.d.Survives&election.Crash == 0 { // a process that crashes must recover
		class = due
	}
	c.perform(transition{event: recovers, class: class, process: q}, 0, visit)
}

// detect schedules suspicions of a crashed process at all others, or cancels them.
func (c *checker) detect(conf configuration, of int, alive bool) {
	if !c.has.Suspect {
		return
	}
	for q := range c.n {
		p := *c.process(conf, q)
		if q == of || !p.Alive {
			continue
		}
		for port, l := range c.into[q] {
			switch {
			case c.links[l].from != of:
			case alive:
				p.Suspects &^= 1 << port
			default:
				p.Suspects |= 1 << port
			}
		}
		c.setProcess(conf, &p)
	}
}
