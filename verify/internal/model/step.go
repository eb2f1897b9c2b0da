package model

import (
	"cmp"
	"errors"
	"fmt"
	"math"
	"math/bits"
	"slices"
	"strings"

	"ringleader.example/ringleader/election"
	"ringleader.example/ringleader/internal/core/process"
	"ringleader.example/ringleader/network"
	"ringleader.example/ringleader/trace"
)

// StepKey is one event at one process in one state. The outcome depends on nothing else, so it is computed once.
type StepKey struct {
	Process uint32
	Event   Event
	At      uint16 // the port, timer or number of the command
	Message uint32 // receive
}

// Event is a kind of event.
type Event uint8

// The kinds of event.
const (
	Starts Event = iota
	Receives
	TimesOut
	Recovers
	Suspects
	Trusts // without a step if the algorithm has none for it
	Obeys
	Crashes // from here on no step of the algorithm
	Loses
	Cuts
	Heals
	Hastens // the deadlines of a process come a step earlier
	Waits
)

// Events are the kinds of event as records name them; the passing of time is none.
var Events = [...]trace.Event{
	trace.Start, trace.Receive, trace.Timeout, trace.Recover, trace.Suspect, trace.Trust, trace.Command,
	trace.Crash, trace.Lost, trace.Fault, trace.Heal, trace.Fault, "",
}

// Outcome is the effect of an event on a process.
type Outcome struct {
	Process uint32 // its state then
	Sent    []sent
	Effects []election.Effect // all except messages
	decides bool              // some of them are decisions
	Cost    uint16            // a number of checker.costs
	Drew    []trace.Draw      // what the step chose
	Ways    uint64            // the number of vectors as likely as this one: its probability is 1/ways; 0 beyond 64 bits
	Breach  *Breach           // the step is not allowed
}

type sent struct {
	Port    election.Port
	Message uint32
}

// OutcomesOf returns all outcomes of a step: one for each vector of values that it may choose.
func (c *Checker) OutcomesOf(key StepKey) []Outcome {
	process, rest := uint64(key.Process)<<32|uint64(key.Message), uint64(key.Event)<<16|uint64(key.At)
	index, found := c.known.get(process, rest)
	if found {
		return c.steps[index]
	}
	var list []Outcome
	c.choices(key, func(drew *[]trace.Draw) {
		o := c.step(key)
		o.Drew, o.Ways = slices.Clone(*drew), 1
		for _, d := range o.Drew {
			beyond, ways := bits.Mul64(o.Ways, uint64(d.Among))
			if o.Ways = ways; beyond > 0 {
				o.Ways = 0
			}
		}
		list = append(list, o)
	})
	if !slices.ContainsFunc(list, func(o Outcome) bool { return o.Breach != nil }) { // its text names other processes
		c.known.put(process, rest, uint32(len(c.steps)))
		c.steps = append(c.steps, list)
	}
	return list
}

// choices runs a step once for every vector of values that its calls of Choose can return. When a step has ended, drew is
// what it chose. After a moment, which may have the units of a real clock, of many values only the least and the greatest are tried.
func (c *Checker) choices(key StepKey, step func(drew *[]trace.Draw)) {
	const few = 16
	var drew []trace.Draw
	next := 0
	c.Values.Choices(func(n uint32) uint32 {
		switch {
		case n < 1:
			panic(process.ErrNoChoice)
		case n > mostValues && c.Options.Moment == nil:
			c.surrender(key, fmt.Sprintf("chooses one of %d values; the checker tries each of at most %d", n, mostValues))
		case next == mostDraws:
			c.surrender(key, fmt.Sprintf("chooses more than %d times; the checker tries every value of at most so many choices a step", mostDraws))
		}
		if c.Random = true; next == len(drew) {
			drew = append(drew, trace.Draw{Among: n})
		}
		next++
		return drew[next-1].Value
	})
	for tried := 1; ; tried++ {
		if c.look(1); tried > mostOutcomes {
			c.surrender(key, fmt.Sprintf("has more than %d outcomes; the checker tries each of at most so many a step", mostOutcomes))
		}
		next = 0
		step(&drew)
		for len(drew) > 0 && drew[len(drew)-1].Value+1 == drew[len(drew)-1].Among {
			drew = drew[:len(drew)-1]
		}
		if len(drew) == 0 {
			return
		}
		if last := &drew[len(drew)-1]; c.Options.Moment != nil && last.Among > few {
			last.Value = last.Among - 1
		} else {
			last.Value++
		}
	}
}

// step runs one step of the algorithm on a copy of the state.
func (c *Checker) step(key StepKey) (o Outcome) {
	p := c.Processes.Values[key.Process]
	event, body := c.event(key, &p)
	breach := func(property, how string) *Breach {
		return &Breach{property, c.Values.Breach(int(p.Position), event, body, how), how}
	}
	defer func() {
		r := recover()
		if _, is := r.(Halt); is {
			panic(r)
		}
		if r != nil {
			o = Outcome{Process: key.Process, Breach: breach(process.Blame(r))}
		}
	}()
	state, posts, effects, spoilt := c.Values.Step(p.State, int(p.Position), event, body)
	p.State = state
	o = Outcome{Effects: slices.Clone(effects)}
	var sum Cost
	if key.Event == Receives {
		sum.Marks = Arrives
	}
	wrong := cmp.Or(spoilt, c.sends(&p, posts, &o, &sum))
	if wrong == nil {
		o.Breach, wrong = c.apply(&p, &o, &sum)
	}
	if wrong != nil {
		o = Outcome{Breach: breach(BrokeContract, wrong.Error())} // its effects may use undeclared kinds or timers
	}
	o.Cost = c.CostNumber(sum)
	o.Process = c.Processes.Number(&p, election.Ticks{})
	return o
}

