package model

import (
	"cmp"
	"fmt"
	"slices"

	"ringleader.example/ringleader/election"
	"ringleader.example/ringleader/internal/core/process"
	"ringleader.example/ringleader/network"
)

// Decided judges a configuration in which a process has just decided, and records the leaders of terms.
// was is the process's work before the step.
func (c *Checker) Decided(conf Configuration, q int, was Work, effects []election.Effect) *Breach {
	for i := range effects {
		e := &effects[i]
		var f *Breach
		switch e.Op {
		case election.Lead:
			f = c.leads(conf, q, was, e)
			was.leads, was.term = !e.Ticks.IsZero(), e.Term
		case election.StopWork:
			was.stopping = true
		case election.NoLeader:
			was.leads = false
		case election.Follow:
			was.leads = false
			if c.Declaration.Task == election.Groups {
				f = c.joins(conf, q, e)
			}
			// A decision for ever may not be wrong even for a moment.
			if right := c.right(conf); c.Declaration.Task == election.Once && e.ID != 0 && right != 0 && e.ID != right && !c.Global(conf).Disturbed {
				f = &Breach{Property: WrongLeader, Detail: fmt.Sprintf("%s follows %d; the right leader is %d", c.Network.Name(q), c.Network.RealOf(e.ID), c.Network.RealOf(right))}
			}
		}
		if f != nil {
			return f
		}
	}
	return nil
}

// right returns the process that must lead if all are live; 0 if any may.
func (c *Checker) right(conf Configuration) election.ID {
	if !c.Functions.Eligible {
		return c.Best
	}
	return c.Network.Right(func(q int) bool { return c.stands(conf, q) })
}

// stands reports whether a process may become leader.
func (c *Checker) stands(conf Configuration, q int) bool {
	return c.Values.Eligible(c.Process(conf, q).State, q)
}

// overlaps judges a lease that a process takes or prolongs: no other may run, of this process's dead lives neither.
func (c *Checker) overlaps(conf Configuration, q int, e *election.Effect) *Breach {
	if !c.Declaration.Leased || e.Ticks.IsZero() {
		return nil
	}
	for other := range c.N {
		p := c.Process(conf, other)
		if !remaining(p.Orphan).IsZero() {
			return &Breach{Property: TwoLeases, Detail: fmt.Sprintf("%s leads for %s units, while the lease of an earlier life of %s runs for another %s",
				c.Network.Name(q), e.Ticks, c.Network.Name(other), remaining(p.Orphan))}
		}
		if other != q && !remaining(p.Lease).IsZero() {
			return &Breach{Property: TwoLeases, Detail: fmt.Sprintf("%s leads for %s units, while the lease of %s runs for another %s",
				c.Network.Name(q), e.Ticks, c.Network.Name(other), remaining(p.Lease))}
		}
	}
	return nil
}

// Work returns the work of a process before a step that an event asks for.
func (c *Checker) Work(p *ProcessState, t *Transition) Work {
	return Work{
		leads: p.Decision.Role == network.Leader && !remaining(p.Lease).IsZero(), term: p.Decision.Term,
		stopping: p.Stopping && (t.Event != Obeys || t.At != stopped),
	}
}

func (c *Checker) leads(conf Configuration, q int, was Work, e *election.Effect) *Breach {
	for other := range c.N {
		if p := c.Process(conf, other); other != q && c.Declaration.Task == election.Once && p.Decision.Role == network.Leader {
			return &Breach{Property: TwoLeaders, Detail: fmt.Sprintf("%s leads, and so does %s", c.Network.Name(q), c.Network.Name(other))}
		}
	}
	if b := c.overlaps(conf, q, e); b != nil {
		return b
	}
	// A service may be wrong while processes come and go, but not if all has been well from the start.
	if right := c.right(conf); right != 0 && c.Network.ID(q) != right && !c.Global(conf).Disturbed {
		return &Breach{Property: WrongLeader, Detail: fmt.Sprintf("%s leads; the right leader is %d", c.Network.Name(q), c.Network.RealOf(right))}
	}
	if b := c.leadsAnew(conf, q, was, e); b != nil {
		return b
	}
	c.saw(SawLeader)
	if e.Term == 0 {
		return nil
	}
	return c.leadsIn(conf, q, e)
}

