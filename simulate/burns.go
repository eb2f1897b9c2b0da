package simulate

import (
	"errors"
	"fmt"
	"math/bits"
	"reflect"
	"slices"

	"ringleader.example/ringleader/election"
	"ringleader.example/ringleader/internal/core/process"
	"ringleader.example/ringleader/network"
	"ringleader.example/ringleader/simulate/internal/queues"
	"ringleader.example/ringleader/trace"
)

// Open is the part of a run under Burns' adversary before the last edge is opened.
type Open struct {
	Messages uint64  // deliveries while nothing is delivered over one edge, in either direction
	Claim    float64 // Burns' bound on them if every process learns the leader: (n lg n)/4 + 1/2
}

// runBurns runs an election on a ring of 2^k processes under the adversary of Burns' lower bound, against an
// algorithm whose processes do not know n.
//
// Burns, A formal model for message passing systems, 1980. A ring is open if nothing has been delivered over one of
// its edges. Two open rings become one of twice the size, and none of their processes can notice: the messages that
// waited at the edge of each now wait at one of the two edges between them. If both edges were opened, every process
// of one half would have to hear of the other. So opening the better one costs at least a quarter of n; the other
// edge stays closed, and the ring open.
//
// The adversary therefore decides the positions of processes. The result and its record are about the ring that it
// made of the given one, and [Result.Open] is the cost when the last edge is opened. Limit bounds the search for the
// schedule and the run itself, each for itself.
func (g *Runner) runBurns(o Options) (*Result, error) {
	unrecorded := o
	unrecorded.Record, unrecorded.Check = false, o.Check || o.Record
	search, err := g.newBurns(unrecorded)
	if err != nil {
		return nil, err
	}
	if err := search.refuse(); err != nil {
		return nil, err
	}
	all := make([]int, search.Instance.Size())
	for p := range all {
		all[p] = p
	}
	found, broken := search.find(all)

	o.Setup = arranged(o.Setup, found.ring)
	play, err := g.newBurns(o)
	if err != nil {
		return nil, err
	}
	if play.Record != nil {
		play.Record.Header.Schedule, play.Record.Header.Clock = "burns", false
	}
	play.result.Complete = search.result.Complete
	play.attempt(func() { play.play(found) })
	if broken != nil { // but the repetition was fine: steps depend on more than their arguments
		panic(broken)
	}
	return play.finish(), nil
}

// burns is a run of the adversary: first one that searches for a schedule and is not counted, then one that plays the
// schedule found.
type burns struct {
	*run
	free []int // slots that hold no state
	at   *open // the ring whose messages are delivered
	shut int   // its closed edge
}

func (g *Runner) newBurns(o Options) (*burns, error) {
	r, err := g.newRun(o)
	if err != nil {
		return nil, err
	}
	r.processes()
	r.Processes.Choices(func(uint32) uint32 {
		panic(fmt.Errorf("%w under Burns' adversary: it chooses by chance, and the adversary tries what happens; use another schedule", ErrOptions))
	})
	return &burns{run: r}, nil
}

// keep copies the state in a slot to another slot.
func (b *burns) keep(slot int) (copied int) {
	last := len(b.free) - 1
	if last < 0 {
		copied = b.Processes.Grow(1)
	} else {
		copied, b.free = b.free[last], b.free[:last]
	}
	b.Processes.Copy(copied, slot)
	return copied
}

// refuse returns the reason why the adversary cannot run on an algorithm or a ring.
func (b *burns) refuse() error {
	wrong := func(format string, args ...any) error {
		return fmt.Errorf("%w %s under Burns' adversary: %s", ErrOptions, b.Declaration.Name, fmt.Sprintf(format, args...))
	}
	n, all := b.Instance.Size(), b.o.Initiators == nil || len(b.o.Initiators) == b.Instance.Size()
	switch {
	case b.Declaration.Topology != election.Ring:
		return wrong("it runs on a %s and the adversary on rings; use another schedule", b.Declaration.Topology.Phrase(0))
	case b.Declaration.KnowsSize:
		return wrong("it knows n, and the adversary makes large rings of small ones unnoticed; use another schedule")
	case b.Instance.Anonymous() || b.o.Setup.Duplicates:
		return wrong("all processes need different identifiers, as they have where duplicates are not allowed")
	case b.o.Timing != election.Asynchronous:
		return wrong("the run is %s, and the adversary's are asynchronous; use no schedule", b.o.Timing)
	case b.o.Faults.Unordered:
		return wrong("links keep the order of messages; schedules lifo and random can do without")
	case b.o.AnyTime || !all || len(b.o.Faults.Dead) > 0:
		return wrong("the adversary starts all processes first; leave out times of starts, and dead processes")
	case n == 1 || n&(n-1) != 0:
		below := max(2, 1<<(bits.Len(uint(n))-1))
		return wrong("the adversary doubles rings of 2, and never comes to a ring of %d; %d or %d would do", n, below, 2*below)
	}
	return nil
}

