package simulate

import (
	"slices"

	"ringleader.example/ringleader/election"
	"ringleader.example/ringleader/faults"
	"ringleader.example/ringleader/internal/core/process"
	"ringleader.example/ringleader/network"
	"ringleader.example/ringleader/trace"
)

// faultKind is a kind of fault that begins and, in most cases, ends.
type faultKind uint8

const (
	cutting  faultKind = iota // an entry of Cuts
	silence                   // … has lasted for the longest delay
	slowness                  // an entry of Slow
	arming                    // an entry of Crashes amid a step
	mistake                   // an entry of Suspicions
)

// currentFaults holds the faults now in force, except crashed processes, cut links and clock drift, which run holds.
type currentFaults struct {
	armed    []int                     // by process: the entry of Crashes, from 1, that comes amid a step; 0: none
	factors  []uint64                  // by process: the factor by which the delays of its messages grow
	still    []bool                    // by process: it is paused
	held     [][]event                 // by process: its events when it resumes
	mistaken map[uint32]election.Ticks // until when the process behind a link is suspected by mistake; 0: for ever
}

// makeRoom allocates what the faults of a run need.
func (y *currentFaults) makeRoom(f *faults.Script, n int) {
	if slices.ContainsFunc(f.Crashes, func(c faults.Crash) bool { return c.Amid }) {
		y.armed = make([]int, n)
	}
	if len(f.Slow) > 0 {
		y.factors, y.still, y.held = slices.Repeat([]uint64{1}, n), make([]bool, n), make([][]event, n)
	}
	if len(f.Suspicions) > 0 {
		y.mistaken = map[uint32]election.Ticks{}
	}
}

// waits reports whether the process at p is paused.
func (y *currentFaults) waits(p int) bool { return y.still != nil && y.still[p] }

func (y *currentFaults) hold(e event) { y.held[e.process] = append(y.held[e.process], e) }

// scheduleFaults schedules all given faults. Those of time 0 are in force before any process starts, except crashes
// between steps.
func (c *clocked) scheduleFaults() {
	f := &c.o.Faults
	lasts := func(ill faultKind, i, process int, at, until election.Ticks) {
		c.schedule(event{at: at, what: fault, ill: ill, process: uint32(process), other: uint32(i)}, 0)
		if !until.IsZero() {
			c.schedule(event{at: until, what: heal, ill: ill, process: uint32(process), other: uint32(i)}, 0)
		}
	}
	for i, cut := range f.Cuts {
		lasts(cutting, i, cut.Groups[0][0], cut.At, cut.Until)
	}
	for i, s := range f.Slow {
		lasts(slowness, i, s.Process, s.At, s.Until)
	}
	for i, crash := range f.Crashes {
		if crash.Amid {
			lasts(arming, i, crash.Process, crash.At, election.Ticks{})
		}
	}
	for len(c.queue) > 0 && c.queue[0].at.IsZero() {
		e := c.next()
		c.happen(&e)
	}
	for _, q := range f.Dead {
		c.known(q)
	}
	for i, cut := range f.Cuts {
		if heard := cut.At.Add(election.Units(c.longest())); c.suspects != nil && (cut.Until.IsZero() || heard.Less(cut.Until)) {
			c.schedule(event{at: heard, what: fault, ill: silence, process: uint32(cut.Groups[0][0]), other: uint32(i)}, 0)
		}
	}
	for _, f := range f.Crashes {
		if !f.Amid {
			c.schedule(event{at: f.At, what: crash, process: uint32(f.Process)}, 0)
		}
	}
	for _, f := range f.Recoveries {
		c.schedule(event{at: f.At, what: recovery, process: uint32(f.Process)}, 0)
	}
	for i := range c.o.Commands {
		c.command(c.o.Commands[i].Process, c.o.Commands[i].At, c.o.Commands[i].Command)
	}
	for i, s := range f.Suspicions {
		lasts(mistake, i, s.Process, s.At, s.Until)
	}
}

// known makes failure detectors report, before any process starts, that the process at q has crashed.
func (c *clocked) known(q int) {
	if c.suspects == nil {
		return
	}
	for port := range c.Network.Degree(q) {
		p, back := c.Network.End(c.Network.First(q) + uint32(port))
		c.happen(&event{what: suspicion, process: uint32(p), other: c.Network.Back(p, back)})
	}
}

