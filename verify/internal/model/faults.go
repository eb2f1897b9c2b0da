package model

import (
	"cmp"
	"fmt"
	"slices"

	"ringleader.example/ringleader/election"
	"ringleader.example/ringleader/faults"
	"ringleader.example/ringleader/internal/core/process"
	"ringleader.example/ringleader/network"
)

// The faults: what they do, and what the failure detector makes of them. They mean what they mean in package simulate.

// cut is a cut that may come: of one link, of the links between two processes, or between two sides.
type cut struct {
	faults.Cut
	severs []bool // by link
}

// MaxCut is the maximum number of processes with cuts, of which there are more than 2^n.
const MaxCut = 10

// possibleCuts returns the cuts of a run that has begun, and then all cuts that differ: one way and both ways between two processes,
// and every division into two sides.
func (c *Checker) possibleCuts() (all []cut) {
	severed := func(script faults.Cut) []bool {
		severs := make([]bool, len(c.Links))
		for l := range script.Links(c.Network.Network) {
			severs[l] = true
		}
		return severs
	}
	for _, script := range c.pastCuts() {
		all = append(all, cut{script, severed(script)})
	}
	add := func(script faults.Cut) {
		severs := severed(script)
		if slices.Contains(severs, true) && !slices.ContainsFunc(all, func(other cut) bool { return slices.Equal(other.severs, severs) }) {
			all = append(all, cut{script, severs})
		}
	}
	for p := range c.N {
		for q := range c.N {
			if p < q {
				add(faults.Cut{Groups: [][]int{{p}, {q}}})
			}
			if p != q {
				add(faults.Cut{Groups: [][]int{{p}, {q}}, OneWay: true})
			}
		}
	}
	for set := 1; set < 1<<(c.N-1); set++ { // the last process is on the other side
		sides := make([][]int, 2)
		for p := range c.N {
			side := 1 - set>>p&1
			sides[side] = append(sides[side], p)
		}
		add(faults.Cut{Groups: sides})
	}
	return all
}

// severed reports whether a link is cut.
func (c *Checker) severed(conf Configuration, l int) bool {
	for _, number := range c.Global(conf).Cut {
		if c.Cuts[number].severs[l] {
			return true
		}
	}
	return false
}

// changeCuts lets a cut begin that is not in force, or one end that is. Every cut ends, sooner or later.
func (c *Checker) changeCuts(conf Configuration, visit Visitor) {
	g := c.Global(conf)
	for number := range c.Cuts {
		switch i := slices.Index(g.Cut, uint16(number)); {
		case i >= 0 && c.selects(Due):
			now := *g
			now.Cut = slices.Delete(slices.Clone(g.Cut), i, i+1)
			copy(c.Base, conf)
			c.SetGlobal(c.Base, &now)
			c.change(Heals, Due, number, visit)
		case i < 0 && g.Cuts > 0 && c.selects(ByFault):
			c.fault(conf, func(g *Global) {
				g.Cuts--
				g.Cut = append(slices.Clone(g.Cut), uint16(number))
				slices.Sort(g.Cut)
			})
			c.saw(sawCut)
			c.change(Cuts, ByFault, number, visit)
		}
	}
}

// change visits the configuration c.base, in which a cut has begun or ended.
func (c *Checker) change(event Event, class Class, number int, visit Visitor) {
	visit(&Transition{Event: event, Class: class, Process: c.Cuts[number].Groups[0][0], At: uint16(number)}, c.Base)
}

// mistakes lets a process suspect, by mistake, others that are live.
func (c *Checker) mistakes(conf Configuration, q int, visit Visitor) {
	for port, l := range c.Into[q] {
		if c.mayErr(conf, q, port) && !c.severed(conf, l) && c.selects(ByFault) {
			c.fault(conf, func(g *Global) { g.Suspicions-- })
			c.saw(sawSuspicion)
			c.perform(Transition{Event: Suspects, Class: ByFault, Process: q, At: uint16(port)}, 0, visit)
		}
	}
}

