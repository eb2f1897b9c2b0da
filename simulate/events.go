package simulate

import (
	"reflect"

	"ringleader.example/ringleader/outcome"

	"ringleader.example/ringleader/election"
	"ringleader.example/ringleader/internal/core/process"
	"ringleader.example/ringleader/internal/core/random"
	"ringleader.example/ringleader/simulate/internal/queues"
	"ringleader.example/ringleader/simulate/internal/steps"
	"ringleader.example/ringleader/trace"
)

// what is a kind of event.
type what uint8

const (
	crash what = iota
	recovery
	command
	stopped // the host has stopped the work of a leader
	suspicion
	unheard // a suspicion if the process still cannot be heard
	trust
	arrival
	start
	timeout
	fault // a cut, slow process, crash amid a step or suspicion begins
	heal  // … and ends
	end   // of the run
)

// event is a scheduled event.
type event struct {
	at      election.Ticks
	order   uint64 // among those of one moment: the class, then the sequence of creation
	process uint32
	other   uint32 // suspicion, trust: the link to the process; timeout: the timer; arrival: the message; fault, heal, command: which one
	life    uint32 // timeout: of the timer; suspicion: of the other process; stopped: of the process; stale after a change
	what    what
	ill     faultKind // fault, heal
}

func (e *event) before(f *event) bool {
	if e.at != f.at {
		return e.at.Less(f.at)
	}
	return e.order < f.order
}

// clocked runs events in the order of their times: synchronous and timed runs, and the schedules that have
// a clock. Idle time is skipped.
type clocked struct {
	*run
	queue    []event // a 4-ary heap
	sequence uint64
	wheel    *queues.Wheel    // holds messages; nil: they are in messages, and their arrivals in the queue
	messages []queues.Posted  // by slot
	free     []uint32         // slots that are not in use
	least    uint64           // the shortest delay
	spread   uint64           // the number of possible delays, from least on
	last     []election.Ticks // by link: when its latest message arrives; nil where order needs no care
	delays   *random.Source
	timers   []uint32 // by process and timer: its life; odd while it runs
	lives    []uint32 // by process: how often it crashed
	suspects []bool   // by link: the process behind it is suspected
	commands []election.Command
	currentFaults
}

func newClocked(r *run) *clocked {
	r.processes()
	timers := r.Instance.Size() * len(r.Declaration.Timers)
	c := &clocked{
		run: r, delays: random.New(r.o.Seed, random.Schedule), timers: make([]uint32, timers),
		// As if each timer were set once. Unused capacity is never touched; a queue that had to grow would leave
		// garbage of four times its size.
		queue: make([]event, 0, timers),
	}
	r.Time = &outcome.Times{}
	c.least, c.spread = 1, max(1, r.o.Delay)
	if r.o.Schedule == RandomDelay {
		c.least, c.spread = LeastDelay, LongestDelay-LeastDelay+1
	}
	if c.longest() <= queues.MostDelay {
		c.wheel = queues.NewWheel(c.least, c.longest(), r.o.Timing == election.Synchronous && !r.Declaration.OneWay)
	}
	f := &r.o.Faults
	if c.spread > 1 && !f.Unordered || len(f.Slow) > 0 {
		c.last = make([]election.Ticks, r.Network.Links())
	}
	if len(f.Crashes)+len(f.Recoveries) > 0 {
		c.lives = make([]uint32, r.Instance.Size())
	}
	if r.Functions.Suspect && len(f.Dead)+len(f.Crashes)+len(f.Suspicions)+len(f.Cuts) > 0 {
		c.suspects = make([]bool, r.Network.Links())
	}
	c.makeRoom(f, r.Instance.Size())
	return c
}

// longest is the longest delay.
func (c *clocked) longest() uint64 { return c.least + c.spread - 1 }

// classes is the number of bits of an order that are the sequence.
const classes = 40