// leadsAnew judges a leased term in which a process does not merely remain leader.
func (c *Checker) leadsAnew(conf Configuration, q int, was Work, e *election.Effect) *Breach {
	if !c.Declaration.Leased || e.Term == 0 || was.leads && was.term == e.Term {
		return nil
	}
	if was.stopping {
		return &Breach{Property: Unpaired, Detail: fmt.Sprintf("%s leads in term %d before its host has stopped its earlier work", c.Network.Name(q), e.Term)}
	}
	for _, t := range c.Global(conf).Led {
		switch {
		case int(t.Position) == q && t.Term == e.Term:
			return &Breach{Property: Revived, Detail: fmt.Sprintf("%s leads in term %d again, whose lease had ended", c.Network.Name(q), e.Term)}
		case int(t.Position) == q:
			c.saw(sawAnew)
		case t.Term < e.Term:
			c.saw(sawSuccessor)
		}
	}
	return nil
}

// leadsIn judges the term in which a process leads.
func (c *Checker) leadsIn(conf Configuration, q int, e *election.Effect) *Breach {
	g := *c.Global(conf)
	for _, t := range g.Led {
		if c.Declaration.Leased && t.Term > e.Term {
			return &Breach{Property: WrongTerm, Detail: fmt.Sprintf("%s leads in term %d, and %s has led in term %d",
				c.Network.Name(q), e.Term, c.Network.Name(int(t.Position)), t.Term)}
		}
	}
	for _, t := range g.Led {
		if t.Term != e.Term {
			continue
		}
		if int(t.Position) == q {
			if c.Declaration.Task == election.Groups {
				return &Breach{Property: WrongTerm, Detail: fmt.Sprintf("%s leads in term %d again", c.Network.Name(q), e.Term)}
			}
			return nil
		}
		if c.Declaration.Task != election.Groups {
			return &Breach{Property: TwoInTerm, Detail: fmt.Sprintf("%s leads in term %d, and so did %s", c.Network.Name(q), e.Term, c.Network.Name(int(t.Position)))}
		}
	}
	g.add(e.Term, q)
	c.SetGlobal(conf, &g)
	return nil
}

// add notes that a process leads in a term.
func (g *Global) add(term election.Term, q int) {
	g.Led = append(slices.Clone(g.Led), Tenure{term, uint32(q)})
	slices.SortFunc(g.Led, func(t, u Tenure) int {
		return cmp.Or(cmp.Compare(t.Position, u.Position), cmp.Compare(t.Term, u.Term))
	})
}

// joins judges a process that follows in a group: its leader must have led in that term.
func (c *Checker) joins(conf Configuration, q int, e *election.Effect) *Breach {
	for _, t := range c.Global(conf).Led {
		if t.Term == e.Term && c.Network.ID(int(t.Position)) == e.ID {
			return nil
		}
	}
	return &Breach{Property: WrongTerm, Detail: fmt.Sprintf("%s follows %d in term %d, in which that has not led", c.Network.Name(q), c.Network.RealOf(e.ID), e.Term)}
}

