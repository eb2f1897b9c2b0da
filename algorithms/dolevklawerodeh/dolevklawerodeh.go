// Package dolevklawerodeh elects the largest identifier on an asynchronous unidirectional ring with FIFO links
// (Dolev, Klawe and Rodeh 1982, simple algorithm). Active processes send two kinds of messages in turn, so that each
// learns the two values before its own. It continues with the nearer one if that is the largest of the three.
//
// Source: Dolev, Klawe, Rodeh, An O(n log n) unidirectional distributed algorithm for extrema finding in a circle, J.
// Algorithms 3(3), 1982, in the form of the example that comes with Spin (leader_trace.pml). Its rules are cited as
// D1 … D9 below:
//
//	Active, max = id; send one(max)                                   D1
//	one(v):     Active and v ≠ max: neighbour := v; send two(v)       D2
//	            Active and v = max: know := true; send winner(v)      D3
//	            not Active: send one(v)                               D4
//	two(v):     Active and neighbour > v and neighbour > max:
//	                max := neighbour; send one(max)                   D5
//	            Active otherwise: not Active any more                 D6
//	            not Active: send two(v)                               D7
//	winner(v):  if v = id then lead else follow v                     D8
//	            send winner(v), unless know                           D9
//
// Values move from process to process, so the process that finds the winner is usually not the winner. No process
// decides before the winner message arrives; the process that sent it decides last.
//
// A process reads its one input in order, so nothing depends on the schedule or on the initiators: a process that has
// not started does D1 on its first message. Messages that overtake each other would be taken for messages of other
// rounds. With queues of bounded length, a ring of n needs room for 2n messages.
//
// Cost: a round takes n messages of either kind. The values of the next round are the local maxima of this one, at
// most half as many. When the largest is alone after k ≤ ⌊lg n⌋ rounds, it goes round as one and then as winner:
// n(k+1) one, nk two and n winner messages.
package dolevklawerodeh

import (
	"math/bits"

	"ringleader.example/ringleader/election"
)

// Right is the only port that messages are sent on.
const Right election.Port = 0

// The kinds of message.
const (
	One election.Kind = iota
	Two
	Winner
)

// Message is one(v), two(v) or winner(v). The round, from 0, is for statistics: no step looks at it.
type Message struct {
	ID    election.ID
	Round uint8
}

// Status is the state of a process in the algorithm.
type Status uint8

// Asleep comes before Active, and Passive is "not Active".
const (
	Asleep Status = iota
	Active
	Passive
)

// Process is the state of one process.
type Process struct {
	ID        election.ID
	Max       election.ID
	Neighbour election.ID
	Status    Status
	Know      bool
	Round     uint8
}

// Algorithm is the simple algorithm of Dolev, Klawe and Rodeh.
var Algorithm = election.Algorithm[Process, Message]{
	Declaration: election.Declaration{
		Name:   "dolev-klawe-rodeh",
		Title:  "Dolev, Klawe, Rodeh",
		Year:   1982,
		Source: "Dolev–Klawe–Rodeh 1982, simple algorithm",
		About: "Active processes send one(value), then two(value before); a value survives, at the next process, if it is " +
			"greater than both its neighbours. The value that goes round alone is the largest, and its owner is the leader.",
		Topology: election.Ring,
		OneWay:   true,
		FIFO:     true,
		Counts:   election.CountsFixed,
		Winner:   election.Largest,
		Kinds: []election.MessageKind{
			{Name: "one", Class: election.Election},
			{Name: "two", Class: election.Election},
			{Name: "winner", Class: election.Announcement},
		},
		Bounds: []election.Bound{
			{
				Of: "election", Case: election.Worst, Formula: "2n⌊lg n⌋ + n", Source: "Dolev, Klawe, Rodeh 1982 (2n lg n + O(n)); reached for every n",
				Value: func(n uint64) uint64 { return 2*n*uint64(bits.Len64(n)-1) + n },
			},
			{
				Of: "election", Case: election.Best, Formula: "3n, and 1 for n = 1", Source: "derived: one round, and the largest goes round; reached by decreasing identifiers",
				Value: func(n uint64) uint64 {
					if n == 1 {
						return 1
					}
					return 3 * n
				},
			},
		},
	},
	New:     New,
	Start:   (*Process).Start,
	Receive: (*Process).Receive,
	Phase:   func(_ election.Kind, m Message) int { return int(m.Round) },
}

// New returns a process that is asleep.
func New(l election.Local) Process { return Process{ID: l.ID, Max: l.ID} }

// Start initiates an election, unless the process has joined one.
func (p *Process) Start(out *election.Out[Message]) {
	if p.Status == Asleep {
		p.Status = Active
		out.Send(Right, One, Message{p.Max, p.Round}) // D1
	}
}

// Receive handles a message, which can come on one port only.
func (p *Process) Receive(_ election.Port, kind election.Kind, m Message, out *election.Out[Message]) {
	p.Start(out) // a process that is asleep joins
	switch {
	case kind == Winner:
		if !p.Know { // D9
			out.Send(Right, Winner, m)
		}
		if m.ID == p.ID { // D8
			out.Lead(0)
		} else {
			out.Follow(m.ID, 0)
		}
	case p.Status == Passive:
		out.Send(Right, kind, m) // D4, D7
	case kind == One && m.ID != p.Max: // D2
		p.Neighbour = m.ID
		out.Send(Right, Two, m)
	case kind == One: // D3
		p.Know = true
		out.Send(Right, Winner, m)
	case p.Neighbour > m.ID && p.Neighbour > p.Max: // D5
		p.Max = p.Neighbour
		p.Round++
		out.Send(Right, One, Message{p.Max, p.Round})
	default:
		p.Status = Passive // D6
	}
}
