// Package process holds the processes of an election with the types of their algorithm hidden, so that an engine
// is compiled once and not once for each algorithm.
//
// [Processes] work in place: states lie in slots and messages have references. An engine that runs an election
// steps them directly. Two views stand on them: [Values] numbers states and messages, for engines that store and
// compare them, and [Machine] exchanges them as bytes, for engines on sockets.
package process

import (
	"errors"
	"fmt"

	"ringleader.example/ringleader/election"
	"ringleader.example/ringleader/internal/codec"
	"ringleader.example/ringleader/network"
)

// Program is an algorithm whose types are hidden.
type Program struct {
	*election.Declaration
	Functions election.Functions // the optional functions that it has
	Plans     codec.Plans
	store     func(*pool) store
}

// Of hides the types of an algorithm. The error is that of [election.Algorithm.Validate], or says which type is not
// plain.
func Of[S, M any](a *election.Algorithm[S, M]) (*Program, error) {
	if err := a.Validate(); err != nil {
		return nil, err
	}
	plans, err := codec.ForAlgorithm(a)
	if err != nil {
		return nil, err
	}
	return &Program{&a.Declaration, a.Functions(), plans, func(p *pool) store { return &typed[S, M]{a: a, pool: p} }}, nil
}

// Must returns the program of an algorithm that is known to be valid.
func Must(program *Program, err error) *Program {
	if err != nil {
		panic(err)
	}
	return program
}

// Event is what happens to a process.
type Event struct {
	What    What
	Port    election.Port  // Received, Suspected, Trusted
	Kind    election.Kind  // Received
	Timer   election.Timer // Expired
	Message Message        // Received
}

// What says which event it is.
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

// Message is a message that is held: a small one itself, and of any other a reference.
type Message struct{ words codec.Words }

// Sent is a message that a step sends. It is held once, for the engine.
type Sent struct {
	Link    uint32 // as in [election.Sent]: the directed link << 4, and the kind
	Phase   int32  // -1 where there are no phases, or the message is none of the election's
	Message Message
}

// On is the directed link that the message leaves on.
func (s *Sent) On() uint32 { return s.Link >> 4 }

// Kind is the kind of the message.
func (s *Sent) Kind() election.Kind { return election.Kind(s.Link & 15) }

// Effects are what a step did; valid until the next step.
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

// pool is what processes share with their store: when the step is that comes, what the last one did, and which
// references are in use.
type pool struct {
	now     election.Ticks
	effects Effects
	phases  uint16 // kinds whose messages belong to phases: bit by kind
	small   bool   // messages are held as they are, and there are no references

	made  uint32   // references: 0 … made - 1
	free  []uint32 // references that are not in use; the one that was released last is used next, while it is in the cache
	again []uint32 // by reference: how often it is held besides once; nil if none ever was
}

// pageSize is how many messages lie on a page. Pages never move, so that a run with many messages leaves no smaller
// copies of them behind.
const pageSize = 64

// store is what has to know the types: the states by slot, and the messages by reference.
type store interface {
	grow(slots int)
	born(slot int, l election.Local)
	copy(to, from int)
	step(slot int, e Event)
	receive(slot int, port election.Port, kind election.Kind, m Message)
	choices(choose func(n uint32) uint32)
	commands(c election.Command)
	stands(slot int) bool
	incarnation(slot int) uint64
	kept(slot int) any
	state(slot int) codec.Pointer
	message(m Message) codec.Pointer // where it lies; a copy of a small one, until the next call
	blank() codec.Pointer            // where a message may be written that hold then holds
	hold() Message
}

// New makes the processes of a network, all newborn. With phases, it is computed to which phase each message of
// the election belongs.
func (p *Program) New(network *network.Instance, phases bool) *Processes {
	ps := p.empty(network, phases)
	for position := range ps.Grow(network.Size()) + network.Size() {
		ps.Born(position, position)
	}
	return ps
}

// empty is New without any process.
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

// Grow makes that many slots more, and returns the first of them.
func (ps *Processes) Grow(slots int) (first int) {
	first = ps.slots
	ps.slots += slots
	ps.store.grow(ps.slots)
	return first
}

// Born makes the process at a position new, in a slot.
func (ps *Processes) Born(slot, position int) {
	defer func() {
		fault := recover()
		err, _ := fault.(error)
		switch {
		case fault == nil:
		case errors.Is(err, election.ErrTime):
			panic(fault)
		default:
			panic(Unborn(fmt.Sprintf("New of %s panics: %v", ps.network.Name(position), fault)))
		}
	}()
	ps.store.born(slot, ps.network.Local(position))
}

// Unborn is the panic of a New that panicked, and tells of which process. It wraps ErrBroken.
type Unborn string

func (u Unborn) Error() string { return string(u) }

// Unwrap returns ErrBroken.
func (u Unborn) Unwrap() error { return ErrBroken }

// Reborn makes the process at a position, in a slot, what it is after a crash: newborn, but for what it kept.
func (ps *Processes) Reborn(slot, position int) {
	kept := ps.Durable(slot)
	ps.Born(slot, position)
	if err := ps.Restore(slot, kept); err != nil {
		panic(fmt.Sprintf("process: what was kept does not decode: %v", err))
	}
}