// begins starts a fault.
func (c *clocked) begins(ill faultKind, i int) {
	f := &c.o.Faults
	switch ill {
	case cutting:
		for link := range f.Cuts[i].Links(c.Network) {
			c.Severed[link]++
		}
		c.tell(trace.Fault, f.Cuts[i].Groups[0][0], f.Cuts[i].Text(c.Instance))
	case silence:
		for link := range f.Cuts[i].Links(c.Network) {
			to, port := c.Network.End(link)
			e := event{what: suspicion, process: uint32(to), other: c.Network.Back(to, port), life: c.life(c.Network.Owner(link))}
			c.happen(&e)
		}
	case slowness:
		s := &f.Slow[i]
		c.factors[s.Process], c.still[s.Process] = max(1, s.Factor), s.Factor == 0
		c.tell(trace.Fault, s.Process, s.Text(c.Instance))
	case arming:
		if crash := &f.Crashes[i]; !c.IsDead(crash.Process) {
			c.armed[crash.Process] = i + 1
		}
	case mistake:
		s := &f.Suspicions[i]
		for link := range s.Links(c.Network) {
			if until, found := c.mistaken[link]; !found || !until.IsZero() && (s.Until.IsZero() || until.Less(s.Until)) {
				c.mistaken[link] = s.Until
			}
			c.happen(&event{what: suspicion, process: uint32(s.Process), other: link})
		}
	}
}

// ends makes a fault end.
func (c *clocked) ends(ill faultKind, i int) {
	f := &c.o.Faults
	switch ill {
	case cutting:
		c.tell(trace.Heal, f.Cuts[i].Groups[0][0], f.Cuts[i].Text(c.Instance))
		for link := range f.Cuts[i].Links(c.Network) {
			c.Severed[link]--
		}
		for link := range f.Cuts[i].Links(c.Network) { // now all links are back, and messages sent in this moment arrive
			if c.Severed[link] == 0 && c.suspects != nil {
				to, port := c.Network.End(link)
				c.happen(&event{what: trust, process: uint32(to), other: c.Network.Back(to, port)})
			}
		}
	case slowness:
		s := &f.Slow[i]
		c.factors[s.Process], c.still[s.Process] = 1, false
		c.tell(trace.Heal, s.Process, s.Text(c.Instance))
		c.resume(s.Process)
	case mistake:
		s := &f.Suspicions[i]
		for link := range s.Links(c.Network) {
			if until, found := c.mistaken[link]; found && until == c.Now {
				delete(c.mistaken, link)
				c.happen(&event{what: trust, process: uint32(s.Process), other: link})
			}
		}
	}
}

// tell records that a fault begins or ends at a process.
func (c *clocked) tell(what trace.Event, p int, text string) {
	c.Note(p, trace.Step{Event: what, Port: -1, Text: text})
}

// resume delivers the events of the process at p during its pause, in the order of one moment.
func (c *clocked) resume(p int) {
	held := c.held[p]
	c.held[p] = nil
	slices.SortStableFunc(held, func(a, b event) int { return int(c.heldClass(&a)) - int(c.heldClass(&b)) })
	for i := range held {
		e := &held[i]
		switch {
		case e.what == arrival:
			m := c.messages[e.other]
			c.free = append(c.free, e.other)
			_, port := c.Network.End(m.On())
			c.receive(p, port, &m)
		case c.current(e):
			c.happen(e)
		}
	}
}

func (c *clocked) heldClass(e *event) uint64 {
	port := election.Port(0)
	if e.what == arrival {
		_, port = c.Network.End(c.messages[e.other].On())
	}
	return c.class(e.what, port)
}

// amid returns the number of messages of the last step, by the process at p, that do not leave because it crashes
// amid the step.
func (c *clocked) amid(p int) (unsent int) {
	if c.armed == nil || c.armed[p] == 0 {
		return 0
	}
	return max(0, len(c.Effects.Sent)-c.o.Faults.Crashes[c.armed[p]-1].Sends)
}