// Settled judges a configuration in which a run may end. If all initiators crashed before they started, there was no
// election; if all that have heard of it crashed, nobody is left who promised to elect.
func (c *Checker) Settled(conf Configuration) *Breach {
	if !c.Global(conf).Begun || c.forgotten(conf) {
		return nil
	}
	leader, living := -1, 0
	for q := range c.N {
		p := c.Process(conf, q)
		if p.Alive {
			living++
		}
		if p.Decision.Role != network.Leader {
			continue
		}
		if c.Declaration.Leased && remaining(p.Lease).IsZero() {
			return &Breach{Property: NoLeader, Detail: "the lease of " + c.Network.Name(q) + " has run out"}
		}
		if leader >= 0 {
			return &Breach{Property: TwoLeaders, Detail: fmt.Sprintf("%s leads, and so does %s", c.Network.Name(leader), c.Network.Name(q))}
		}
		leader = q
	}
	if living == 0 {
		return nil
	}
	if c.Options.Prefix != nil { // the question is whether it is safe
		return c.agreed(conf, leader)
	}
	for q := range c.N {
		p := c.Process(conf, q)
		if p.Alive && p.Decision.Role == network.Undecided && c.Declaration.Decides == election.EveryProcess {
			return &Breach{Property: Undecided, Detail: c.Network.Name(q) + " has not decided"}
		}
	}
	once := c.Declaration.Task == election.Once && c.Global(conf).Disturbed // the leader may have crashed after the election
	if leader < 0 && !once {
		return &Breach{Property: NoLeader, Detail: c.followed(conf)}
	}
	return c.agreed(conf, leader)
}

// forgotten reports whether no live process has started, or has another state than that in which it was born.
func (c *Checker) forgotten(conf Configuration) bool {
	for q := range c.N {
		if p := c.Process(conf, q); p.Alive && (p.Start != mayStart || p.State != c.Born[q] || p.Decision.Role != network.Undecided) {
			return false
		}
	}
	return c.Global(conf).Disturbed
}

// followed names a leader that processes follow, if no process leads.
func (c *Checker) followed(conf Configuration) string {
	for q := range c.N {
		if p := c.Process(conf, q); p.Decision.Leader != 0 {
			return fmt.Sprintf("no process leads, and %s follows %d", c.Network.Name(q), c.Network.RealOf(p.Decision.Leader))
		}
	}
	return "no process leads"
}

// agreed judges which leader the others follow, and whether the leader is the right one.
func (c *Checker) agreed(conf Configuration, leader int) *Breach {
	var named election.ID
	if leader >= 0 {
		named = c.Network.ID(leader)
	}
	for q := range c.N {
		p := c.Process(conf, q)
		if p.Decision.Leader == 0 { // crashed processes have no decision
			continue
		}
		if named == 0 {
			named = p.Decision.Leader
		}
		if p.Decision.Leader != named {
			return &Breach{Property: Disagreement, Detail: fmt.Sprintf("%s follows %d, and the leader is %d",
				c.Network.Name(q), c.Network.RealOf(p.Decision.Leader), c.Network.RealOf(named))}
		}
	}
	if c.Declaration.Task == election.Once || leader < 0 || c.Options.Prefix != nil {
		return nil // judged when it was decided
	}
	right := c.Network.Right(func(q int) bool { return c.Process(conf, q).Alive && c.stands(conf, q) })
	if right != 0 && named != right {
		return &Breach{Property: WrongLeader, Detail: fmt.Sprintf("%s leads; the right leader among the live processes is %d", c.Network.Name(leader), c.Network.RealOf(right))}
	}
	return nil
}

// Work is what a process does as the leader of its service, before a step or in the middle of its effects.
type Work struct {
	leads    bool // under a lease that runs
	term     election.Term
	stopping bool // its host has not stopped earlier work yet
}

// The properties that can be violated.
const (
	BrokeContract = process.BrokeContract
	Panicked      = process.Panicked
	Irrevocable   = "decided twice"
	WrongTerm     = "went back on a term"
	TwoLeaders    = "two leaders"
	TwoInTerm     = "two leaders of one term"
	TwoLeases     = "two running leases"
	Revived       = "a term came back"
	Unpaired      = "work began before earlier work had stopped"
	WrongLeader   = "wrong leader"
	Undecided     = "undecided at the end"
	NoLeader      = "no leader at the end"
	Disagreement  = "disagreement at the end"
	NeverEnds     = "election never ends"
	BoundBroken   = "bound broken"
	CountsVary    = "counts vary"
)
