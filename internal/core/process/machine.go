package process

import (
	"encoding/binary"
	"fmt"

	"ringleader.example/ringleader/election"
	"ringleader.example/ringleader/internal/core/codec"
	"ringleader.example/ringleader/internal/core/framing"
	"ringleader.example/ringleader/network"
)

// only is the slot of a machine's one state.
const only = 0

// Machine is one process of a network, for engines that exchange messages as bytes.
type Machine struct {
	ps       *Processes
	position int
	frames   []Frame
	names    Names
}

// Names relates the identifiers of a machine to names that mean the same to all processes, and in all lives.
type Names interface {
	Name(id election.ID) uint64 // 0 if there is none
	ID(name uint64) (election.ID, error)
}

// Input is an [Event] with its message as bytes.
type Input struct {
	What    What
	Port    election.Port
	Kind    election.Kind
	Message []byte
	Timer   election.Timer
	Command election.Command
}

// Output holds the effects of a step; valid until the next step.
type Output struct {
	Sent  []Frame
	Other []election.Effect
}

// EndsLead reports whether the last decision among the effects is not to lead.
func (o *Output) EndsLead() (ends bool) {
	for _, e := range o.Other {
		switch e.Op {
		case election.SetTimer, election.StopTimer, election.StopWork:
		default:
			ends = e.Op != election.Lead
		}
	}
	return ends
}

// Frame is a message that leaves.
type Frame struct {
	Port  election.Port
	Kind  election.Kind
	Phase int    // -1 without phases, or if it is no election message
	Frame []byte // see [framing.Append]
}

// NewMachine makes the newborn process at a position. Choose makes its random choices. With names, its messages and its
// persistent state have the name of each identifier behind them, so that processes may have different identifiers for one
// process.
func (p *Program) NewMachine(network *network.Instance, position int, choose func(n uint32) uint32, names Names) *Machine {
	ps := p.empty(network, true)
	ps.Born(ps.Grow(1), position)
	ps.Choices(choose)
	return &Machine{ps: ps, position: position, names: names}
}

// Enlarge puts the process into a larger network, in which all that it knows have their positions still.
func (m *Machine) Enlarge(network *network.Instance) {
	m.ps.On(network)
	m.ps.store.enlarge(only, network.Size())
}

// appendNames appends the names of the identifiers in a value.
func (m *Machine) appendNames(dst []byte, p *codec.Plan, v codec.Pointer) []byte {
	if m.names == nil {
		return dst
	}
	for id := range p.Identifiers(v) {
		dst = binary.LittleEndian.AppendUint64(dst, m.names.Name(*id))
	}
	return dst
}

// readNames gives the identifiers in a value, which another process or life has written, those that their names have here. It
// returns an error if more or less than the names follow the value.
func (m *Machine) readNames(src []byte, p *codec.Plan, v codec.Pointer) (err error) {
	if m.names == nil {
		return whole(src, nil)
	}
	const size = 8
	for id := range p.Identifiers(v) {
		if len(src) < size {
			return fmt.Errorf("%w: it lacks names", codec.ErrDecode)
		}
		*id = 0
		if name := binary.LittleEndian.Uint64(src); name != 0 {
			if *id, err = m.names.ID(name); err != nil {
				return fmt.Errorf("%w: %w", codec.ErrDecode, err)
			}
		}
		src = src[size:]
	}
	return whole(src, nil)
}

// Step makes the step of an event, at that time since the start. An error means that the message is malformed; then
// there was no step. Step panics with an [ErrBroken] or [election.KindError] if the algorithm breaks the contract.
func (m *Machine) Step(in Input, now election.Ticks) (Output, error) {
	e, err := m.event(in)
	if err != nil {
		return Output{}, err
	}
	if e.What == Received {
		defer m.ps.Release(e.Message)
	}
	effects := m.ps.Step(only, m.position, e, now)
	m.frames = m.frames[:0]
	for i := range effects.Sent {
		m.frames = append(m.frames, m.frame(&effects.Sent[i]))
	}
	return Output{m.frames, effects.Other}, nil
}

