// Package peterson elects the largest identifier on an asynchronous unidirectional ring with FIFO links (Peterson
// 1982, first algorithm). In each phase an active process compares the value before its own with its own and the one
// before that. It continues with that value if it is the largest of the three.
//
// Source: Peterson, An O(n log n) unidirectional algorithm for the circular extrema problem, ACM TOPLAS 4(4), 1982.
// Its lines are cited as P1 … P9 below:
//
//	tid := id                                                 P1
//	active: send(tid)                                         P2
//	        receive(ntid); if ntid = id then elected          P3
//	        send(max(tid, ntid))                              P4
//	        receive(nntid); if nntid = id then elected        P5
//	        if ntid >= max(tid, nntid) then tid := ntid       P6
//	        else goto relay                                   P7
//	relay:  receive(tid); if tid = id then elected            P8
//	        send(tid)                                         P9
//
// A process reads its one input in order, so nothing depends on the schedule or on the initiators: a process that has
// not started runs P1 and P2 on its first message. Messages that overtake each other would be taken for one another.
// The elected process announces itself.
//
// Cost: the values of the next phase are the local maxima of this one, at most half as many. A phase takes 2n
// messages, until the largest value is alone after k phases, 2^k ≤ n. Then it needs one message for each hop that is
// left to its origin. In each phase it has moved on to the next active process. In phase i, from 0, these are at
// least 2^i apart, so at least 2^k-1 of n hops are behind it. (When two are left, its second message already reaches
// its origin, which only saves messages.)
package peterson

import (
	"math/bits"

	"ringleader.example/ringleader/election"
)

// Right is the only port that messages are sent on.
const Right election.Port = 0

// The kinds of message.
const (
	Value election.Kind = iota
	Announcement
)

// Message is a value, or the announcement of one. The phase, from 0, is for statistics: no step looks at it.
type Message struct {
	ID    election.ID
	Phase uint8
}

// Status is the place of a process in its program.
type Status uint8

// The places.
const (
	Asleep Status = iota
	First         // before P3
	Second        // before P5
	Relay         // before P8
	Elected
)

// Process is the state of one process.
type Process struct {
	ID     election.ID
	TID    election.ID // its present value
	NTID   election.ID // the value before
	Status Status
	Phase  uint8
}

// Algorithm is Peterson's first algorithm.
var Algorithm = election.Algorithm[Process, Message]{
	Declaration: election.Declaration{
		Name:   "peterson",
		Title:  "Peterson",
		Year:   1982,
		Source: "Peterson 1982, first algorithm",
		About: "Active processes send their values twice in a phase, so that each knows the two before its own; " +
			"it continues with the nearer one if that is the largest of the three. At most half of them stay active.",
		Topology: election.Ring,
		OneWay:   true,
		FIFO:     true,
		Counts:   election.CountsFixed,
		Winner:   election.Largest,
		Kinds:    []election.MessageKind{{Name: "value", Class: election.Election}, {Name: "announcement", Class: election.Announcement}},
		Bounds: []election.Bound{
			{
				Of: "election", Case: election.Worst, Formula: "2n⌊lg n⌋ + n + 1 - 2^⌊lg n⌋", Source: "derived in the package comment; reached for n = 1, 2, 3, 6, 7, 12",
				Value: func(n uint64) uint64 {
					k := uint64(bits.Len64(n)) - 1
					return 2*n*k + n + 1 - 1<<k
				},
			},
			{
				Of: "election", Case: election.Best, Formula: "3n-1, and 1 for n = 1", Source: "derived: one phase, and all hops but one of another; reached by decreasing identifiers",
				Value: func(n uint64) uint64 {
					if n == 1 {
						return 1
					}
					return 3*n - 1
				},
			},
		},
	},
	New:     New,
	Start:   (*Process).Start,
	Receive: (*Process).Receive,
	Phase:   func(_ election.Kind, m Message) int { return int(m.Phase) },
}

// New returns a process that is asleep: P1.
func New(l election.Local) Process { return Process{ID: l.ID, TID: l.ID} }

// Start initiates an election, unless the process has joined one.
func (p *Process) Start(out *election.Out[Message]) {
	if p.Status == Asleep {
		p.send(out)
	}
}

// send begins a phase.
func (p *Process) send(out *election.Out[Message]) {
	out.Send(Right, Value, Message{p.TID, p.Phase}) // P2
	p.Status = First
}

// Receive handles a message, which can come on one port only.
func (p *Process) Receive(_ election.Port, kind election.Kind, m Message, out *election.Out[Message]) {
	p.Start(out) // a process that is asleep joins
	switch {
	case p.Status == Elected: // swallow messages still in transit, and last the announcement
	case kind == Announcement:
		out.Send(Right, Announcement, m)
		out.Follow(m.ID, 0)
	case m.ID == p.ID: // P3, P5, P8
		out.Send(Right, Announcement, m)
		p.Status = Elected
		out.Lead(0)
	case p.Status == First:
		p.NTID = m.ID                                                // P3
		out.Send(Right, Value, Message{max(p.TID, p.NTID), p.Phase}) // P4
		p.Status = Second
	case p.Status == Second && p.NTID >= max(p.TID, m.ID): // P6
		p.TID = p.NTID
		p.Phase++
		p.send(out)
	case p.Status == Second:
		p.Status = Relay // P7
	default:
		out.Send(Right, Value, m) // P9
	}
}
