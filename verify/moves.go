package verify

import "ringleader.example/ringleader/election"

// move is one transition between worlds.
type move struct {
	event   event
	class   class
	process int
	at      uint16         // the port, timer or command
	link    int            // receives, loses: that the message came on
	place   int            // … and where in its queue it was
	time    election.Ticks // waits: how long
	outcome *outcome       // where the algorithm made a step
	fault   *fault         // it leads to a violation
}

// class says whether a run must go on where a move is possible.
type class uint8

const (
	due     class = iota // it must, with this move or another
	free                 // it may, or end
	byFault              // a fault or a command: it may, and the run no longer counts in costs
)

// moves visits all that can happen next. The world that a visit is given is only lent.
func (c *checker) moves(w world, visit func(*move, world)) {
	c.faults(w, visit)
	for q := range c.n {
		if c.process(w, q).Start == first {
			c.start(w, q, due, visit)
			return
		}
	}
	r := c.rest(w)
	if c.d.Timing == election.Synchronous { // in one unit messages, then starts, then timers
		if c.deliver(w, visit) {
			return
		}
		if !r.Late {
			c.startOthers(w, visit)
		}
		c.suspicions(w, visit)
		if !c.timers(w, visit) {
			c.wait(w, visit)
		}
		return
	}
	c.deliver(w, visit)
	c.startOthers(w, visit)
	c.suspicions(w, visit)
	c.timers(w, visit)
	if c.clock {
		c.wait(w, visit)
	}
}

// act visits all outcomes of an event at a process of the world c.base.
func (c *checker) act(m move, letter uint32, visit func(*move, world)) {
	outcomes := c.do(deed{c.base[m.process], m.event, m.at, letter})
	for i := range outcomes {
		o := &outcomes[i]
		copy(c.next, c.base)
		c.next[m.process] = o.process
		m.outcome, m.fault = o, o.fault
		if o.fault == nil {
			link := int(c.p.Network.First(m.process))
			for _, s := range o.sent {
				c.push(c.next, link+int(s.port), s.letter)
			}
			if o.decides {
				m.fault = c.decided(c.next, m.process, o.effects)
			}
		}
		visit(&m, c.next)
	}
}

func (c *checker) start(w world, q int, class class, visit func(*move, world)) {
	copy(c.base, w)
	if r := *c.rest(w); !r.Begun {
		r.Begun = true
		c.setRest(c.base, &r)
	}
	c.act(move{event: starts, class: class, process: q}, 0, visit)
}

func (c *checker) startOthers(w world, visit func(*move, world)) {
	for q := range c.n {
		switch c.process(w, q).Start {
		case must:
			c.start(w, q, due, visit)
		case may:
			class := free
			if !c.rest(w).Begun {
				class = due
			}
			c.start(w, q, class, visit)
		}
	}
}

// deliver delivers messages; in a synchronous run just the next one. It reports whether there was any.
func (c *checker) deliver(w world, visit func(*move, world)) bool {
	delivered := false
	for q := range c.n {
		for port, l := range c.into[q] {
			queue := c.queue(w, l)
			for place, m := range queue {
				if place > 0 && (!c.o.Unordered || m == queue[place-1]) {
					continue
				}
				if c.clock && m.Age == 0 {
					continue
				}
				delivered = true
				c.arrive(w, q, uint16(port), l, place, visit)
				if c.d.Timing == election.Synchronous {
					return true
				}
			}
		}
	}
	return delivered
}

func (c *checker) arrive(w world, q int, port uint16, l, place int, visit func(*move, world)) {
	letter := c.queue(w, l)[place].Letter
	copy(c.base, w)
	c.pull(c.base, l, place)
	if !c.process(w, q).Alive {
		visit(&move{event: loses, process: q, at: port, link: l, place: place}, c.base)
		return
	}
	c.act(move{event: receives, process: q, at: port, link: l, place: place}, letter, visit)
}

// suspicions tells a process of the crash of another one, once all has arrived that this one had sent.
func (c *checker) suspicions(w world, visit func(*move, world)) {
	for q := range c.n {
		for port, l := range c.into[q] {
			if c.process(w, q).Suspects>>port&1 == 1 && (len(c.queue(w, l)) == 0 || c.o.hasty) {
				copy(c.base, w)
				c.act(move{event: suspects, process: q, at: uint16(port)}, 0, visit)
			}
		}
	}
}