// event returns an input with its message decoded, and holds the message.
func (m *Machine) event(in Input) (e Event, err error) {
	e = Event{What: in.What, Port: in.Port, Kind: in.Kind, Timer: in.Timer}
	m.ps.Commands(in.Command)
	if e.What == Received {
		e.Message, err = m.decode(in.Message)
	}
	return e, err
}

// decode decodes a message, and holds it once.
func (m *Machine) decode(encoded []byte) (Message, error) {
	plan, blank := m.ps.Program.Plans.Message, m.ps.store.blank()
	names, err := plan.Decode(encoded, blank, election.Ticks{})
	if err == nil {
		err = m.readNames(names, plan, blank)
	}
	if err != nil {
		return Message{}, err
	}
	return m.ps.store.hold(), nil
}

// Breach describes what a step with this panic did, and its input.
func (m *Machine) Breach(in Input, fault any) string {
	_, how := Blame(fault)
	e, err := m.event(in)
	if err != nil {
		return how
	}
	return m.ps.Breach(m.position, e, how)
}

// frame makes a frame of a message.
func (m *Machine) frame(s *Sent) Frame {
	program, network := m.ps.Program, m.ps.network.Network
	port, degree := s.On()-network.First(m.position), network.Degree(m.position)
	if port >= uint32(degree) {
		panic(fmt.Errorf("%w: sends on port %d; its ports are 0 to %d", ErrBroken, port, degree-1))
	}
	if int(s.Kind()) >= len(program.Kinds) {
		panic(fmt.Errorf("%w: sends a message of kind %d; %d are declared", ErrBroken, s.Kind(), len(program.Kinds)))
	}
	frame := framing.Append(nil, uint8(s.Kind()), func(dst []byte) []byte {
		return m.appendNames(m.ps.AppendMessage(dst, s.Message), program.Plans.Message, m.ps.store.message(s.Message))
	})
	if size := len(frame) - framing.HeadSize; size > framing.MaxMessage {
		panic(fmt.Errorf("%w: sends a message of %d bytes; at most %d can be sent", ErrBroken, size, framing.MaxMessage))
	}
	m.ps.Release(s.Message)
	return Frame{election.Port(port), s.Kind(), int(s.Phase), frame}
}

// Phases reports whether messages of the election belong to phases.
func (m *Machine) Phases() bool { return m.ps.Program.Functions.Phase }

// Eligible reports whether the process may become leader now.
func (m *Machine) Eligible() bool { return m.ps.Eligible(only, m.position) }

// Membership returns which members vote.
func (m *Machine) Membership() election.Membership { return m.ps.store.membership(only) }

// Durable returns the encoding of the persistent state.
func (m *Machine) Durable() []byte {
	plan := m.ps.Program.Plans.Durable
	if plan == nil {
		return nil
	}
	return m.appendNames(m.ps.Durable(only), plan, codec.Target(m.ps.store.kept(only)))
}

// Restore decodes the persistent state into a newborn process.
func (m *Machine) Restore(kept []byte) error {
	names, err := m.ps.Program.Plans.DecodeDurable(kept, m.ps.store.kept(only))
	if plan := m.ps.Program.Plans.Durable; err == nil && plan != nil {
		return m.readNames(names, plan, codec.Target(m.ps.store.kept(only)))
	}
	return whole(names, err)
}

// AppendState appends the encoding of the whole state at a time, which [Machine.Resume] reads.
func (m *Machine) AppendState(dst []byte, now election.Ticks) []byte {
	return m.ps.AppendState(dst, only, now, codec.Whole)
}

// Plain returns a message as it is between processes that have the same identifiers: without names. The error is that of a malformed one.
func (m *Machine) Plain(encoded []byte) ([]byte, error) {
	held, err := m.decode(encoded)
	if err != nil {
		return nil, err
	}
	defer m.ps.Release(held)
	return m.ps.AppendMessage(nil, held), nil
}

// Resume gives the process the state that another one had at a time, when it was at the same position of the same network.
func (m *Machine) Resume(encoded []byte, now election.Ticks) error {
	return whole(m.ps.Program.Plans.State.Decode(encoded, m.ps.store.state(only), now))
}
