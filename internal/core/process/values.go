package process

import (
	"encoding/binary"
	"fmt"
	"slices"

	"ringleader.example/ringleader/election"
	"ringleader.example/ringleader/internal/core/codec"
	"ringleader.example/ringleader/network"
)

// State is the number of a state, and Body that of a message: equal values have equal numbers, from 0 on.
type (
	State uint32
	Body  uint32
)

// Values are the states and messages of the processes of one network, each stored once and never changed. States that
// differ only in constant fields belong to different processes, and are different. Clocks do not move in a step;
// [Values.Age] lets time pass.
type Values struct {
	ps      *Processes
	scratch int // the slot for steps

	numbers   map[string]State
	states    []state // by number
	constants []string
	aged      map[aging]State // what [Values.Age] has returned

	bodies   map[string]Body
	messages []message // by number

	buffer []byte
}

type state struct {
	key      string // the encoding of the varying part, and the number of the constants
	slot     int
	constant uint32
}

// aging is a state, and how much time passes.
type aging struct {
	state  State
	passed election.Ticks
}

type message struct {
	key string // the encoding
	is  Message
}

// Post is a message that a step sends.
type Post struct {
	On   uint32 // the directed link
	Kind election.Kind
	Body Body
}

// NewValues makes the values of a network, after a rehearsal.
func (p *Program) NewValues(network *network.Instance) *Values {
	p.Rehearse(network)
	ps := p.empty(network, false)
	v := &Values{ps: ps, scratch: ps.Grow(1), numbers: map[string]State{}, aged: map[aging]State{}, bodies: map[string]Body{}}
	ps.check(true)
	return v
}

// On changes the network to another one of the same kind and size, on which other processes have these states.
func (v *Values) On(network *network.Instance) { v.ps.On(network) }

// Len returns the number of states and messages.
func (v *Values) Len() int { return len(v.states) + len(v.messages) }

// Choices sets the source of random choices.
func (v *Values) Choices(choose func(n uint32) uint32) { v.ps.Choices(choose) }

// Commands sets what the next event Commanded asks for.
func (v *Values) Commands(c election.Command) { v.ps.Commands(c) }

// CommandText returns, for people, what the last of Commands asks for.
func (v *Values) CommandText() string { return v.ps.CommandText() }

// Born is the newborn state of the process at a position.
func (v *Values) Born(position int) State {
	v.ps.Born(v.scratch, position)
	return v.number(v.constant(), election.Ticks{})
}

// constant returns the number of the constants of the state in the scratch slot.
func (v *Values) constant() uint32 {
	encoding := string(v.ps.AppendState(nil, v.scratch, election.Ticks{}, codec.Constant))
	number := slices.Index(v.constants, encoding)
	if number < 0 {
		number = len(v.constants)
		v.constants = append(v.constants, encoding)
	}
	return uint32(number)
}

// AppendState appends the encoding of a state, which other values read with [Values.State]: the constant part, then the
// rest. It depends on the state alone, and not on its number.
func (v *Values) AppendState(dst []byte, s State) []byte {
	state := &v.states[s]
	dst = append(dst, v.constants[state.constant]...)
	return append(dst, state.key[:len(state.key)-4]...)
}

// State returns the state with that encoding by [Values.AppendState].
func (v *Values) State(encoded []byte) State {
	rest, err := v.ps.Program.Plans.State.DecodePart(encoded, v.ps.store.state(v.scratch), election.Ticks{}, codec.Constant)
	if err == nil {
		err = v.ps.DecodeState(rest, v.scratch, codec.Varying)
	}
	if err != nil {
		panic(fmt.Sprintf("process: a state does not decode: %v", err))
	}
	return v.number(v.constant(), election.Ticks{})
}

// Resume returns the state that a process at a position had, as [Processes.Encoding] has it, but for its constants, which are those of the newborn one.
func (v *Values) Resume(position int, encoded []byte) (State, error) {
	if err := v.ps.Resume(v.scratch, position, encoded, election.Ticks{}); err != nil {
		return 0, err
	}
	return v.number(v.constant(), election.Ticks{}), nil
}

// Received returns the message with that encoding, which may be malformed.
func (v *Values) Received(encoded []byte) (Body, error) {
	m, err := v.ps.Decode(encoded)
	if err != nil {
		return 0, err
	}
	return v.body(m), nil
}

// AppendBody appends the encoding of a message, which other values read with [Values.Body].
func (v *Values) AppendBody(dst []byte, b Body) []byte { return append(dst, v.messages[b].key...) }

// Body returns the message with that encoding by [Values.AppendBody].
func (v *Values) Body(encoded []byte) Body {
	m, err := v.ps.Decode(encoded)
	if err != nil {
		panic(fmt.Sprintf("process: a message does not decode: %v", err))
	}
	return v.body(m)
}

