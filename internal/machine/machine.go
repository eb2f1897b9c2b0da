// Package machine drives one process of an election algorithm whose types are hidden: events come in, with
// messages as bytes, and effects go out, with messages as frames. Engines on real sockets share it, and the
// timers beside it; what they do about the effects is theirs.
package machine

import (
	"encoding/binary"
	"errors"
	"fmt"

	"ringleader.example/ringleader/election"
	"ringleader.example/ringleader/internal/plain"
)

// Event is something that happens to a process.
type Event struct {
	What    What
	Port    election.Port    // Received, Suspected, Trusted
	Kind    election.Kind    // Received
	Message []byte           // Received: encoded
	Timer   election.Timer   // Expired
	Command election.Command // Commanded
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
	Commanded
)

// Effects are what a step did; valid until the next step.
type Effects struct {
	Sent []Sent
	Rare []election.Effect
}

// Sent is a message that leaves.
type Sent struct {
	Port  election.Port
	Kind  election.Kind
	Phase int    // -1 where there are no phases, or the message is none of the election's
	Frame []byte // see [AppendFrame]
}

// Machine is an algorithm and the state of one process.
type Machine interface {
	// Step does what an event asks for, at that time since the start. An error says that a message is
	// malformed, and then nothing was done. It panics with an [ErrBroken] if the algorithm breaks the contract.
	Step(event Event, now election.Ticks) (Effects, error)

	// Phases says whether messages of the election belong to phases.
	Phases() bool

	// Stands says whether the process may become leader now.
	Stands() bool

	// Kept is the encoding of what must survive a crash, and Restore reads it into a process that is new.
	Kept() []byte
	Restore(kept []byte) error
}

// Maker makes the process at a position, new born; see [New].
type Maker func(p *election.Prepared, position int, choose func(n uint32) uint32) (Machine, error)

// ErrBroken says that an algorithm broke the contract, and how.
var ErrBroken = errors.New("broke the contract")

type process[S, M any] struct {
	algorithm election.Algorithm[S, M]
	plans     plain.Plans[S, M]
	first     uint32 // its first link
	degree    int
	willing   bool
	state     S
	collector election.Collector[M]
}

// New is the process at a position, new born. Choose says where its choices come from.
func New[S, M any](a *election.Algorithm[S, M], p *election.Prepared, position int, choose func(n uint32) uint32) (Machine, error) {
	if err := a.Validate(); err != nil {
		return nil, err
	}
	plans, err := plain.ForAlgorithm(a)
	if err != nil {
		return nil, err
	}
	m := &process[S, M]{
		algorithm: *a, plans: plans, first: p.Network.First(position), degree: p.Network.Degree(position),
		willing: p.Willing(position), state: a.New(p.Local(position)),
	}
	m.collector.At(m.first)
	m.collector.Choices(choose)
	return m, nil
}

func (p *process[S, M]) Step(e Event, now election.Ticks) (Effects, error) {
	a, out := &p.algorithm, p.collector.Out()
	p.collector.Reset()
	p.collector.Clock(now)
	switch {
	case e.What == Started:
		a.Start(&p.state, out)
	case e.What == Recovered:
		a.Recover(&p.state, out)
	case e.What == Expired:
		a.Timeout(&p.state, e.Timer, out)
	case e.What == Suspected && a.Suspect != nil:
		a.Suspect(&p.state, e.Port, out)
	case e.What == Trusted && a.Trust != nil:
		a.Trust(&p.state, e.Port, out)
	case e.What == Commanded && a.Command != nil:
		a.Command(&p.state, e.Command, out)
	case e.What == Received:
		var m M
		rest, err := p.plans.DecodeMessage(e.Message, &m)
		if err != nil {
			return Effects{}, err
		}
		if len(rest) > 0 {
			return Effects{}, fmt.Errorf("%w: %d bytes follow it", plain.ErrDecode, len(rest))
		}
		a.Receive(&p.state, e.Port, e.Kind, m, out)
	}
	effects := Effects{Rare: p.collector.Rare()}
	for i := range p.collector.Sent() {
		effects.Sent = append(effects.Sent, p.sent(&p.collector.Sent()[i]))
	}
	return effects, nil
}

// sent makes a frame of a message.
func (p *process[S, M]) sent(s *election.Sent[M]) Sent {
	a, port, phase := &p.algorithm, s.On()-p.first, -1
	if port >= uint32(p.degree) {
		panic(fmt.Errorf("%w: %s sends on port %d of %d in state %+v", ErrBroken, a.Name, port, p.degree, p.state))
	}
	if int(s.Kind()) >= len(a.Kinds) {
		panic(fmt.Errorf("%w: %s sends kind %d of %d", ErrBroken, a.Name, s.Kind(), len(a.Kinds)))
	}
	if a.Phase != nil && a.Kinds[s.Kind()].Class == election.Election {
		phase = a.Phase(s.Kind(), s.M)
	}
	frame := AppendFrame(nil, uint8(s.Kind()), func(dst []byte) []byte { return p.plans.AppendMessage(dst, &s.M) })
	if size := len(frame) - HeadSize; size > MaxMessage {
		panic(fmt.Errorf("%w: %s sends a message of %d bytes; at most %d can be sent", ErrBroken, a.Name, size, MaxMessage))
	}
	return Sent{election.Port(port), s.Kind(), phase, frame}
}

func (p *process[S, M]) Phases() bool { return p.algorithm.Phase != nil }

func (p *process[S, M]) Stands() bool {
	if p.algorithm.Stands == nil {
		return p.willing
	}
	return p.algorithm.Stands(&p.state)
}

func (p *process[S, M]) Kept() []byte { return p.plans.AppendKept(nil, &p.algorithm, &p.state) }

func (p *process[S, M]) Restore(kept []byte) error {
	rest, err := p.plans.DecodeKept(kept, &p.algorithm, &p.state)
	if err == nil && len(rest) > 0 {
		err = fmt.Errorf("%w: %d bytes follow it", plain.ErrDecode, len(rest))
	}
	return err
}

// A frame on a connection, little-endian: the length of what follows (2 bytes), the kind (1 byte), the message.
const (
	HeadSize   = 3
	MaxMessage = 1<<14 - 1
)

// AppendFrame appends a frame; write appends the message. It must not be longer than MaxMessage.
func AppendFrame(dst []byte, kind uint8, write func([]byte) []byte) []byte {
	start := len(dst)
	dst = append(dst, 0, 0, kind)
	if write != nil {
		dst = write(dst)
	}
	binary.LittleEndian.PutUint16(dst[start:], uint16(len(dst)-start-2))
	return dst
}