// find finds an open schedule of the ring. If a step breaks the contract meanwhile, it returns the schedule up to that
// step, which play repeats with a record, and the violation.
func (b *burns) find(all []int) (found *open, broken *Violation) {
	defer func() {
		fault := recover()
		if err, _ := fault.(error); !errors.As(err, &broken) {
			if fault != nil {
				panic(fault)
			}
			return
		}
		found = &open{ring: all}
		if b.at != nil {
			rest := slices.DeleteFunc(slices.Clone(all), func(p int) bool { return slices.Contains(b.at.ring, p) })
			found = b.at.turn((b.shut + 1) % len(b.at.ring))
			found.ring = append(found.ring, rest...)
		}
	}()
	b.attempt(func() { found = b.build(all) })
	return found, nil
}

// open is a configuration of a ring, or of a part of one that behaves as a ring: its last edge joins the last process
// to the first.
type open struct {
	ring     []int // positions of the run, clockwise
	states   []int // slots, by place in ring
	queues   [][]underway
	schedule []uint32 // the deliveries, in order: the links of the run
}

// The queue of the process at place i and its port is queues[2i+port]: it stays with the process, for any neighbour
// at the other end.

// join makes one ring of several. Queues do not move: the last one in each ring is between two rings now.
func join(rings ...*open) *open {
	all := &open{}
	for _, c := range rings {
		all.ring = append(all.ring, c.ring...)
		all.states = append(all.states, c.states...)
		all.queues = append(all.queues, c.queues...)
		all.schedule = append(all.schedule, c.schedule...)
	}
	return all
}

// underway is a message in transit.
type underway struct {
	queues.Letter
	number int // in the record
}

// clone returns a deep copy.
func (b *burns) clone(c *open) *open {
	copied := join(c)
	for i, slot := range copied.states {
		copied.states[i] = b.keep(slot)
	}
	for link := range copied.queues {
		copied.queues[link] = slices.Clone(copied.queues[link])
		for _, m := range copied.queues[link] {
			b.Processes.Hold(m.Message)
		}
	}
	return copied
}

// drop releases the slots of a configuration.
func (b *burns) drop(c *open) {
	b.free = append(b.free, c.states...)
	for _, queue := range c.queues {
		for _, m := range queue {
			b.Processes.Release(m.Message)
		}
	}
}

// turn rotates the ring so that the given place comes first.
func (c *open) turn(first int) *open {
	return &open{
		ring:     slices.Concat(c.ring[first:], c.ring[:first]),
		states:   slices.Concat(c.states[first:], c.states[:first]),
		queues:   slices.Concat(c.queues[2*first:], c.queues[:2*first]),
		schedule: c.schedule,
	}
}

// build finds an open schedule of a ring of 2^k of the run's processes. A ring of one that has started, with its only
// edge closed, is open; two of them have Burns' basis between them.
func (b *burns) build(ring []int) *open {
	if len(ring) == 1 {
		return b.started(ring[0])
	}
	half := len(ring) / 2
	between := join(b.build(ring[:half]), b.build(ring[half:]))
	ends := b.clone(between)
	b.settle(between, len(ring)-1) // the edge between the halves is opened
	b.settle(ends, half-1)         // the edge between the ends is opened
	// The bound holds for any choice among equals; the counts in the tests were made with this one.
	if more := len(ends.schedule) - len(between.schedule); more > 0 || more == 0 && half == 1 {
		b.drop(between)
		return ends.turn(half)
	}
	b.drop(ends)
	return between
}

// started returns a ring of one process, which has started.
func (b *burns) started(p int) *open {
	b.at = nil
	c := &open{ring: []int{p}, states: []int{b.keep(p)}, queues: make([][]underway, 2)}
	b.react(c, 0, process.Event{What: process.Started}, trace.Step{Event: trace.Start, Port: -1})
	return c
}

