// Package process holds the processes of an election with the types of their algorithm hidden, so that an engine
// is compiled once and not once for each algorithm.
//
// [Processes] work in place: states are in slots and messages have references. An engine that runs an election steps
// them directly. Two views use them: [Values] numbers states and messages, for engines that store and
// compare them, and [Machine] exchanges them as bytes, for engines on sockets.
package process

import (
	"crypto/sha256"
	"errors"
	"fmt"

	"ringleader.example/ringleader/election"
	"ringleader.example/ringleader/internal/core/codec"
	"ringleader.example/ringleader/network"
)

// Program is an algorithm with hidden types.
type Program struct {
	*election.Declaration
	Functions election.Functions // the optional functions that it has
	Plans     codec.Plans
	store     func(*pool) store

	rehearsals rehearsals
}

// Of hides the types of an algorithm. It returns the error of [election.Algorithm.Validate], or one that names the type that is
// not plain.
func Of[S, M any](a *election.Algorithm[S, M]) (*Program, error) {
	if err := a.Validate(); err != nil {
		return nil, err
	}
	plans, err := codec.ForAlgorithm(a)
	if err != nil {
		return nil, err
	}
	return &Program{
		Declaration: bounded(&a.Declaration), Functions: a.Functions(), Plans: plans, store: func(p *pool) store { return &typed[S, M]{a: a, pool: p} },
	}, nil
}

// Must returns the program of an algorithm that is known to be valid.
func Must(program *Program, err error) *Program {
	if err != nil {
		panic(err)
	}
	return program
}

// Declared returns what the algorithm declares.
func (p *Program) Declared() *election.Declaration { return p.Declaration }

// Hidden returns the program itself, also where another type embeds it.
func (p *Program) Hidden() *Program { return p }

// Opened returns the program in a public one. It panics if that is of another module.
func Opened(public interface{ Declared() *election.Declaration }) *Program {
	ours, is := public.(interface{ Hidden() *Program })
	if !is {
		panic(fmt.Sprintf("process: a program of type %T, which package program has not made", public))
	}
	return ours.Hidden()
}

// Event is an event at a process.
type Event struct {
	What    What
	Port    election.Port  // Received, Suspected, Trusted
	Kind    election.Kind  // Received
	Timer   election.Timer // Expired
	Message Message        // Received
}

// What is a kind of event.
type What uint8

// The events, as package election names them.
const (
	Started What = iota
	Recovered
	Received
	Expired
	Suspected
	Trusted
	Commanded // with what [Processes.Commands] was given last
)

// Message is a held message: the value of a small one, a reference to any other.
type Message struct{ words codec.Words }

// Sent is a message that a step sends. The engine holds it once.
type Sent struct {
	Link    uint32 // as in [election.Sent]: the directed link << 4, and the kind
	Phase   int32  // -1 without phases, or if it is no election message
	Message Message
}

// On returns the directed link on which the message leaves.
func (s *Sent) On() uint32 { return s.Link >> 4 }

// Kind returns the kind of the message.
func (s *Sent) Kind() election.Kind { return election.Kind(s.Link & 15) }

// Effects are the effects of a step; valid until the next step.
type Effects struct {
	First uint32 // link of the process
	Sent  []Sent
	Other []election.Effect
}

// ErrBroken reports that an algorithm broke the contract, and how.
var ErrBroken = errors.New(BrokeContract)

// Processes are the processes of one network. A state lies in a slot; the process at position p is born into slot p.
type Processes struct {
	Program *Program
	network *network.Instance
	store   store
	pool    pool
	slots   int
	checker checker
	command election.Command // of the next event Commanded
}

// pool holds what processes share with their store: the time of the next step, the effects of the last one, and the
// references in use.
type pool struct {
	now     election.Ticks
	effects Effects
	phases  uint16 // kinds with phases: bit by kind
	small   bool   // messages are stored inline, without references

	made  uint32   // references: 0 … made - 1
	free  []uint32 // unused references; the last released one is used next, while it is in the cache
	again []uint32 // by reference: the number of holds beyond the first; nil if there never were any
}

// pageSize is the number of messages on a page. Pages never move, so a run with many messages leaves no smaller
// copies behind.
const pageSize = 64

// store holds what depends on the types: the states by slot, and the messages by reference.
type store interface {
	grow(slots int)
	born(slot int, l election.Local)
	copy(to, from int)
	step(slot int, e Event)
	receive(slot int, port election.Port, kind election.Kind, m Message)
	choices(choose func(n uint32) uint32)
	commands(c election.Command)
	halt(message, other int)       // see [election.Collector.HaltAt]
	home() string                  // the import path of the package of the states
	function(of What) (pc uintptr) // where the function for an event begins; 0 if the algorithm has none
	stands(slot int) bool
	incarnation(slot int) uint64
	membership(slot int) election.Membership
	enlarge(slot, members int)
	kept(slot int) any
	state(slot int) codec.Pointer
	message(m Message) codec.Pointer // its address; that of a copy of a small one, valid until the next call
	blank() codec.Pointer            // the address for a message that hold then holds
	hold() Message
	double(m Message) Message // holds an equal one, which shares its lists
}