// Reborn returns the state of the process at a position after a crash: newborn except for its persistent state.
func (v *Values) Reborn(s State, position int) State {
	v.ps.Copy(v.scratch, v.states[s].slot)
	v.ps.Reborn(v.scratch, position)
	return v.number(v.states[s].constant, election.Ticks{})
}

// Age returns the state after some time.
func (v *Values) Age(s State, passed election.Ticks) State {
	if !v.ps.Program.Plans.State.Ages() {
		return s
	}
	known, found := v.aged[aging{s, passed}]
	if !found {
		v.ps.Copy(v.scratch, v.states[s].slot)
		known = v.number(v.states[s].constant, passed)
		v.aged[aging{s, passed}] = known
	}
	return known
}

// Step makes a step of the process at a position. It returns the state after it, the sent messages, and the other
// effects, which are valid until the next step. Body is the received message. It returns the error of
// [Processes.Checked].
func (v *Values) Step(s State, position int, e Event, body Body) (after State, sent []Post, rare []election.Effect, err error) {
	from := v.states[s]
	v.ps.Copy(v.scratch, from.slot)
	if e.What == Received {
		e.Message = v.messages[body].is
	}
	effects, err := v.ps.Checked(v.scratch, position, e, election.Ticks{})
	for i := range effects.Sent {
		m := &effects.Sent[i]
		sent = append(sent, Post{m.On(), m.Kind(), v.body(m.Message)})
	}
	return v.number(from.constant, election.Ticks{}), sent, effects.Other, err
}

// encode writes the key of a state into the buffer.
func (v *Values) encode(slot int, constant uint32, now election.Ticks) {
	v.buffer = v.ps.AppendState(v.buffer[:0], slot, now, codec.Varying)
	v.buffer = binary.LittleEndian.AppendUint32(v.buffer, constant)
}

// number returns the number of the state in the scratch slot, after some time has passed since its deadlines were made.
func (v *Values) number(constant uint32, passed election.Ticks) State {
	v.encode(v.scratch, constant, passed)
	if known, found := v.numbers[string(v.buffer)]; found {
		return known
	}
	own := state{string(v.buffer), v.ps.Grow(1), constant}
	v.ps.Copy(own.slot, v.scratch)
	if err := v.ps.DecodeState(v.buffer[:len(v.buffer)-4], own.slot, codec.Varying); err != nil { // and shares no slice
		panic(fmt.Sprintf("process: a state does not decode: %v", err))
	}
	plans := &v.ps.Program.Plans
	plans.State.Room(v.ps.store.state(own.slot), v.ps.store.state(v.scratch))
	number := State(len(v.states))
	v.states, v.numbers[own.key] = append(v.states, own), number
	return number
}

// body returns the number of a message, and releases the message.
func (v *Values) body(m Message) Body {
	defer v.ps.Release(m)
	v.buffer = v.ps.AppendMessage(v.buffer[:0], m)
	if known, found := v.bodies[string(v.buffer)]; found {
		return known
	}
	own, err := v.ps.Decode(v.buffer)
	if err != nil {
		panic(fmt.Sprintf("process: a message does not decode: %v", err))
	}
	if plan := v.ps.Program.Plans.Message; plan.Lists() {
		plan.Room(v.ps.store.message(own), v.ps.store.message(m))
	}
	number := Body(len(v.messages))
	v.messages = append(v.messages, message{string(v.buffer), own})
	v.bodies[v.messages[number].key] = number
	return number
}

// Breach is [Processes.Breach] for a step; body is the received message.
func (v *Values) Breach(position int, e Event, body Body, how string) string {
	if e.What == Received {
		e.Message = v.messages[body].is
	}
	return v.ps.Breach(position, e, how)
}

// Eligible reports whether the process at a position may become leader in a state.
func (v *Values) Eligible(s State, position int) bool {
	return v.ps.Eligible(v.states[s].slot, position)
}

// Incarnation is the number of the life of a process in a state. The algorithm must have that function.
func (v *Values) Incarnation(s State) uint64 { return v.ps.Incarnation(v.states[s].slot) }

// StateValue returns a copy of a state, with its algorithm's type.
func (v *Values) StateValue(s State) any { return v.ps.State(v.states[s].slot, election.Ticks{}) }

// BodyValue returns a copy of a message, with its algorithm's type.
func (v *Values) BodyValue(b Body) any { return v.ps.Message(v.messages[b].is) }

// StateText returns a state as text.
func (v *Values) StateText(s State) string { return v.ps.StateText(v.states[s].slot, election.Ticks{}) }

// Contents returns the fields of a message of a kind as text.
func (v *Values) Contents(kind election.Kind, b Body) string {
	return v.ps.Contents(kind, v.messages[b].is)
}