// Copy copies a state from one slot to another.
func (ps *Processes) Copy(to, from int) { ps.store.copy(to, from) }

// Choices says where choices come from.
func (ps *Processes) Choices(choose func(n uint32) uint32) {
	ps.checker.choose = choose
	ps.store.choices(choose)
}

// Commands says what the next event Commanded asks for. It is no part of an [Event], which every delivery copies.
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

// Receive is Step for a message that is received, which nearly all steps of a large run are.
func (ps *Processes) Receive(slot, position int, port election.Port, kind election.Kind, m Message, now election.Ticks) *Effects {
	ps.begin(position, now)
	ps.store.receive(slot, port, kind, m)
	return &ps.pool.effects
}

// begin says whose step comes, and when.
func (ps *Processes) begin(position int, now election.Ticks) {
	ps.pool.effects.First, ps.pool.now = ps.network.Network.First(position), now
}

// room makes room for what a step sent.
func (p *pool) room(count int) []Sent {
	if cap(p.effects.Sent) < count {
		p.effects.Sent = make([]Sent, 2*count)
	}
	p.effects.Sent = p.effects.Sent[:count]
	return p.effects.Sent
}

// Hold holds a message once more.
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

// Release holds a message once less. One that is not held any more is gone.
func (ps *Processes) Release(m Message) {
	if !ps.pool.small {
		ps.pool.release(m.reference())
	}
}

// reference is where a message is held that is not small.
func (m Message) reference() uint32 { return codec.Unpack[uint32](m.words) }

func (p *pool) release(reference uint32) {
	if int(reference) < len(p.again) && p.again[reference] > 0 {
		p.again[reference]--
		return
	}
	p.free = append(p.free, reference)
}

// grow makes pages of references: few are made, and few too many. It says how many pages.
func (p *pool) grow() (pages int) {
	pages = 1 + int(p.made/pageSize)/8
	first := p.made
	p.made += uint32(pages) * pageSize
	for reference := p.made; reference > first; reference-- {
		p.free = append(p.free, reference-1)
	}
	return pages
}

// take takes a reference that is not in use. There is one.
func (p *pool) take() (reference uint32) {
	last := len(p.free) - 1
	reference = p.free[last]
	p.free = p.free[:last]
	return reference
}

// Eligible reports whether a process may become leader.
func (ps *Processes) Eligible(slot, position int) bool {
	if !ps.Program.Functions.Eligible {
		return ps.network.Willing(position)
	}
	return ps.store.stands(slot)
}

// Incarnation is the number of the life of a process. The algorithm must have that function.
func (ps *Processes) Incarnation(slot int) uint64 { return ps.store.incarnation(slot) }

// Durable is the encoding of what survives a crash.
func (ps *Processes) Durable(slot int) []byte {
	return ps.Program.Plans.AppendDurable(nil, ps.store.kept(slot))
}

// Restore reads what survives a crash into a newborn state.
func (ps *Processes) Restore(slot int, kept []byte) error {
	return whole(ps.Program.Plans.DecodeDurable(kept, ps.store.kept(slot)))
}

// whole refuses bytes that follow a value.
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

// DecodeState reads a part of a state into a slot, where clocks stand at 0.
func (ps *Processes) DecodeState(encoded []byte, slot int, part codec.Part) error {
	return whole(ps.Program.Plans.State.DecodePart(encoded, ps.store.state(slot), election.Ticks{}, part))
}

// AppendMessage encodes a message.
func (ps *Processes) AppendMessage(dst []byte, m Message) []byte {
	return ps.Program.Plans.Message.Append(dst, ps.store.message(m), election.Ticks{})
}

// Decode reads a message, which is then held once. An error says that it is malformed.
func (ps *Processes) Decode(encoded []byte) (Message, error) {
	if err := whole(ps.Program.Plans.Message.Decode(encoded, ps.store.blank(), election.Ticks{})); err != nil {
		return Message{}, err
	}
	return ps.store.hold(), nil
}

// StateText writes a state for people, as it is at that time of its process's clock.
func (ps *Processes) StateText(slot int, now election.Ticks) string {
	return ps.Program.Plans.State.Text(ps.store.state(slot), now, ps.network.RealOf)
}

// MessageText writes a message for people.
func (ps *Processes) MessageText(m Message) string {
	return ps.Program.Plans.Message.Text(ps.store.message(m), election.Ticks{}, ps.network.RealOf)
}

// State returns a copy of a state, as its algorithm has it, at that time of its process's clock.
func (ps *Processes) State(slot int, now election.Ticks) any {
	return ps.Program.Plans.State.Copy(ps.store.state(slot), now)
}

// Message returns a copy of a message, as its algorithm has it.
func (ps *Processes) Message(m Message) any {
	return ps.Program.Plans.Message.Copy(ps.store.message(m), election.Ticks{})
}

// Bytes is what states and messages take in memory, without what their slices point to.
func (ps *Processes) Bytes() int {
	return ps.slots*ps.Program.Plans.State.Size() + int(ps.pool.made)*(4+ps.Program.Plans.Message.Size())
}