// timers fires those whose time has come; in a synchronous run just the next one. It reports whether
// there was any.
func (c *checker) timers(w world, visit func(*move, world)) bool {
	fired := false
	for q := range c.n {
		for t := range c.d.Timers {
			p := c.process(w, q)
			if p.Running>>t&1 == 0 || !left(p.Timers[t]).IsZero() {
				continue
			}
			fired = true
			copy(c.base, w)
			if c.d.Timing == election.Synchronous {
				r := *c.rest(w)
				r.Late = true
				c.setRest(c.base, &r)
			}
			c.act(move{event: timesOut, process: q, at: uint16(t)}, 0, visit)
			if c.d.Timing == election.Synchronous {
				return true
			}
		}
	}
	return fired
}

func left(d election.Deadline) election.Ticks { return d.Left(election.Ticks{}) }

// wait lets time pass, if nothing has to happen before. Where nothing can happen before the next timer
// expires it jumps there; otherwise a unit passes.
func (c *checker) wait(w world, visit func(*move, world)) {
	flying, running := false, false
	for l := range c.links {
		for _, m := range c.queue(w, l) {
			if int(m.Age) >= c.o.Delay {
				return
			}
			flying = true
		}
	}
	var next election.Ticks
	for q := range c.n {
		p := c.process(w, q)
		for t := range c.d.Timers {
			if p.Running>>t&1 == 0 {
				continue
			}
			wait := left(p.Timers[t])
			if wait.IsZero() {
				return
			}
			if !running || wait.Less(next) {
				next = wait
			}
			running = true
		}
	}
	alone := !flying && !c.outside(w)
	m := move{event: waits, time: election.Units(1)}
	switch {
	case alone && !running: // nothing will ever happen
		return
	case alone:
		m.time = next
	case !flying && !running: // only leases and deadlines run out
		m.class = free
	}
	copy(c.next, w)
	c.pass(c.next, m.time)
	for i := range w {
		if c.next[i] != w[i] {
			visit(&m, c.next)
			return
		}
	}
}

// outside says whether anything can happen that no message and no timer brings about.
func (c *checker) outside(w world) bool {
	r := c.rest(w)
	if r.Crashes > 0 || r.Commands > 0 {
		return true
	}
	for q := range c.n {
		p := c.process(w, q)
		if p.Start != never || p.Suspects != 0 || !p.Alive && r.Recoveries > 0 {
			return true
		}
	}
	return false
}

// faults are crashes, recoveries and commands.
func (c *checker) faults(w world, visit func(*move, world)) {
	r := *c.rest(w)
	for q := range c.n {
		alive := c.process(w, q).Alive
		if alive && r.Crashes > 0 {
			c.crash(w, q, visit)
		}
		if !alive && r.Recoveries > 0 {
			c.recover(w, q, visit)
		}
		if alive && r.Commands > 0 {
			copy(c.base, w)
			fewer := r
			fewer.Commands--
			fewer.Disturbed = true
			c.setRest(c.base, &fewer)
			c.act(move{event: obeys, class: byFault, process: q, at: uint16(election.Resign)}, 0, visit)
		}
	}
}

// crash turns a process into what it will recover as, so that all that are dead look alike.
func (c *checker) crash(w world, q int, visit func(*move, world)) {
	r := *c.rest(w)
	r.Crashes--
	r.Disturbed = true
	copy(c.base, w)
	c.setRest(c.base, &r)
	old := *c.process(w, q)
	c.setProcess(c.base, &member{State: c.values.Reborn(old.State, q), Position: old.Position})
	c.detect(c.base, q, false)
	visit(&move{event: crashes, class: byFault, process: q}, c.base)
}

func (c *checker) recover(w world, q int, visit func(*move, world)) {
	r := *c.rest(w)
	r.Recoveries--
	copy(c.base, w)
	c.setRest(c.base, &r)
	p := *c.process(w, q)
	p.Alive = true
	if c.has.Suspect { // its detector finds out who else is dead
		for port, l := range c.into[q] {
			if peer := c.links[l].from; peer != q && !c.process(w, peer).Alive {
				p.Suspects |= 1 << port
			}
		}
	}
	c.setProcess(c.base, &p)
	c.detect(c.base, q, true)
	class := byFault
	if c.d.Survives&election.Crash == 0 { // whoever crashes has to come back
		class = due
	}
	c.act(move{event: recovers, class: class, process: q}, 0, visit)
}

// detect gives the detectors of all others to do, for one that crashed, or takes it back.
func (c *checker) detect(w world, of int, alive bool) {
	if !c.has.Suspect {
		return
	}
	for q := range c.n {
		p := *c.process(w, q)
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
		c.setProcess(w, &p)
	}
}