// calledOff cancels the crash of the process at p amid a step.
func (c *clocked) calledOff(p int) {
	if c.armed == nil || c.armed[p] == 0 {
		return
	}
	c.result.Missed = append(c.result.Missed, c.o.Faults.Crashes[c.armed[p]-1].Line(c.Instance))
	c.armed[p] = 0
}

// life returns how often the process at p has crashed or recovered.
func (c *clocked) life(p int) uint32 {
	if c.lives == nil {
		return 0
	}
	return c.lives[p]
}

// crash stops the process at p. The note states how far it came, if it crashes amid a step.
func (c *clocked) crash(p int, note string) {
	if c.IsDead(p) {
		return
	}
	c.Dead[p] = true
	c.lives[p]++
	c.calledOff(p)
	c.Orphan(p, c.o.Wardens)
	c.prove(p)
	c.Processes.Reborn(p, p)
	c.Decisions[p] = network.Decision{}
	for t := range c.Declaration.Timers {
		c.stop(p, t)
	}
	c.Note(p, trace.Step{Event: trace.Crash, Port: -1, Text: note})
	if c.suspects == nil {
		return
	}
	// All its messages arrive within the longest delay, if it was not slow; live processes know then, and not before.
	for port := range c.Network.Degree(p) {
		at := c.Now.Add(election.Units(c.longest()))
		link := c.Network.First(p) + uint32(port)
		q, back := c.Network.End(link)
		if q == p {
			continue
		}
		if c.last != nil && at.Less(c.last[link]) {
			at = c.last[link]
		}
		c.schedule(event{at: at, what: suspicion, process: uint32(q), other: c.Network.Back(q, back), life: c.lives[p]}, 0)
	}
}

// recover restarts the process at p. Without a Recover function in its algorithm, it starts anew.
func (c *clocked) recover(p int) {
	c.calledOff(p)
	if !c.IsDead(p) {
		return
	}
	c.Dead[p] = false
	c.lives[p]++ // no process needs to suspect the life that has ended
	for port := range c.Network.Degree(p) {
		if c.suspects == nil {
			break
		}
		link := c.Network.First(p) + uint32(port)
		q, back := c.Network.End(link)
		answer := c.Network.Back(q, back)
		c.suspects[answer] = false // a new life announces itself
		c.suspects[link] = false   // and it suspects no process yet
		if c.Severed == nil {
			continue
		}
		at := c.Now.Add(election.Units(c.longest()))
		if c.Severed[link] > 0 {
			c.schedule(event{at: at, what: unheard, process: uint32(q), other: answer, life: c.life(p)}, 0)
		}
		if c.Severed[answer] > 0 {
			c.schedule(event{at: at, what: unheard, process: uint32(p), other: link, life: c.life(q)}, 0)
		}
	}
	again := process.Event{What: process.Recovered}
	if !c.Functions.Recover {
		again.What = process.Started
	}
	c.react(p, again, trace.Step{Event: trace.Recover, Port: -1})
}

// hears ends a wrong suspicion: a message from a process shows that it is live.
func (c *clocked) hears(p int, port election.Port) {
	link := c.Network.Back(p, port)
	if _, found := c.mistaken[link]; found {
		delete(c.mistaken, link)
		c.detect(link, false)
	}
}

// detect reports a suspicion, or its end, to a process: about the process at the other end of the link.
func (c *clocked) detect(link uint32, suspect bool) {
	p := c.Network.Owner(link)
	q, back := c.Network.End(link)
	if c.IsDead(p) || c.suspects[link] == suspect {
		return
	}
	if _, mistaken := c.mistaken[link]; !suspect && (c.IsDead(q) || mistaken || c.Severed != nil && c.Severed[c.Network.Back(q, back)] > 0) {
		return // there is another reason to suspect it
	}
	c.suspects[link] = suspect
	port := election.Port(link - c.Network.First(p))
	step := trace.Step{Event: trace.Suspect, Port: int(port), From: q + 1}
	if suspect {
		c.react(p, process.Event{What: process.Suspected, Port: port}, step)
	} else if step.Event = trace.Trust; c.Functions.Trust {
		c.react(p, process.Event{What: process.Trusted, Port: port}, step)
	}
}

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
