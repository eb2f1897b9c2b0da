// Package franklin elects the largest identifier on an asynchronous bidirectional ring with FIFO links and without
// common orientation (Franklin 1982). In each round the local maxima among the active processes survive.
//
// Source: W. R. Franklin, "On an improved algorithm for decentralized extrema finding in circular configurations of
// processors", Communications of the ACM 25(5), 1982. Cited below by rule:
//
//	F1  an active process sends its identifier both ways, and waits for one from either side
//	F2  both smaller: it is active in the next round, F1
//	F3  both its own: it is the only one left, and leads
//	F4  otherwise it is passive: it passes on each message out of the other port
//	F5  the leader announces itself once round the ring
//
// No step looks at the round of a message, so FIFO links are required. Then the i-th identifier on a port is the
// neighbour's of round i. A neighbour can be a round ahead while the other side is slow: its second message waits at
// the port, and is passed on if the process becomes passive.
//
// A process that has not started when a message comes starts first. So all take part, for any initiators, and rounds
// are the same under every schedule: 2n messages in each. At most half of the active processes are local maxima, so
// all but one are passive after k rounds, 2^k ≤ n. The last round brings the leader its own identifier twice.
package franklin

import (
	"math/bits"

	"ringleader.example/ringleader/election"
)

// The kinds of message.
const (
	Identifier election.Kind = iota
	Leader
)

// Message is the identifier of an active process, or the leader's. The round, from 0, is for statistics only.
type Message struct {
	ID    election.ID
	Round uint8 `kinds:"identifier"`
}

// Status decides which rules apply to a process.
type Status uint8

// The statuses.
const (
	Asleep Status = iota
	Active
	Passive
)

// Process is the state of one process.
type Process struct {
	ID      election.ID
	Waiting [2]election.ID // identifiers that have come on Port only: of this round, and of the next; 0 is none
	Port    election.Port
	Round   uint8
	Status  Status
}

// Algorithm is Franklin's.
var Algorithm = election.Algorithm[Process, Message]{
	Declaration: election.Declaration{
		Name:   "franklin",
		Title:  "Franklin",
		Year:   1982,
		Source: "Franklin 1982",
		About: "Active processes exchange identifiers with their active neighbours; local maxima survive, the others only " +
			"pass on. At most half survive, and a process that receives its own identifier from both sides is alone.",
		Topology:   election.Ring,
		Unoriented: true,
		FIFO:       true,
		Counts:     election.CountsFixed,
		Winner:     election.Largest,
		Kinds:      []election.MessageKind{{Name: "identifier", Class: election.Election}, {Name: "leader", Class: election.Announcement}},
		Bounds: []election.Bound{
			{
				Of: "election", Case: election.Worst, Formula: "2n⌊lg n⌋ + 2n", Source: "Franklin 1982; reached for every n",
				Value: func(n uint64) uint64 { return 2*n*lg(n) + 2*n },
			},
			{
				Of: "total", Case: election.Worst, Formula: "2n⌊lg n⌋ + 3n", Source: "Franklin 1982, abstract",
				Value: func(n uint64) uint64 { return 2*n*lg(n) + 3*n },
			},
			{
				Of: "election", Case: election.Best, Formula: "4n, and 2 for n = 1", Source: "derived: two rounds, reached with a single local maximum",
				Value: func(n uint64) uint64 {
					if n == 1 {
						return 2
					}
					return 4 * n
				},
			},
		},
	},
	New:     New,
	Start:   (*Process).Start,
	Receive: (*Process).Receive,
	Phase:   func(_ election.Kind, m Message) int { return int(m.Round) },
}

func lg(n uint64) uint64 { return uint64(bits.Len64(n)) - 1 }

// New returns a process that is asleep.
func New(l election.Local) Process { return Process{ID: l.ID} }

// Start begins the first round, unless a message has done so.
func (p *Process) Start(out *election.Out[Message]) {
	if p.Status == Asleep {
		p.Status = Active
		p.send(out)
	}
}

// send applies F1.
func (p *Process) send(out *election.Out[Message]) {
	out.Send(0, Identifier, Message{p.ID, p.Round})
	out.Send(1, Identifier, Message{p.ID, p.Round})
}

// Receive handles a message.
func (p *Process) Receive(port election.Port, kind election.Kind, m Message, out *election.Out[Message]) {
	p.Start(out)
	switch {
	case kind == Leader: // F5
		if m.ID != p.ID {
			out.Send(1-port, Leader, m)
			out.Follow(m.ID, 0)
		}
	case p.Status == Passive: // F4
		out.Send(1-port, Identifier, m)
	case p.Waiting[0] == 0 || p.Port == port:
		p.wait(port, m.ID)
	default: // now both sides have sent
		other := p.Waiting[0]
		p.Waiting = [2]election.ID{p.Waiting[1]}
		p.compare(m.ID, other, out)
	}
}

// wait keeps an identifier that came on one port until one comes on the other. A third message would need another one
// from here before; so it would be a copy.
func (p *Process) wait(port election.Port, id election.ID) {
	switch {
	case p.Waiting[0] == 0:
		p.Waiting[0], p.Port = id, port
	case p.Waiting[1] == 0:
		p.Waiting[1] = id
	}
}

// compare ends a round, with one identifier from either side.
func (p *Process) compare(x, y election.ID, out *election.Out[Message]) {
	p.Round++
	switch {
	case x < p.ID && y < p.ID: // F2
		p.send(out)
	case x == p.ID && y == p.ID: // F3
		p.Status = Passive
		out.Lead(0)
		out.Send(0, Leader, Message{ID: p.ID}) // F5
	default: // F4
		p.Status = Passive
		if next := p.Waiting[0]; next != 0 {
			out.Send(1-p.Port, Identifier, Message{next, p.Round})
			p.Waiting[0] = 0
		}
	}
}