// mayErr reports whether a live process does not suspect the live process behind a port.
func (c *Checker) mayErr(conf Configuration, q, port int) bool {
	from := c.Links[c.Into[q][port]].From
	p := c.Process(conf, q)
	return from != q && p.Alive && p.Suspected>>port&1 == 0 && c.Process(conf, from).Alive
}

// suspicions reports the crash of one process to another, after all messages between them have arrived. A process that another one
// does not hear, since their link is cut, may be suspected meanwhile, and is trusted again afterwards, before its next message.
func (c *Checker) suspicions(conf Configuration, visit Visitor) {
	for q := c.Low; q < c.High; q++ {
		for port, l := range c.Into[q] {
			t := Transition{Event: Suspects, Process: q, At: uint16(port)}
			switch {
			case c.Process(conf, q).Suspects>>port&1 == 1 && (len(c.Queue(conf, l)) == 0 || c.Options.Hasty):
			case c.Functions.Suspect && c.severed(conf, l) && c.mayErr(conf, q, port):
				t.Class = Free
			case c.mayTrust(conf, q, port):
				c.trust(conf, q, port, visit)
				continue
			default:
				continue
			}
			if c.selects(t.Class) {
				copy(c.Base, conf)
				c.perform(t, 0, visit)
			}
		}
	}
}

// mayTrust reports whether a process was suspected by mistake: it is live, or a message that it sent before it crashed is
// still to arrive.
func (c *Checker) mayTrust(conf Configuration, q, port int) bool {
	l := c.Into[q][port]
	return c.errs() && c.Process(conf, q).Suspected>>port&1 == 1 && !c.severed(conf, l) &&
		(c.Process(conf, c.Links[l].From).Alive || len(c.Queue(conf, l)) > 0)
}

// trust withdraws a suspicion. A process that has crashed meanwhile is suspected again after its last message.
func (c *Checker) trust(conf Configuration, q, port int, visit Visitor) {
	if !c.selects(Due) {
		return
	}
	copy(c.Base, conf)
	p := *c.Process(conf, q)
	p.Suspected &^= 1 << port
	if !c.Process(conf, c.Links[c.Into[q][port]].From).Alive {
		p.Suspects |= 1 << port
	}
	c.SetProcess(c.Base, &p)
	t := Transition{Event: Trusts, Process: q, At: uint16(port)}
	if c.Functions.Trust {
		c.perform(t, 0, visit)
	} else {
		visit(&t, c.Base)
	}
}

// Unused returns the global part before any event: all faults may come.
func (o *Options) Unused() *Global {
	return &Global{
		Crashes: uint32(o.Crashes), Recoveries: uint32(o.Recoveries), Commands: uint32(o.Commands),
		Losses: uint32(o.Losses), Duplicates: uint32(o.Duplicates), Cuts: uint32(o.Cuts), Suspicions: uint32(o.Suspicions),
	}
}

// used returns how many faults had come by the last configuration of the run.
func (r *recorder) used(may *Global) *Global {
	left := r.Global(r.Last)
	return &Global{
		Crashes: may.Crashes - left.Crashes, Recoveries: may.Recoveries - left.Recoveries,
		Losses: may.Losses - left.Losses, Duplicates: may.Duplicates - left.Duplicates,
		Cuts: may.Cuts - left.Cuts, Suspicions: may.Suspicions - left.Suspicions,
	}
}

// Unclaimed returns, in words, which of so many faults are outside the algorithm's fault model, and whether messages are under way for longer than it
// assumes; longest: the longest time.
func (c *Checker) Unclaimed(came *Global, longest election.Ticks) []string {
	s := faults.Script{
		Lose: faults.Chance{Times: uint64(came.Losses)}, Duplicate: faults.Chance{Times: uint64(came.Duplicates)}, Unordered: c.Options.Unordered,
		Cuts: make([]faults.Cut, came.Cuts), Suspicions: make([]faults.Suspicion, came.Suspicions),
	}
	ends := election.Units(1)
	for p := range int(came.Crashes) {
		s.Crashes = append(s.Crashes, faults.Crash{Process: p})
		if c.Options.Recoveries >= c.Options.Crashes || came.Recoveries > 0 {
			s.Recoveries = append(s.Recoveries, faults.Recovery{Process: p, At: ends})
		}
	}
	for i := range s.Cuts {
		s.Cuts[i].Until = ends
	}
	all := s.Unclaimed(c.Declaration)
	if c.Declaration.Timing == election.Timed && c.Declaration.LongestDelay(c.Network.Parameters).Less(longest) {
		all = append(all, fmt.Sprintf("delays of %s units", longest))
	}
	return all
}