// class orders the events of one moment. Synchronous: messages by port, starts, then timers, as in S5's loop. Timed:
// timers first, the harder case for an algorithm that waits just long enough. Fifo: in order of creation. Faults come
// first and suspicions last, after every message of a crashed process.
func (c *clocked) class(w what, port election.Port) uint64 {
	const first, last = 0, 1 << 20
	switch {
	case w == crash || w == recovery || w == fault || w == heal:
		return first
	case w == suspicion || w == unheard || w == trust:
		return last
	case w == end:
		return last + 1
	case c.o.Timing == election.Synchronous && w == arrival:
		return 1 + uint64(port)
	case c.o.Timing == election.Synchronous && w == start:
		return last - 2
	case c.o.Timing == election.Synchronous && w == timeout:
		return last - 1
	case c.o.Timing == election.Timed && w == timeout:
		return first + 1
	}
	return first + 2
}

func (c *clocked) schedule(e event, port election.Port) {
	c.sequence++
	e.order = c.class(e.what, port)<<classes | c.sequence
	c.queue = append(c.queue, e)
	i := len(c.queue) - 1
	for i > 0 {
		parent := (i - 1) / 4
		if !e.before(&c.queue[parent]) {
			break
		}
		c.queue[i] = c.queue[parent]
		i = parent
	}
	c.queue[i] = e
}

func (c *clocked) next() event {
	top, end := c.queue[0], len(c.queue)-1
	e := c.queue[end]
	c.queue = c.queue[:end]
	i := 0
	for {
		least := 4*i + 1
		if least >= end {
			break
		}
		for k := least + 1; k < min(4*i+5, end); k++ {
			if c.queue[k].before(&c.queue[least]) {
				least = k
			}
		}
		if !c.queue[least].before(&e) {
			break
		}
		c.queue[i] = c.queue[least]
		i = least
	}
	if end > 0 {
		c.queue[i] = e
	}
	return top
}

func (c *clocked) play() {
	c.scheduleFaults()
	for p := range c.initiators {
		if c.o.AnyTime {
			c.schedule(event{at: election.Units(c.delays.Below(c.latestStart() + 1)), what: start, process: uint32(p)}, 0)
			continue
		}
		if c.o.Wake != nil && !c.o.Wake[p].IsZero() {
			c.schedule(event{at: c.o.Wake[p], what: start, process: uint32(p)}, 0)
			continue
		}
		c.happen(&event{what: start, process: uint32(p)})
	}
	if at := c.end(); !at.IsZero() {
		c.schedule(event{at: at, what: end}, 0)
	}
	for c.result.Complete {
		if w := c.wheel; w != nil && len(c.queue) == 0 && w.Ready() || c.message() {
			if c.MayContinue() {
				var m *queues.Posted
				c.Now, m = c.wheel.Take()
				c.arrive(m)
			}
			continue
		}
		if len(c.queue) == 0 {
			c.beyond = c.timersRun()
			break
		}
		e := c.next()
		if e.what == end {
			c.Now = e.at
			break
		}
		if c.current(&e) && c.MayContinue() {
			c.Now = e.at
			c.happen(&e)
		}
	}
	for p := range c.armed {
		c.calledOff(p)
	}
	size := int(reflect.TypeFor[queues.Posted]().Size())
	c.result.Bytes += cap(c.queue)*int(reflect.TypeFor[event]().Size()) + 4*len(c.timers) + cap(c.messages)*size + 4*cap(c.free) + 16*len(c.last)
	if c.wheel != nil {
		c.result.Bytes += c.wheel.Bytes(size)
	}
}

// end returns when the run ends unless it is quiescent before: by the options, or when a service that is never
// quiescent must have settled. 0: at quiescence.
func (c *clocked) end() election.Ticks {
	if !c.o.Until.IsZero() || c.Declaration.Settles == nil {
		return c.o.Until
	}
	last := c.o.Faults.Last()
	if c.o.AnyTime {
		last = outcome.Later(last, election.Units(c.latestStart()))
	}
	for i := range c.o.Commands {
		last = outcome.Later(last, c.o.Commands[i].At)
	}
	return last.Add(c.Declaration.Settles(uint64(c.Instance.Size()), c.Instance.Parameters))
}

// latestStart returns a time by which all processes have started, if the schedule picks the times.
func (c *clocked) latestStart() uint64 { return uint64(c.Instance.Size()) * c.longest() }

