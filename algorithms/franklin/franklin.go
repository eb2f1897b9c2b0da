// Package franklin elects the largest identifier on a ring of two directions whose processes need not agree
// which is which, after Franklin: round by round the local maxima among those still active go on.
//
// Source: W. R. Franklin, "On an improved algorithm for decentralized extrema finding in circular
// configurations of processors", Communications of the ACM 25(5), 1982. Cited below by rule:
//
//	F1  an active process sends its identifier both ways, and waits for one from either side
//	F2  both smaller: it is active in the next round, F1
//	F3  both its own: it is the only one left, and leads
//	F4  otherwise it is passive: whatever comes on one port goes out of the other
//	F5  the leader announces itself once round the ring
//
// A message says nothing of its round that a step looks at, so links have to keep the order of messages.
// Then the i-th identifier on a port is the neighbour's in round i. A neighbour can be a round ahead, while
// the other side is slow: its second message waits at the port, and goes on if the process turns passive.
//
// Who has not started when a message comes starts first. So all take part, whoever starts, and rounds are
// the same under every schedule: 2n messages in each. At most half of the active are local maxima, so all
// but one are passive after k rounds, 2^k ≤ n; the last round brings the leader its own identifier twice.
package franklin

import (
	"math/bits"

	"ringleader.example/ringleader/election"
)

// The messages.
const (
	Identifier election.Kind = iota
	Leader
)

// Message is the identifier of a process that is active, or leads. The round, from 0, is for statistics only.
type Message struct {
	ID    election.ID
	Round uint8
}

// Status says which rules bind a process.
type Status uint8

// The states.
const (
	Asleep Status = iota
	Active
	Passive
)

// Process is the state of one process.
type Process struct {
	ID      election.ID
	Waiting [2]election.ID // what has come on Port only: of this round, and of the next; 0 is nothing
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
		About: "Active processes exchange identifiers with their active neighbours; local maxima go on, the others only " +
			"pass on. At most half go on, and who hears itself from both sides is alone.",
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
				Of: "election", Case: election.Best, Formula: "4n, and 2 for n = 1", Source: "derived: two rounds, reached where one local maximum is all",
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

// New is a process that sleeps.
func New(l election.Local) Process { return Process{ID: l.ID} }

// Start begins the first round, unless a message has done so.
func (p *Process) Start(out *election.Out[Message]) {
	if p.Status == Asleep {
		p.Status = Active
		p.send(out)
	}
}

// send is F1.
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
	default: // now there is one from either side
		other := p.Waiting[0]
		p.Waiting = [2]election.ID{p.Waiting[1]}
		p.compare(m.ID, other, out)
	}
}

// wait keeps what came on one port until something comes on the other. For a third message the neighbour
// would need another one from here; so that would be a copy.
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