// whats are the events in which the algorithm makes a step, as package process names them.
var whats = [...]process.What{process.Started, process.Received, process.Expired, process.Recovered, process.Suspected, process.Trusted, process.Commanded}

// event returns the event of a step, and the contents of the message that it receives.
func (c *Checker) event(key StepKey, p *ProcessState) (e process.Event, body process.Body) {
	e.What = whats[key.Event]
	switch key.Event {
	case Starts:
		p.Start = NeverStarts
	case Receives:
		m := c.Messages.Values[key.Message]
		e.Port, e.Kind = election.Port(key.At), m.Kind
		return e, m.Body
	case TimesOut:
		e.Timer = election.Timer(key.At)
		p.stop(e.Timer)
	case Suspects:
		p.Suspects &^= 1 << key.At
		p.Suspected |= 1 << key.At
		e.Port = election.Port(key.At)
	case Trusts:
		e.Port = election.Port(key.At)
	case Obeys:
		c.Values.Commands(c.Commands[key.At])
		switch {
		case key.At == stopped:
			p.Stopping = false
			if p.Decision.Role != network.Leader {
				p.Lease = election.Deadline{}
			}
			c.saw(sawStop)
		case key.At >= proofs:
			told := death{c.Commands[key.At].Member, c.Commands[key.At].Number}
			p.Proofs = slices.DeleteFunc(slices.Clone(p.Proofs), func(d death) bool { return d == told })
		}
	}
	return e, 0
}

func (p *ProcessState) stop(t election.Timer) {
	p.Running &^= 1 << t
	p.Anchored &^= 1 << t
	p.Timers[t] = election.Deadline{}
}

// CostNumber returns the number of a cost.
func (c *Checker) CostNumber(sum Cost) uint16 {
	number, found := c.numbers[sum]
	if !found {
		if len(c.Costs) > math.MaxUint16 {
			panic("verify: more than 65536 different costs of transitions")
		}
		number = uint16(len(c.Costs))
		c.numbers[sum], c.Costs = number, append(c.Costs, sum)
	}
	return number
}

// sends takes over the messages of a step, and counts them. An error is a breach of the contract.
func (c *Checker) sends(p *ProcessState, posts []process.Post, o *Outcome, sum *Cost) error {
	first := c.Network.Network.First(int(p.Position))
	c.look(len(posts))
	for _, s := range posts {
		port, kind := s.On-first, s.Kind
		switch {
		case int(kind) >= len(c.Declaration.Kinds):
			return fmt.Errorf("sends a message of kind %d; %d are declared", kind, len(c.Declaration.Kinds))
		case int(port) >= len(c.Into[p.Position]):
			return fmt.Errorf("sends on port %d; its ports are 0 to %d", port, len(c.Into[p.Position])-1)
		case c.Declaration.OneWay && port != 0:
			return fmt.Errorf("sends on port %d, and is declared to send on port 0 only", port)
		}
		switch c.Declaration.Kinds[kind].Class {
		case election.Election:
			sum.Election++
		case election.Announcement:
			sum.Announcement++
		}
		o.Sent = append(o.Sent, sent{election.Port(port), c.Messages.Number(&message{kind, s.Body}, election.Ticks{})})
	}
	return nil
}

// apply applies changes of timers, and then the decision. An error is a breach of the contract.
func (c *Checker) apply(p *ProcessState, o *Outcome, sum *Cost) (*Breach, error) {
	lease := p.Lease
	for i := range o.Effects {
		e := &o.Effects[i]
		switch e.Op {
		case election.SetTimer, election.StopTimer:
			if int(e.Timer) >= len(c.Declaration.Timers) {
				return nil, fmt.Errorf("uses timer %d; %d are declared", e.Timer, len(c.Declaration.Timers))
			}
			p.stop(e.Timer)
			if e.Op == election.SetTimer && e.Ticks != election.Forever {
				p.Running |= 1 << e.Timer
				p.Timers[e.Timer] = election.DeadlineIn(e.Ticks, election.Ticks{})
				if e.Deadline && c.Options.Lazy {
					p.Anchored |= 1 << e.Timer
				}
			}
			continue
		case election.StopWork:
			p.Stopping = true
			continue
		}
		o.decides = true
		p.Lease = election.Deadline{}
		if e.Op == election.Lead && e.Deadline {
			p.Lease = election.DeadlineIn(e.Ticks, election.Ticks{})
		}
		before := p.Decision
		err := p.Decision.Apply(c.Declaration.Task, *e, c.Network.ID(int(p.Position)))
		if p.Decision != before {
			if sum.Marks |= Decides; p.Decision.Role == network.Leader {
				sum.Marks |= Elects
			}
		}
		detail := func(known error) string { // the text of the property has that of a known error
			return c.Network.Name(int(p.Position)) + strings.TrimPrefix(err.Error(), known.Error())
		}
		switch {
		case errors.Is(err, network.ErrIrrevocable):
			return &Breach{Property: Irrevocable, Detail: detail(network.ErrIrrevocable)}, nil
		case err != nil:
			return &Breach{Property: WrongTerm, Detail: detail(network.ErrTerm)}, nil
		case c.Declaration.Leased && e.Op == election.Lead && !e.Deadline:
			return nil, errors.New("leads without a lease, and is declared to lead by LeadUntil only")
		}
	}
	if p.Stopping && p.Decision.Role != network.Leader { // its work counts until it has stopped
		p.Lease = lease
	}
	return nil, nil
}
