package refine

import (
	"slices"

	"ringleader.example/ringleader/algorithms/quorumbully"
	"ringleader.example/ringleader/election"
	"ringleader.example/ringleader/trace"
)

// What happens to members: time passes, they crash and are proven dead, and events reach them.

// Pass lets time pass. Work stops before its deadline: the host's duty.
func (c *Checker) Pass(s *State, now int) (*State, error) {
	return c.observe(s, nil, func(o *observation) {
		if now <= o.now {
			return
		}
		for k := range o.claims.all {
			if o.is("working", k) && o.value("deadline", k) <= now {
				o.do("stop-work", k)
			}
		}
		o.do("tick", now)
		o.now = now
	})
}

// Crash ends the life of a member. With a warden its work ends as well, and that is proven.
func (c *Checker) Crash(s *State, member election.ID, number uint64, warden bool) (*State, error) {
	return c.observe(s, nil, func(o *observation) {
		ended := o.lives.add(life{member, number})
		o.hasEnded(ended)
		if warden {
			o.die(ended)
		}
	})
}

func (o *observation) hasEnded(life int) { o.ended = append(slices.Clip(o.ended), life) }

// die gives a proof of death, if the life has ended.
func (o *observation) die(life int) {
	if !slices.Contains(o.ended, life) {
		return
	}
	for k := range o.claims.all {
		if o.claims.all[k].life == life && o.is("working", k) {
			o.do("stop-work", k)
		}
	}
	o.do("die", life)
}

// arrives makes what the environment does with the step.
func (o *observation) arrives() {
	switch {
	case o.Event == trace.Recover:
		if before := o.lives.add(life{o.Member, o.Before.Kept.Incarnation}); !slices.Contains(o.ended, before) {
			o.hasEnded(before)
		}
		o.do("crash", o.member, o.now+o.expires(quorumbully.Wait))
		if !o.After.Restarted {
			o.do("wait-ends", o.member)
		}
	case o.Event == trace.Timeout && o.Timer == quorumbully.Wait:
		o.do("wait-ends", o.member)
	case o.Event == trace.Command && o.Command.Order == election.Stopped && o.Before.Role != quorumbully.Leader:
		if c := o.claimOf(o.life, o.Before.Work); c >= 0 && o.is("working", c) {
			o.do("stop-work", c)
		}
	case o.Event == trace.Command && o.Command.Order == election.Died:
		o.die(o.lives.add(life{o.Command.Member, o.Command.Number}))
	}
}