// play plays a schedule and then opens the last edge. Processes of different parts cannot tell which of them started
// first, so that all may start first.
func (b *burns) play(found *open) {
	n := b.Instance.Size()
	rings := make([]*open, n)
	for p := range rings {
		rings[p] = b.started(p)
	}
	c := join(rings...)
	place := make([]int, n)
	for i, p := range found.ring {
		place[p] = i
	}
	for _, link := range found.schedule {
		if !b.result.Complete || !b.MayContinue() {
			break
		}
		b.deliver(c, 2*place[link/2]+int(link&1))
	}
	if b.result.Complete {
		b.result.Open = &Open{b.Deliveries, float64(n*(bits.Len(uint(n))-1))/4 + 0.5}
	}
	b.result.Bytes += 4*cap(found.schedule) + int(reflect.TypeFor[[]underway]().Size())*cap(c.queues)
	const none = -1
	b.settle(c, none)
}

// settle delivers the oldest message repeatedly, except over the closed edge, until no message is left to deliver.
func (b *burns) settle(c *open, shut int) {
	b.at, b.shut = c, shut
	var ready []int // queues, once for each message that can be delivered
	for link := range c.queues {
		if edge, _ := b.edge(c, link); edge != shut {
			for range c.queues[link] {
				ready = append(ready, link)
			}
		}
	}
	for ; len(ready) > 0 && b.result.Complete && b.MayContinue(); ready = ready[1:] {
		to := b.deliver(c, ready[0])
		for i := range b.Effects.Sent {
			link := 2*to + int(b.Effects.Sent[i].On()&1)
			if edge, _ := b.edge(c, link); edge != shut {
				ready = append(ready, link)
			}
		}
	}
}

// edge returns the edge of a queue, and whether the queue leads clockwise. Edge i joins the processes at places i and
// i + 1, the last edge the ends.
func (b *burns) edge(c *open, link int) (edge int, clockwise bool) {
	i := link / 2
	if clockwise = link&1 == 0 != b.Network.Flipped(c.ring[i]); clockwise {
		return i, true
	}
	return (i + len(c.ring) - 1) % len(c.ring), false
}

// deliver delivers the oldest message of a queue, and returns the place.
func (b *burns) deliver(c *open, link int) (to int) {
	from := c.ring[link/2]
	edge, clockwise := b.edge(c, link)
	to = edge
	if clockwise {
		to = (edge + 1) % len(c.ring)
	}
	var port election.Port
	if clockwise != b.Network.Flipped(c.ring[to]) {
		port = 1
	}
	m := c.queues[link][0]
	c.queues[link] = c.queues[link][1:]
	c.schedule = append(c.schedule, uint32(2*from+link&1))
	b.Deliveries++
	b.react(c, to, process.Event{What: process.Received, Port: port, Kind: m.Kind(), Message: m.Message},
		trace.Step{Event: trace.Receive, Port: int(port), Message: m.number})
	b.Processes.Release(m.Message)
	return to
}

// react runs a step of the process at place i, in the slot of its position, and applies its effects.
func (b *burns) react(c *open, i int, e process.Event, what trace.Step) {
	p := c.ring[i]
	b.Processes.Copy(p, c.states[i])
	b.Delivers(what.Message)
	b.Happens(p, e)
	b.Check(p)
	b.Note(p, what)
	b.Processes.Copy(c.states[i], p)
	for k := range b.Effects.Sent {
		s := &b.Effects.Sent[k]
		link := 2*i + int(s.On()&1)
		c.queues[link] = append(c.queues[link], underway{queues.Letter{Link: s.Link, Message: s.Message}, b.Number(k)})
		b.Count(s)
	}
	for _, e := range b.Effects.Other {
		b.Decide(p, e)
	}
}

// arranged returns a setup with the process at place i of ring at position i.
func arranged(i network.Setup, ring []int) network.Setup {
	ids := make(election.List, len(ring))
	flipped := i.Flipped
	if flipped != nil {
		flipped = make([]bool, len(ring))
	}
	var unwilling []int
	var votes []uint64
	for at, p := range ring {
		ids[at] = i.IDs.At(p)
		if flipped != nil {
			flipped[at] = i.Flipped[p]
		}
		if slices.Contains(i.Unwilling, p) {
			unwilling = append(unwilling, at)
		}
		if i.Votes != nil {
			votes = append(votes, i.Votes[p])
		}
	}
	i.IDs, i.Flipped, i.Unwilling, i.Votes = ids, flipped, unwilling, votes
	return i
}
