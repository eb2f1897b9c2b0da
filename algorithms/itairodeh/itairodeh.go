// Package itairodeh elects a random process on an asynchronous anonymous unidirectional ring of known size (Itai and
// Rodeh 1981). In each round the remaining processes choose a number, and only the greatest survive.
//
// An active process in round r chooses a number from 1 to n and sends a token (r, choice, hop = 1, bit = true). A
// process compares a token's (round, choice) with its own, lexicographically. The rules, cited below by name:
//
//	leader   hop = n, bit = true: the token is its own; the process leads
//	again    hop = n, bit = false: it enters the next round
//	larger   the token is larger: the process becomes passive, and passes the token on
//	equal    the token is equal, hop < n: the process passes it on with bit = false
//	smaller  the token is smaller: it is purged
//
// A passive process passes every token on. FIFO links are not required. An active process whose round and choice are
// greatest never becomes passive, purges older tokens however late they come, and has one token of its own in
// transit. Without round numbers FIFO is required, as Fokkink and Pang found; a test shows it. n must be exact.
//
// With rounds=unnumbered every round has the number 0, as in Fokkink and Pang's algorithm for FIFO links. With
// choices=K a process chooses a number from 1 to K.
package itairodeh

import (
	"cmp"
	"math"

	"ringleader.example/ringleader/election"
)

// Right is the only port that messages are sent on.
const Right election.Port = 0

// The kinds of message.
const (
	Token election.Kind = iota
	Leader
)

// Message is the token (round, id, hop, bit), or the announcement, which carries nothing.
type Message struct {
	Round  uint32 `kinds:"token"`
	ID     uint32 `kinds:"token"` // the choice of the process that sent it first
	Hop    uint32 `kinds:"token"` // the number of links that it has passed when it arrives; N at its origin
	Unique bool   `kinds:"token"` // bit: it has met no other process of the same choice in this round
}

// stage is the stage of a process.
type stage uint8

const (
	asleep stage = iota
	active
	passive
	leads
)

// Process is the state of one process.
type Process struct {
	N          uint32 `election:"constant"`
	Round      uint32
	ID         uint32 // the choice of this round
	Choices    uint16 `election:"constant"` // the largest choice; 0: N
	Unnumbered bool   `election:"constant"` // rounds have no numbers
	Stage      stage
}

var (
	choices = election.Number{Name: "choices", About: "K: the numbers to choose from are 1 to K; 0: 1 to n", Whole: true, Most: math.MaxUint16, Default: "0"}
	rounds  = election.Choice{Name: "rounds", About: "whether tokens carry the number of their round; without it links must be FIFO", Words: []string{"numbered", "unnumbered"}}
)

// Algorithm is Itai and Rodeh's.
var Algorithm = election.Algorithm[Process, Message]{
	Declaration: election.Declaration{
		Name:   "itai-rodeh",
		Title:  "Itai–Rodeh, asynchronous",
		Year:   1981,
		Source: "Itai–Rodeh 1981",
		About: "Every process chooses a random identifier from 1 to n and sends it round the ring; greater ones of the same or a later round " +
			"make a process passive. A process with its token back has won if no other made the same choice; otherwise those with that choice choose again.",
		Topology:    election.Ring,
		OneWay:      true,
		Identifiers: election.Anonymous,
		KnowsSize:   true,
		Parameters:  []election.Parameter{&choices, &rounds},
		Checked:     map[string]string{"rounds": "unnumbered"}, // the rounds of a run have no bound
		Adjust:      func(d *election.Declaration, p election.Parameters) { d.FIFO = rounds.Is(p, "unnumbered") },
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

// New returns a process that is asleep.
func New(l election.Local) Process {
	k := uint16(choices.Rational(l.Parameters).Num().Uint64())
	return Process{N: uint32(l.N), Choices: k, Unnumbered: rounds.Is(l.Parameters, "unnumbered")}
}

// Start enters the first round, once.
func (p *Process) Start(out *election.Out[Message]) {
	if p.Stage == asleep {
		p.Stage = active
		p.enter(out)
	}
}

// enter enters the next round.
func (p *Process) enter(out *election.Out[Message]) {
	if !p.Unnumbered {
		p.Round++
	}
	p.ID = 1 + out.Choose(cmp.Or(uint32(p.Choices), p.N))
	out.Send(Right, Token, Message{Round: p.Round, ID: p.ID, Hop: 1, Unique: true})
}

// Receive handles a message; a process that is asleep joins first.
func (p *Process) Receive(_ election.Port, kind election.Kind, m Message, out *election.Out[Message]) {
	p.Start(out)
	switch {
	case kind == Leader:
		if p.Stage != leads { // else it has returned to its origin
			out.Follow(0, 0)
			out.Send(Right, Leader, m)
		}
	case p.Stage == passive:
		p.forward(m, m.Unique, out)
	case m.Hop == p.N && m.Unique: // leader. It is the process's own token, of this round.
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
