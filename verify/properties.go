package verify

import (
	"cmp"
	"fmt"
	"slices"

	"ringleader.example/ringleader/election"
)

// decided judges a world in which a process has just decided, and remembers who led in which term.
func (c *checker[S, M]) decided(w world, q int, effects []election.Effect) *fault {
	for i := range effects {
		e := &effects[i]
		var f *fault
		switch e.Op {
		case election.Lead:
			f = c.leads(w, q, e)
		case election.Follow:
			if c.a.Task == election.Groups {
				f = c.joins(w, q, e)
			}
			// For ever, so it may not be wrong even for a moment.
			if right := c.right(w); c.a.Task == election.Once && e.ID != 0 && right != 0 && e.ID != right && !c.rest(w).Disturbed {
				f = &fault{WrongLeader, fmt.Sprintf("%s follows %d; the right leader is %d", c.p.Name(q), c.p.RealOf(e.ID), c.p.RealOf(right))}
			}
		}
		if f != nil {
			return f
		}
	}
	return nil
}

// right is who ought to lead, were all alive; 0 if any may.
func (c *checker[S, M]) right(w world) election.ID {
	if c.a.Stands == nil {
		return c.best
	}
	return c.p.Right(func(q int) bool { return c.stands(w, q) })
}

// stands says whether a process may become leader.
func (c *checker[S, M]) stands(w world, q int) bool {
	if c.a.Stands == nil {
		return c.p.Willing(q)
	}
	state := c.process(w, q).State
	return c.a.Stands(&state)
}

func (c *checker[S, M]) leads(w world, q int, e *election.Effect) *fault {
	for other := range c.n {
		p := c.process(w, other)
		if other == q {
			continue
		}
		if c.a.Task == election.Once && p.Decision.Role == election.Leader {
			return &fault{TwoLeaders, fmt.Sprintf("%s leads, and so does %s", c.p.Name(q), c.p.Name(other))}
		}
		if c.a.Leased && !e.Ticks.IsZero() && !left(p.Lease).IsZero() {
			return &fault{TwoLeases, fmt.Sprintf("%s leads for %s units, while the lease of %s runs for another %s",
				c.p.Name(q), e.Ticks, c.p.Name(other), left(p.Lease))}
		}
	}
	// A service may be wrong while processes come and go, but not if all has been well from the start.
	if right := c.right(w); right != 0 && c.p.ID(q) != right && !c.rest(w).Disturbed {
		return &fault{WrongLeader, fmt.Sprintf("%s leads; the right leader is %d", c.p.Name(q), c.p.RealOf(right))}
	}
	if e.Term == 0 {
		return nil
	}
	r := *c.rest(w)
	for _, t := range r.Led {
		if t.Term != e.Term {
			continue
		}
		if int(t.Position) == q {
			if c.a.Task == election.Groups {
				return &fault{WrongTerm, fmt.Sprintf("%s leads in term %d again", c.p.Name(q), e.Term)}
			}
			return nil
		}
		if c.a.Task != election.Groups {
			return &fault{TwoInTerm, fmt.Sprintf("%s leads in term %d, and so did %s", c.p.Name(q), e.Term, c.p.Name(int(t.Position)))}
		}
	}
	r.Led = append(slices.Clone(r.Led), tenure{e.Term, uint32(q)})
	slices.SortFunc(r.Led, func(t, u tenure) int {
		return cmp.Or(cmp.Compare(t.Position, u.Position), cmp.Compare(t.Term, u.Term))
	})
	c.setRest(w, &r)
	return nil
}

// joins judges a process that follows in a group: somebody must have led it.
func (c *checker[S, M]) joins(w world, q int, e *election.Effect) *fault {
	for _, t := range c.rest(w).Led {
		if t.Term == e.Term && c.p.ID(int(t.Position)) == e.ID {
			return nil
		}
	}
	return &fault{WrongTerm, fmt.Sprintf("%s follows %d in term %d, in which that has not led", c.p.Name(q), c.p.RealOf(e.ID), e.Term)}
}

// settled judges a world in which a run may end. Where all that were to start died before, there was no
// election.
func (c *checker[S, M]) settled(w world) *fault {
	if !c.rest(w).Begun {
		return nil
	}
	leader, living := -1, 0
	for q := range c.n {
		p := c.process(w, q)
		if p.Alive {
			living++
		}
		if p.Decision.Role != election.Leader {
			continue
		}
		if c.a.Leased && left(p.Lease).IsZero() {
			return &fault{NoLeader, "the lease of " + c.p.Name(q) + " has run out"}
		}
		if leader >= 0 {
			return &fault{TwoLeaders, fmt.Sprintf("%s leads, and so does %s", c.p.Name(leader), c.p.Name(q))}
		}
		leader = q
	}
	if living == 0 {
		return nil
	}
	for q := range c.n {
		p := c.process(w, q)
		if p.Alive && p.Decision.Role == election.Undecided && c.a.Decides == election.EveryProcess {
			return &fault{Undecided, c.p.Name(q) + " has not decided"}
		}
	}
	once := c.a.Task == election.Once && c.rest(w).Disturbed // the leader may have died after the election
	if leader < 0 && !once {
		return &fault{NoLeader, c.followed(w)}
	}
	return c.agreed(w, leader)
}

// followed says whom processes follow though nobody leads.
func (c *checker[S, M]) followed(w world) string {
	for q := range c.n {
		if p := c.process(w, q); p.Alive && p.Decision.Leader != 0 {
			return fmt.Sprintf("nobody leads, and %s follows %d", c.p.Name(q), c.p.RealOf(p.Decision.Leader))
		}
	}
	return "nobody leads"
}

// agreed judges whom the others follow, and whether the leader is the right one.
func (c *checker[S, M]) agreed(w world, leader int) *fault {
	var named election.ID
	if leader >= 0 {
		named = c.p.ID(leader)
	}
	for q := range c.n {
		p := c.process(w, q)
		if !p.Alive || p.Decision.Role != election.Follower || p.Decision.Leader == 0 {
			continue
		}
		if named == 0 {
			named = p.Decision.Leader
		}
		if p.Decision.Leader != named {
			return &fault{Disagreement, fmt.Sprintf("%s follows %d, and the leader is %d",
				c.p.Name(q), c.p.RealOf(p.Decision.Leader), c.p.RealOf(named))}
		}
	}
	if c.a.Task == election.Once || leader < 0 {
		return nil // judged when it was decided
	}
	right := c.p.Right(func(q int) bool { return c.process(w, q).Alive && c.stands(w, q) })
	if right != 0 && named != right {
		return &fault{WrongLeader, fmt.Sprintf("%s leads; the right leader among the living is %d", c.p.Name(leader), c.p.RealOf(right))}
	}
	return nil
}
