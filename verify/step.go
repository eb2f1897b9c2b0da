package verify

import (
	"errors"
	"fmt"
	"strings"

	"ringleader.example/ringleader/election"
	"ringleader.example/ringleader/trace"
)

// deed is one event at one process in one state. What comes of it depends on nothing else, so it is
// worked out once.
type deed struct {
	process uint32
	event   event
	at      uint16 // the port, timer or command
	letter  uint32 // receive
}

// event is what happens.
type event uint8

const (
	starts event = iota
	receives
	timesOut
	recovers
	suspects
	obeys
	crashes // from here on no step of the algorithm
	loses
	waits
)

var events = [...]trace.Event{trace.Start, trace.Receive, trace.Timeout, trace.Recover, trace.Suspect, trace.Command, trace.Crash, trace.Lost, ""}

// outcome is what a process does about an event.
type outcome struct {
	process uint32 // its state then
	sent    []sent
	effects []election.Effect // all that are not messages
	decides bool              // some of them are decisions
	cost    uint16            // a number of graph.costs
	fault   *fault            // the step is not allowed
}

type sent struct {
	port   election.Port
	letter uint32
}

// fault is a property that does not hold.
type fault struct{ Property, Detail string }

// do is all that can come of a deed: one outcome for each vector of values that it may choose.
func (c *checker[S, M]) do(d deed) []outcome {
	list, found := c.outcomes[d]
	if !found {
		c.choices(func() { list = append(list, c.step(d)) })
		c.outcomes[d] = list
	}
	return list
}

// choices runs a step once for every vector of values that its calls of Choose can return.
func (c *checker[S, M]) choices(step func()) {
	const most = 1 << 16
	var value, size []uint32
	next := 0
	c.collect.Choices(func(n uint32) uint32 {
		if n < 1 || n > most {
			panic(fmt.Sprintf("Choose(%d): the checker tries every value, 1 to %d of them", n, most))
		}
		if next == len(value) {
			value, size = append(value, 0), append(size, n)
		}
		next++
		return value[next-1]
	})
	for {
		next = 0
		step()
		for len(value) > 0 && value[len(value)-1]+1 == size[len(value)-1] {
			value, size = value[:len(value)-1], size[:len(value)-1]
		}
		if len(value) == 0 {
			return
		}
		value[len(value)-1]++
	}
}

// step runs one step of the algorithm on a copy of the state.
func (c *checker[S, M]) step(d deed) (o outcome) {
	defer func() {
		if r := recover(); r != nil {
			o = outcome{process: d.process, fault: &fault{Panicked, fmt.Sprint(r)}}
		}
	}()
	p := c.processes.values[d.process]
	c.collect.Reset()
	c.run(d, &p)
	o = outcome{effects: append([]election.Effect(nil), c.collect.Rare()...)}
	if o.fault = c.sends(&p, &o); o.fault == nil {
		o.fault = c.apply(&p, &o)
	}
	if o.fault != nil && o.fault.Property == BrokeContract {
		o.effects = nil // they may speak of what is not declared
	}
	if !c.processes.intact(d.process) || d.event == receives && !c.letters.intact(d.letter) {
		o.fault = broken("it wrote into a list that was sent, received or stored, and that others share")
	}
	o.process = c.processes.of(&p, election.Ticks{})
	return o
}

func (c *checker[S, M]) run(d deed, p *process[S]) {
	out := c.collect.Out()
	switch d.event {
	case starts:
		p.Start = never
		c.a.Start(&p.State, out)
	case receives:
		m := &c.letters.values[d.letter]
		c.a.Receive(&p.State, election.Port(d.at), m.Kind, m.M, out)
	case timesOut:
		p.stop(election.Timer(d.at))
		c.a.Timeout(&p.State, election.Timer(d.at), out)
	case recovers:
		c.a.Recover(&p.State, out)
	case suspects:
		p.Suspects &^= 1 << d.at
		c.a.Suspect(&p.State, election.Port(d.at), out)
	case obeys:
		c.a.Command(&p.State, election.Command(d.at), out)
	}
}

func (p *process[S]) stop(t election.Timer) {
	p.Running &^= 1 << t
	p.Timers[t] = election.Deadline{}
}

func broken(format string, args ...any) *fault {
	return &fault{BrokeContract, fmt.Sprintf(format, args...)}
}

// sends takes over what the step sent, and counts it.
func (c *checker[S, M]) sends(p *process[S], o *outcome) *fault {
	var sum cost
	for i := range c.collect.Sent() {
		s := &c.collect.Sent()[i]
		port, kind := s.On(), s.Kind()
		switch {
		case int(kind) >= len(c.a.Kinds):
			return broken("it sends a message of kind %d; %d are declared", kind, len(c.a.Kinds))
		case int(port) >= len(c.into[p.Position]):
			return broken("it sends on port %d; its ports are 0 to %d", port, len(c.into[p.Position])-1)
		case c.a.OneWay && port != 0:
			return broken("it sends on port %d, and is declared to send on port 0 only", port)
		}
		switch c.a.Kinds[kind].Class {
		case election.Election:
			sum.election++
		case election.Announcement:
			sum.announcement++
		}
		o.sent = append(o.sent, sent{election.Port(port), c.letters.of(&letter[M]{kind, s.M}, election.Ticks{})})
	}
	number, found := c.costs[sum]
	if !found {
		number = uint16(len(c.graph.costs))
		c.costs[sum], c.graph.costs = number, append(c.graph.costs, sum)
	}
	o.cost = number
	return nil
}

// apply lets the timers change, and then the decision.
func (c *checker[S, M]) apply(p *process[S], o *outcome) *fault {
	for i := range o.effects {
		e := &o.effects[i]
		switch e.Op {
		case election.SetTimer, election.StopTimer:
			if int(e.Timer) >= len(c.a.Timers) {
				return broken("it uses timer %d; %d are declared", e.Timer, len(c.a.Timers))
			}
			p.stop(e.Timer)
			if e.Op == election.SetTimer && e.Ticks != election.Forever {
				p.Running |= 1 << e.Timer
				p.Timers[e.Timer] = election.DeadlineIn(e.Ticks, election.Ticks{})
			}
			continue
		}
		o.decides = true
		p.Lease = election.Deadline{}
		if e.Op == election.Lead && e.Deadline {
			p.Lease = election.DeadlineIn(e.Ticks, election.Ticks{})
		}
		err := p.Decision.Apply(c.a.Task, *e, c.p.ID(int(p.Position)))
		detail := func(known error) string { // the property says what the known error says
			return c.p.Name(int(p.Position)) + strings.TrimPrefix(err.Error(), known.Error())
		}
		switch {
		case errors.Is(err, election.ErrIrrevocable):
			return &fault{Irrevocable, detail(election.ErrIrrevocable)}
		case err != nil:
			return &fault{WrongTerm, detail(election.ErrTerm)}
		case c.a.Leased && e.Op == election.Lead && !e.Deadline:
			return broken("it leads without a lease, and is declared to lead by LeadUntil only")
		}
	}
	return nil
}