// New makes the newborn processes of a network. With phases, each step computes the phases of its election messages. With checks, each
// process is made twice, after a rehearsal.
func (p *Program) New(network *network.Instance, phases, checks bool) *Processes {
	if checks {
		p.Rehearse(network)
	}
	ps := p.empty(network, phases)
	ps.Grow(network.Size())
	if checks {
		ps.check(true)
	}
	for position := range network.Size() {
		ps.Born(position, position)
	}
	return ps
}

// empty is New without processes.
func (p *Program) empty(network *network.Instance, phases bool) *Processes {
	ps := &Processes{Program: p, network: network}
	ps.pool.small = p.Plans.Message.Fits()
	ps.store = p.store(&ps.pool)
	if phases && p.Functions.Phase {
		for k, kind := range p.Kinds {
			if kind.Class == election.Election {
				ps.pool.phases |= 1 << k
			}
		}
	}
	return ps
}

// On changes the network to another one of the same kind and size.
func (ps *Processes) On(network *network.Instance) { ps.network = network }

// Grow adds slots, and returns the first of them.
func (ps *Processes) Grow(slots int) (first int) {
	first = ps.slots
	ps.slots += slots
	ps.store.grow(ps.slots)
	return first
}

// Reborn sets the process at a position, in a slot, to its state after a crash: newborn except for its persistent state.
func (ps *Processes) Reborn(slot, position int) {
	kept := ps.Durable(slot)
	ps.Born(slot, position)
	if err := ps.Restore(slot, kept); err != nil {
		panic(fmt.Sprintf("process: what was kept does not decode: %v", err))
	}
}

// Copy copies a state from one slot to another.
func (ps *Processes) Copy(to, from int) { ps.store.copy(to, from) }

// Choices sets the source of random choices.
func (ps *Processes) Choices(choose func(n uint32) uint32) {
	ps.checker.choose = choose
	ps.store.choices(choose)
}

// Commands sets what the next event Commanded asks for. It is no part of an [Event], which every delivery copies.
func (ps *Processes) Commands(c election.Command) {
	ps.command = c
	ps.store.commands(c)
}

// CommandText returns, for people, what the last of Commands asks for.
func (ps *Processes) CommandText() string {
	c := ps.command
	member := func() uint64 { return ps.network.RealOf(c.Member) }
	switch c.Order {
	case election.Resign:
		return "resign"
	case election.Transfer:
		return fmt.Sprintf("hand over to %d", member())
	case election.Stopped:
		return "note that its work has stopped"
	case election.Died:
		return fmt.Sprintf("note that %d is dead, incarnation %d", member(), c.Number)
	case election.Weigh:
		return fmt.Sprintf("have weight %d", c.Number)
	case election.Confirm:
		return "confirm its lead"
	case election.Enlist:
		return fmt.Sprintf("let %d vote", member())
	case election.Dismiss:
		return fmt.Sprintf("let %d vote no more", member())
	}
	return fmt.Sprintf("obey order %d", c.Order)
}

// Step makes the process at a position, whose state is in a slot, do what an event asks for at that time of its own
// clock. What it receives stays held. What Step returns is valid until the next step.
func (ps *Processes) Step(slot, position int, e Event, now election.Ticks) *Effects {
	ps.begin(position, now)
	if e.What == Received {
		ps.store.receive(slot, e.Port, e.Kind, e.Message)
	} else {
		ps.store.step(slot, e)
	}
	return &ps.pool.effects
}

// Receive is Step for a received message; nearly all steps of a large run are of this kind.
func (ps *Processes) Receive(slot, position int, port election.Port, kind election.Kind, m Message, now election.Ticks) *Effects {
	ps.begin(position, now)
	ps.store.receive(slot, port, kind, m)
	return &ps.pool.effects
}

// begin sets the process and the time of the next step.
func (ps *Processes) begin(position int, now election.Ticks) {
	ps.pool.effects.First, ps.pool.now = ps.network.Network.First(position), now
}

// room returns space for the messages of a step.
func (p *pool) room(count int) []Sent {
	if cap(p.effects.Sent) < count {
		p.effects.Sent = make([]Sent, 2*count)
	}
	p.effects.Sent = p.effects.Sent[:count]
	return p.effects.Sent
}

// Hold adds a hold of a message.
func (ps *Processes) Hold(m Message) {
	p := &ps.pool
	if p.small {
		return
	}
	if missing := int(p.made) - len(p.again); missing > 0 {
		p.again = append(p.again, make([]uint32, missing)...)
	}
	p.again[m.reference()]++
}

// Release removes a hold of a message. Without holds the message is freed.
func (ps *Processes) Release(m Message) {
	if !ps.pool.small {
		ps.pool.release(m.reference())
	}
}

// reference returns the reference of a message that is not small.
func (m Message) reference() uint32 { return codec.Unpack[uint32](m.words) }