// message reports whether the next event is a message of the wheel, and not one of the queue.
func (c *clocked) message() bool {
	if c.wheel == nil {
		return false
	}
	if !c.wheel.Waiting() {
		return false
	}
	if len(c.queue) == 0 {
		c.wheel.Next()
		return true
	}
	e := &c.queue[0]
	if e.at.Less(c.wheel.Soonest()) {
		return false
	}
	c.wheel.Next()
	if at := c.wheel.Soonest(); e.at != at {
		return at.Less(e.at)
	}
	return e.order>>classes > c.class(arrival, c.wheel.Head()) // within one class, events of the queue are older
}

// current reports whether an event is not stale: its timer still runs, its suspect has not recovered.
func (c *clocked) current(e *event) bool {
	switch e.what {
	case timeout:
		return c.timers[int(e.process)*len(c.Declaration.Timers)+int(e.other)] == e.life
	case suspicion, unheard:
		q, back := c.Network.End(e.other)
		return c.life(q) == e.life && (e.what == suspicion || c.Severed[c.Network.Back(q, back)] > 0)
	case stopped:
		return c.life(int(e.process)) == e.life
	}
	return true
}

func (c *clocked) happen(e *event) {
	p := int(e.process)
	if c.waits(p) && e.what != arrival && e.what != crash && e.what != fault && e.what != heal {
		c.hold(*e)
		return
	}
	switch e.what {
	case arrival:
		m := c.messages[e.other]
		c.free = append(c.free, e.other)
		c.arrive(&m)
	case start:
		if !c.IsDead(p) {
			c.react(p, process.Event{What: process.Started}, trace.Step{Event: trace.Start, Port: -1})
		}
	case timeout:
		c.timers[p*len(c.Declaration.Timers)+int(e.other)]++ // it no longer runs
		timer := election.Timer(e.other)
		c.react(p, process.Event{What: process.Expired, Timer: timer}, trace.Step{Event: trace.Timeout, Port: -1, Text: c.Declaration.Timers[timer]})
	case command:
		c.obey(p, c.commands[e.other])
	case stopped:
		c.Stops(p, false)
		c.obey(p, election.Command{Order: election.Stopped})
	case crash:
		c.crash(p, "")
	case recovery:
		c.recover(p)
	case suspicion, unheard, trust:
		c.detect(e.other, e.what != trust)
	case fault:
		c.begins(e.ill, int(e.other))
	case heal:
		c.ends(e.ill, int(e.other))
	}
}

// arrive brings a message to its process.
func (c *clocked) arrive(m *queues.Posted) {
	if c.Severed != nil && !m.Lost && c.Severed[m.On()] > 0 {
		m.Lost = true
		c.result.Lost++
	}
	p, port := c.Network.End(m.On())
	if !m.Lost && c.waits(p) {
		c.hold(event{what: arrival, process: uint32(p), other: c.keep(m)})
		return
	}
	c.receive(p, port, m)
}

// receive hands a message to the process at p.
func (c *clocked) receive(p int, port election.Port, m *queues.Posted) {
	if !m.Lost {
		c.Deliveries++
		c.Time.Quiet = c.Now
		if len(c.mistaken) > 0 {
			c.hears(p, port)
		}
	}
	if m.Lost || c.IsDead(p) {
		c.Note(p, trace.Step{Event: trace.Lost, Port: -1, Message: int(m.Number)})
		c.Processes.Release(m.Message)
		return
	}
	message, number := m.Message, int(m.Number) // what is sent may take the place where m lies
	c.Delivers(number)
	c.Receives(p, port, m.Kind(), message)
	c.after(p)
	if c.Record != nil {
		c.Note(p, trace.Step{Event: trace.Receive, Port: int(port), Message: number})
	}
	c.effects(p)
	c.Processes.Release(message)
}

// react runs any other step of the process at p.
func (c *clocked) react(p int, e process.Event, what trace.Step) {
	c.Happens(p, e)
	c.after(p)
	c.Note(p, what)
	c.effects(p)
}

