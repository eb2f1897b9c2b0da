package rerun

import (
	"maps"
	"slices"

	"ringleader.example/ringleader/election"
	"ringleader.example/ringleader/internal/core/process"
	"ringleader.example/ringleader/simulate"
)

// choice returns the event of the session that makes a step, and makes what has to come before it.
func (m *maker) choice(i int, f *fact) (c simulate.Choice, err error) {
	in := &f.step.Input
	c.Process = f.position
	switch in.What {
	case process.Started:
		c.What = simulate.Begin
	case process.Recovered:
		c.What, c.State, c.Life = simulate.Revive, string(f.before), f.Life.Head.Incarnation
	case process.Received:
		return m.delivery(i, f)
	case process.Expired:
		c.What, c.Timer = simulate.Expire, in.Timer
	case process.Suspected, process.Trusted:
		return c, m.detects(i, f, &c)
	default:
		c.What, c.Command = simulate.Ask, in.Command
		switch in.Command.Order {
		case election.Resign:
			c.What, c.Command = simulate.Abdicate, election.Command{}
		case election.Stopped:
			c.What, c.Command = simulate.Cease, election.Command{}
		}
	}
	return c, nil
}

// delivery returns the delivery of a message. Those before it on its link that never arrive are lost now.
func (m *maker) delivery(i int, f *fact) (c simulate.Choice, err error) {
	link := m.link(f.message)
	for _, earlier := range slices.Clone(m.queues[link]) {
		if earlier == f.message {
			break
		}
		if m.sends[earlier].received < i {
			if err := m.lose(earlier); err != nil {
				return c, err
			}
		}
	}
	place := slices.Index(m.queues[link], f.message)
	m.queues[link] = slices.Delete(m.queues[link], place, place+1)
	return simulate.Choice{What: simulate.Deliver, Process: f.position, Link: link, Place: place}, nil
}

// detects sets the event of a failure detector. All messages of a process that has crashed come before, or never.
func (m *maker) detects(i int, f *fact, c *simulate.Choice) error {
	in := &f.step.Input
	c.Link = uint32(f.position*m.net) + uint32(in.Port)
	if c.What = simulate.Trust; in.What == process.Trusted {
		return nil
	}
	c.What = simulate.Distrust
	return m.forget(i, func(s *send) bool { return s.from == int(in.Port) && s.to == f.position })
}

// unheard reports whether an event is the end of a suspicion of which neither the algorithm nor the session hears.
func (m *maker) unheard(c *simulate.Choice) bool {
	return c.What == simulate.Trust && !m.program.Functions.Trust && !slices.Contains(m.session.Faults(), *c)
}

// lose loses a message, if it is under way.
func (m *maker) lose(message int) error {
	link := m.link(message)
	place := slices.Index(m.queues[link], message)
	if place < 0 {
		return nil
	}
	m.queues[link] = slices.Delete(m.queues[link], place, place+1)
	return m.choose(simulate.Choice{What: simulate.Lose, Process: m.sends[message].to, Link: link, Place: place})
}

// end crashes a member at the end of its life. What is under way to it is lost, but what its next life receives.
func (m *maker) end(i int, f *fact) error {
	if err := m.choose(simulate.Choice{What: simulate.Fail, Process: f.position}); err != nil {
		return err
	}
	return m.forget(i, func(s *send) bool { return s.to == f.position })
}

// forget loses messages under way that no later step receives.
func (m *maker) forget(i int, of func(s *send) bool) error {
	for _, link := range slices.Sorted(maps.Keys(m.queues)) {
		for _, k := range slices.Clone(m.queues[link]) {
			if s := &m.sends[k]; of(s) && s.received < i {
				if err := m.lose(k); err != nil {
					return err
				}
			}
		}
	}
	return nil
}
