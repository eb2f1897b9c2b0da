package model

import (
	"fmt"
	"slices"

	"ringleader.example/ringleader/election"
	"ringleader.example/ringleader/internal/core/process"
	"ringleader.example/ringleader/network"
	"ringleader.example/ringleader/trace"
)

// begun returns the recorder of runs that begin at the moment of the options: it has the steps with which their records begin.
func (c *Checker) begun() (*recorder, error) {
	m := c.Options.Moment
	wrong := func(err error) (*recorder, error) {
		return nil, fmt.Errorf("%w %s from there: %w", ErrOptions, c.Declaration.Name, err)
	}
	if err := m.Check(c.Declaration, c.Network, c.program.Schema()); err != nil {
		return wrong(err)
	}
	r := c.newRecorder()
	r.Last = make(Configuration, len(c.Base))
	g := c.Options.Unused()
	g.Begun, g.Disturbed = true, true
	states := make([]process.State, c.N)
	for q := range m.Processes {
		c.Network.Incarnate(q, m.Processes[q].Life)
		state := c.Values.Born(q)
		if encoded := m.Processes[q].State; len(encoded) > 0 {
			var err error
			if state, err = c.Values.Resume(q, encoded); err != nil {
				return wrong(fmt.Errorf("the state of %s: %w", c.Network.Name(q), err))
			}
		}
		if m.Processes[q].Crashed {
			state = c.Values.Reborn(state, q)
		}
		states[q] = state
		p := c.standing(q, state)
		c.SetProcess(r.Last, &p)
		if m.Processes[q].Role == network.Leader {
			g.add(m.Processes[q].Term, q)
		}
	}
	c.SetGlobal(r.Last, g)
	bodies := make([]uint32, len(m.UnderWay))
	for i := range m.UnderWay {
		f := &m.UnderWay[i]
		body, err := c.Values.Received(f.Content)
		if err != nil {
			return wrong(fmt.Errorf("a message under way: %w", err))
		}
		bodies[i] = c.Messages.Number(&message{f.Kind, body}, election.Ticks{})
		c.push(r.Last, int(c.Network.Network.First(f.From))+f.Port, bodies[i])
	}
	text := func(i int) string { return c.Values.Contents(m.UnderWay[i].Kind, c.Messages.Values[bodies[i]].Body) }
	r.Steps = m.Steps(c.Declaration, c.Network, func(q int) string { return c.Values.StateText(states[q]) }, text)
	r.launch(m, bodies)
	return r, nil
}

// Begins returns an error if runs cannot begin at the moment of the options.
func (c *Checker) Begins() error {
	_, err := c.begun()
	return err
}

// launch notes the messages under way with the numbers that the first steps give them.
func (r *recorder) launch(m *trace.Moment, bodies []uint32) {
	for i := range r.Steps {
		next := 0 // among the messages of the process, which are in the order of the moment
		for _, sent := range r.Steps[i].Sent {
			for m.UnderWay[next].From != r.Steps[i].Process {
				next++
			}
			link := int(r.Network.Network.First(r.Steps[i].Process)) + sent.Port
			r.flying[link] = append(r.flying[link], journey{number: sent.Message, message: bodies[next]})
			r.sent++
			next++
		}
	}
}

// standing returns a process of the moment.
func (c *Checker) standing(q int, state process.State) ProcessState {
	m := c.Options.Moment
	now := &m.Processes[q]
	p := ProcessState{State: state, Position: uint32(q), ID: c.Network.ID(q), Alive: !now.Crashed, Stopping: now.Stopping, Decision: now.Decision()}
	if now.Asleep {
		p.Start = MustStart
	}
	for _, a := range now.Alarms {
		p.Running |= 1 << a.Timer
		p.Timers[a.Timer] = election.DeadlineIn(a.Left, election.Ticks{})
		if a.Deadline && c.Options.Lazy {
			p.Anchored |= 1 << a.Timer
		}
	}
	lease := election.DeadlineIn(now.Lease, election.Ticks{})
	if now.Crashed {
		p.Orphan = lease
	} else {
		p.Lease = lease
	}
	if c.Functions.Suspect && p.Alive {
		for port, l := range c.Into[q] { // of live processes it may be suspicious by mistake, which is over
			from := c.Links[l].From
			switch {
			case from == q || !m.Processes[from].Crashed:
			case slices.Contains(now.Suspects, port):
				p.Suspected |= 1 << port
			default:
				p.Suspects |= 1 << port
			}
		}
	}
	if c.Options.Wardens {
		for _, d := range m.Proofs {
			if d.Member != p.ID {
				p.Proofs = append(p.Proofs, death(d))
			}
		}
	}
	return p
}