// after checks and applies what a step has done.
func (c *clocked) after(p int) {
	c.Check(p)
	c.Unsent = c.amid(p)
	c.Draw()
}

// effects applies the effects of a step.
func (c *clocked) effects(p int) {
	leaving := c.Leaving()
	for i := range leaving {
		c.send(&leaving[i], i)
	}
	if c.Unsent > 0 {
		for _, s := range c.Effects.Sent[len(leaving):] {
			c.Processes.Release(s.Message)
		}
		text := trace.Amid(len(leaving), len(leaving)+c.Unsent)
		c.Unsent, c.armed[p] = 0, 0
		c.crash(p, text)
		return
	}
	other := c.Effects.Other
	for i := range other {
		e := &other[i]
		switch e.Op {
		case election.SetTimer:
			t := int(e.Timer)
			c.stop(p, t)
			life := &c.timers[p*len(c.Declaration.Timers)+t]
			*life++ // odd: it runs
			if at, ok := c.expiry(p, e.Ticks); ok {
				c.schedule(event{at: at, what: timeout, process: uint32(p), other: uint32(t), life: *life}, 0)
			}
		case election.StopTimer:
			c.stop(p, int(e.Timer))
		case election.StopWork:
			c.stopWork(p)
		default:
			c.Decide(p, *e)
		}
	}
	c.Settle(p)
}

// expiry returns when a timer of the process at p expires that is set now. false: never, or too late for any time;
// then the timer runs without an event.
func (c *clocked) expiry(p int, wait election.Ticks) (election.Ticks, bool) {
	if wait == election.Forever {
		return wait, false
	}
	if c.Drifts != nil && c.Drifts[p] != nil {
		wait = c.Drifts[p].Real(wait)
	}
	if election.Forever.Sub(c.Now).Less(wait) {
		return wait, false
	}
	return c.Now.Add(wait), true
}

// timersRun reports whether a process that is not paused has a running timer.
func (c *clocked) timersRun() bool {
	for i, life := range c.timers {
		if life&1 == 1 && !c.waits(i/len(c.Declaration.Timers)) {
			return true
		}
	}
	return false
}

// stop stops a timer: a scheduled expiry is stale from now on.
func (c *clocked) stop(p, timer int) {
	life := &c.timers[p*len(c.Declaration.Timers)+timer]
	*life += *life & 1
}

// send sends a message, or two copies.
func (c *clocked) send(s *process.Sent, i int) {
	c.Count(s)
	m := queues.Posted{Letter: queues.Letter{Link: s.Link, Message: s.Message}, Number: uint32(c.Number(i))}
	switch c.Fate(i) {
	case steps.Lost:
		m.Lost = true
	case steps.Twice:
		c.Processes.Hold(s.Message)
		c.post(&m)
	}
	c.post(&m)
}

// post determines when a message arrives.
func (c *clocked) post(m *queues.Posted) {
	delay := election.Units(c.least)
	if c.spread > 1 {
		delay = election.Units(c.least + c.delays.Below(c.spread))
	}
	if c.factors != nil {
		delay = delay.Times(c.factors[c.Network.Owner(m.On())])
	}
	at := c.Now.Add(delay)
	if c.last != nil {
		switch last := &c.last[m.On()]; {
		case last.Less(at):
			*last = at
		case !c.o.Faults.Unordered:
			at = *last
		}
	}
	if c.wheel != nil && (c.factors == nil || !c.Now.Add(election.Units(c.longest())).Less(at)) {
		if c.o.Timing == election.Synchronous {
			_, m.Port = c.Network.End(m.On())
		}
		c.wheel.Add(c.Now, at, m)
		return
	}
	to, port := c.Network.End(m.On())
	c.schedule(event{at: at, what: arrival, process: uint32(to), other: c.keep(m)}, port)
}

// keep puts a message into a slot.
func (c *clocked) keep(m *queues.Posted) (slot uint32) {
	slot = uint32(len(c.messages))
	if free := len(c.free); free > 0 {
		slot = c.free[free-1]
		c.free = c.free[:free-1]
	} else {
		c.messages = append(c.messages, queues.Posted{})
	}
	c.messages[slot] = *m
	return slot
}