// errs reports whether the failure detector may suspect a live process.
func (c *Checker) errs() bool { return c.Options.Cuts+c.Options.Suspicions > 0 }

// fault sets c.base to a configuration in which one fault less may come.
func (c *Checker) fault(conf Configuration, take func(*Global)) {
	copy(c.Base, conf)
	g := *c.Global(conf)
	take(&g)
	g.Disturbed = true
	c.SetGlobal(c.Base, &g)
}

// faults visits all faults but those of messages, and commands.
func (c *Checker) faults(conf Configuration, visit Visitor) {
	g := c.Global(conf)
	for q := c.Low; q < c.High; q++ {
		alive := c.Process(conf, q).Alive
		if alive && g.Crashes > 0 && c.selects(ByFault) {
			c.crash(conf, q, visit)
		}
		if !alive && g.Recoveries > 0 {
			c.recover(conf, q, visit)
		}
		if alive && g.Commands > 0 && c.selects(ByFault) {
			c.fault(conf, func(g *Global) { g.Commands-- })
			c.saw(sawCommand)
			c.perform(Transition{Event: Obeys, Class: ByFault, Process: q, At: resign}, 0, visit)
		}
		if alive && g.Suspicions > 0 {
			c.mistakes(conf, q, visit)
		}
	}
	c.changeCuts(conf, visit)
}

// crash sets a process to the state in which it will recover, so that all crashed configurations look alike.
func (c *Checker) crash(conf Configuration, q int, visit Visitor) {
	c.fault(conf, func(g *Global) { g.Crashes-- })
	old := *c.Process(conf, q)
	c.die(c.Base, q, old.State, old.Proofs, &old)
	visit(&Transition{Event: Crashes, Class: ByFault, Process: q}, c.Base)
}

// die ends the life of a process in a configuration: from a state, with the leases that it had, and proofs that it has not been told.
func (c *Checker) die(conf Configuration, q int, state process.State, untold []death, leases *ProcessState) {
	dead := ProcessState{State: c.reborn(state, q), Position: leases.Position, ID: leases.ID, Proofs: untold}
	if c.Declaration.Leased && !c.Options.Wardens {
		if dead.Orphan = leases.Lease; dead.Orphan.Before(leases.Orphan) {
			dead.Orphan = leases.Orphan
		}
	}
	c.SetProcess(conf, &dead)
	c.detect(conf, q, false)
	if c.Options.Wardens {
		c.prove(conf, q, state)
	}
	c.saw(sawCrash)
}

// reborn returns the state of a process after a crash in a state.
func (c *Checker) reborn(state process.State, q int) process.State {
	number, found := c.deaths.get(uint64(state), uint64(q))
	if !found {
		number = uint32(c.Values.Reborn(state, q))
		c.deaths.put(uint64(state), uint64(q), number)
	}
	return process.State(number)
}

// crashAmid crashes a process of the configuration c.base amid a step that sends, after each number of messages but all of them. What
// is durable is saved before. Timers and decisions come later, and are lost.
func (c *Checker) crashAmid(t Transition, o *Outcome, visit Visitor) {
	g := *c.Global(c.Base)
	if g.Crashes == 0 {
		return
	}
	g.Crashes--
	g.Disturbed = true
	after, lease := c.Processes.Values[o.Process], *c.Process(c.Base, t.Process)
	if t.Event == Obeys && t.At == stopped && lease.Decision.Role != network.Leader {
		lease.Lease = election.Deadline{} // its work has stopped
	}
	link := int(c.Network.Network.First(t.Process))
	t.Class, t.Breach, t.Amid = ByFault, nil, true
	for t.Left = range o.Sent {
		copy(c.Next, c.Base)
		now := g
		now.Begun = g.Begun && (!t.opens || t.Left > 0)          // an initiator of which nothing is heard has not begun an election
		if t.Left > 0 && c.Declaration.Task == election.Groups { // others may follow it in the term in which it was about to lead
			for i := range o.Effects {
				if e := &o.Effects[i]; e.Op == election.Lead {
					now.add(e.Term, t.Process)
				}
			}
		}
		c.SetGlobal(c.Next, &now)
		c.die(c.Next, t.Process, after.State, after.Proofs, &lease)
		for _, s := range o.Sent[:t.Left] {
			if !c.severed(c.Next, link+int(s.Port)) {
				c.push(c.Next, link+int(s.Port), s.Message)
			}
		}
		c.taken = t
		visit(&c.taken, c.Next)
	}
}