func (p *pool) release(reference uint32) {
	if int(reference) < len(p.again) && p.again[reference] > 0 {
		p.again[reference]--
		return
	}
	p.free = append(p.free, reference)
}

// grow makes pages of references, seldom and with little excess. It returns the number of pages.
func (p *pool) grow() (pages int) {
	pages = 1 + int(p.made/pageSize)/8
	first := p.made
	p.made += uint32(pages) * pageSize
	for reference := p.made; reference > first; reference-- {
		p.free = append(p.free, reference-1)
	}
	return pages
}

// take takes an unused reference. There must be one.
func (p *pool) take() (reference uint32) {
	last := len(p.free) - 1
	reference = p.free[last]
	p.free = p.free[:last]
	return reference
}

// Schema names the states and messages of the algorithm.
func (p *Program) Schema() string {
	sum := sha256.Sum256(fmt.Appendf(nil, "%s %s %s %v %v", p.Name, p.Plans.State.Schema(), p.Plans.Message.Schema(), p.Kinds, p.Timers))
	return fmt.Sprintf("%x", sum[:8])
}

// Incarnation is the number of the life of a process. The algorithm must have that function.
func (ps *Processes) Incarnation(slot int) uint64 { return ps.store.incarnation(slot) }

// Durable is the encoding of the durable state.
func (ps *Processes) Durable(slot int) []byte {
	return ps.Program.Plans.AppendDurable(nil, ps.store.kept(slot))
}

// Restore decodes the persistent state into a newborn state.
func (ps *Processes) Restore(slot int, kept []byte) error {
	return whole(ps.Program.Plans.DecodeDurable(kept, ps.store.kept(slot)))
}

// whole returns an error if bytes follow a value.
func whole(rest []byte, err error) error {
	if err == nil && len(rest) > 0 {
		return fmt.Errorf("%w: %d bytes follow it", codec.ErrDecode, len(rest))
	}
	return err
}

// AppendState encodes a state, or a part of it.
func (ps *Processes) AppendState(dst []byte, slot int, now election.Ticks, part codec.Part) []byte {
	return ps.Program.Plans.State.AppendPart(dst, ps.store.state(slot), now, part)
}

// DecodeState decodes a part of a state into a slot, with clocks at 0.
func (ps *Processes) DecodeState(encoded []byte, slot int, part codec.Part) error {
	return whole(ps.Program.Plans.State.DecodePart(encoded, ps.store.state(slot), election.Ticks{}, part))
}

// Resume gives the process at a position the state that another one had, as [Processes.Encoding] has it, but for constants: these are as newborn.
// Now is what its clock reads.
func (ps *Processes) Resume(slot, position int, encoded []byte, now election.Ticks) error {
	plan, state := ps.Program.Plans.State, ps.store.state(slot)
	if err := whole(plan.DecodePart(encoded, state, now, codec.Whole)); err != nil {
		return err
	}
	varying := plan.AppendPart(nil, state, now, codec.Varying)
	ps.Born(slot, position)
	return whole(plan.DecodePart(varying, state, now, codec.Varying))
}

// Encoding is the encoding of a whole state, which [Processes.Resume] reads.
func (ps *Processes) Encoding(slot int, now election.Ticks) []byte {
	return ps.AppendState(nil, slot, now, codec.Whole)
}

// AppendMessage encodes a message.
func (ps *Processes) AppendMessage(dst []byte, m Message) []byte {
	return ps.Program.Plans.Message.Append(dst, ps.store.message(m), election.Ticks{})
}

// Decode decodes a message, and holds it once. An error means that it is malformed.
func (ps *Processes) Decode(encoded []byte) (Message, error) {
	if err := whole(ps.Program.Plans.Message.Decode(encoded, ps.store.blank(), election.Ticks{})); err != nil {
		return Message{}, err
	}
	return ps.store.hold(), nil
}

// StateText returns a state as text, at that time of its process's clock.
func (ps *Processes) StateText(slot int, now election.Ticks) string {
	return ps.Program.Plans.State.Text(ps.store.state(slot), now, ps.network.RealOf)
}

// Contents returns the fields of a message of a kind as text.
func (ps *Processes) Contents(kind election.Kind, m Message) string {
	return ps.Program.Plans.Message.MessageText(ps.store.message(m), ps.Program.Kinds[kind].Name, ps.network.RealOf)
}

// State returns a copy of a state, with its algorithm's type, at that time of its process's clock.
func (ps *Processes) State(slot int, now election.Ticks) any {
	return ps.Program.Plans.State.Copy(ps.store.state(slot), now)
}

// Message returns a copy of a message, with its algorithm's type.
func (ps *Processes) Message(m Message) any {
	return ps.Program.Plans.Message.Copy(ps.store.message(m), election.Ticks{})
}

// Bytes returns the memory of states and messages, without the targets of their slices.
func (ps *Processes) Bytes() int {
	return ps.slots*ps.Program.Plans.State.Size() + int(ps.pool.made)*(4+ps.Program.Plans.Message.Size())
}
