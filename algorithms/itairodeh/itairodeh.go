// Package itairodeh elects by chance on a one-directional ring of known size whose processes have no
// identifiers: in each round those who are left choose one, and only the greatest go on.
//
// Source: Itai and Rodeh's asynchronous algorithm as ALGORITHMS 9.9 states it; its rules are cited as
// leader, again, larger, equal and smaller below.
//
// Links need not keep order. An active process whose round and choice are greatest never becomes passive,
// purges what is older however late it comes, and has one token of its own under way. Without round
// numbers order is needed, as Fokkink and Pang found; the test shows it.
package itairodeh

import "ringleader.example/ringleader/election"

// Right is the only port that is sent on.
const Right election.Port = 0

// The messages.
const (
	Token election.Kind = iota
	Leader
)

// Message is the token (round, id, hop, bit), or the announcement, which says nothing.
type Message struct {
	Round  uint32
	ID     uint32 // the choice of the one who sent it first
	Hop    uint32 // how many links it will have passed when it arrives; N is home
	Unique bool   // bit: nobody else was met who chose the same in this round
}

// stage is where a process stands.
type stage uint8

const (
	asleep stage = iota
	active
	passive
	leads
)

// Process is the state of one process.
type Process struct {
	N     uint32 `election:"constant"`
	Round uint32
	ID    uint32 // the choice of this round: 1 … N
	Stage stage
}

// Algorithm is Itai and Rodeh's.
var Algorithm = election.Algorithm[Process, Message]{
	Declaration: election.Declaration{
		Name:   "itai-rodeh",
		Title:  "Itai–Rodeh, asynchronous",
		Year:   1981,
		Source: "Itai–Rodeh 1981",
		About: "Every process chooses an identifier from 1 to n by chance and sends it round the ring; greater ones of the same or a later round " +
			"make a process passive. Whose token comes home has won if nobody chose the same; otherwise those who did choose again.",
		Topology:    election.Ring,
		OneWay:      true,
		Identifiers: election.Anonymous,
		KnowsSize:   true,
		Kinds:       []election.MessageKind{{Name: "token", Class: election.Election}, {Name: "leader", Class: election.Announcement}},
		Bounds: []election.Bound{
			{
				Of: "election", Case: election.Best, Formula: "2n - 1", Source: "the winner's token makes n hops and every other one at least 1",
				Value: func(n uint64) uint64 { return 2*n - 1 },
			},
		},
	},
	New:     New,
	Start:   (*Process).Start,
	Receive: (*Process).Receive,
	Phase:   func(_ election.Kind, m Message) int { return int(m.Round) },
}

// New is a process that sleeps.
func New(l election.Local) Process { return Process{N: uint32(l.N)} }

// Start enters the first round, once.
func (p *Process) Start(out *election.Out[Message]) {
	if p.Stage == asleep {
		p.Stage = active
		p.enter(out)
	}
}

// enter enters the next round.
func (p *Process) enter(out *election.Out[Message]) {
	p.Round++
	p.ID = 1 + out.Choose(p.N)
	out.Send(Right, Token, Message{Round: p.Round, ID: p.ID, Hop: 1, Unique: true})
}

// Receive handles a message; a sleeper joins first.
func (p *Process) Receive(_ election.Port, kind election.Kind, m Message, out *election.Out[Message]) {
	p.Start(out)
	switch {
	case kind == Leader:
		if p.Stage != leads { // else it is home again
			out.Follow(0, 0)
			out.Send(Right, Leader, m)
		}
	case p.Stage == passive:
		p.forward(m, m.Unique, out)
	case m.Hop == p.N && m.Unique: // leader. It is one's own token, of this round.
		p.Stage = leads
		out.Lead(0)
		out.Send(Right, Leader, Message{})
	case m.Hop == p.N: // again
		p.enter(out)
	case m.Round > p.Round || m.Round == p.Round && m.ID > p.ID: // larger
		p.Stage = passive
		p.forward(m, m.Unique, out)
	case m.Round == p.Round && m.ID == p.ID: // equal
		p.forward(m, false, out)
	default: // smaller: purged
	}
}

func (p *Process) forward(m Message, unique bool, out *election.Out[Message]) {
	m.Hop++
	m.Unique = unique
	out.Send(Right, Token, m)
}