func (c *Checker) recover(conf Configuration, q int, visit Visitor) {
	class := ByFault
	if c.Declaration.Survives&election.Crash == 0 { // a process that crashes must recover
		class = Due
	}
	if !c.selects(class) {
		return
	}
	g := *c.Global(conf)
	g.Recoveries--
	copy(c.Base, conf)
	c.SetGlobal(c.Base, &g)
	p := *c.Process(conf, q)
	p.Alive = true
	if c.Functions.Suspect { // its detector finds out which others have crashed
		for port, l := range c.Into[q] {
			if peer := c.Links[l].From; peer != q && !c.Process(conf, peer).Alive {
				p.Suspects |= 1 << port
			}
		}
	}
	c.SetProcess(c.Base, &p)
	c.detect(c.Base, q, true)
	c.saw(sawRecovery)
	c.perform(Transition{Event: Recovers, Class: class, Process: q}, 0, visit)
}

// The numbers of the commands that need no fault; proofs of death follow.
const (
	resign uint16 = iota
	stopped
	proofs
)

// death is a proven one, of a life of a process.
type death struct {
	Member election.ID
	Number uint64
}

// prove lets the warden of a process that crashes, in a state, prove its death to the others, with that of its work.
func (c *Checker) prove(conf Configuration, of int, state process.State) {
	died := death{c.Network.ID(of), c.Values.Incarnation(state)}
	for q := range c.N {
		p := *c.Process(conf, q)
		if q == of || slices.Contains(p.Proofs, died) {
			continue
		}
		p.Proofs = append(slices.Clone(p.Proofs), died)
		slices.SortFunc(p.Proofs, func(a, b death) int { return cmp.Or(cmp.Compare(a.Member, b.Member), cmp.Compare(a.Number, b.Number)) })
		c.SetProcess(conf, &p)
	}
}

// tellDeaths reports proven deaths to live processes, at any time.
func (c *Checker) tellDeaths(conf Configuration, visit Visitor) {
	for q := range c.N {
		p := c.Process(conf, q)
		if !p.Alive {
			continue
		}
		for _, d := range p.Proofs {
			if !c.selects(Due) {
				continue
			}
			copy(c.Base, conf)
			c.saw(sawProof)
			c.perform(Transition{Event: Obeys, Process: q, At: c.commandOf(d)}, 0, visit)
		}
	}
}

// commandOf returns the number of the command that reports a death.
func (c *Checker) commandOf(d death) uint16 {
	died := election.Command{Order: election.Died, Member: d.Member, Number: d.Number}
	number := slices.Index(c.Commands, died)
	if number < 0 {
		number = len(c.Commands)
		c.Commands = append(c.Commands, died)
	}
	return uint16(number)
}

// detect schedules suspicions of a crashed process at all others, or cancels them.
func (c *Checker) detect(conf Configuration, of int, alive bool) {
	if !c.Functions.Suspect {
		return
	}
	for q := range c.N {
		p := *c.Process(conf, q)
		if q == of || !p.Alive {
			continue
		}
		for port, l := range c.Into[q] {
			switch {
			case c.Links[l].From != of:
			case alive:
				p.Suspects &^= 1 << port
				p.Suspected &^= 1 << port // a new life announces itself
			case p.Suspected>>port&1 == 0:
				p.Suspects |= 1 << port
			}
		}
		c.SetProcess(conf, &p)
	}
}
