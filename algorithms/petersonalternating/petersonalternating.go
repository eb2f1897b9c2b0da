// Package petersonalternating elects the largest identifier on an asynchronous unidirectional ring with FIFO links,
// with one value a process and phase (Peterson 1982, improved algorithm). In odd phases a value survives if it is
// greater than the one before it. In even phases a smaller one is replaced by the one before it.
//
// Source: Peterson, An O(n log n) unidirectional algorithm for the circular extrema problem, ACM TOPLAS 4(4), 1982.
// Its lines are cited as P1 … P6 below, and additions as P7 … P9:
//
//	tid := id                                                               P1
//	active: send(tid); receive(ntid)                                        P2
//	        if ntid = tid then tid is the largest                           P3
//	        odd phases: if tid > ntid then next phase else relay            P4
//	        even phases: if ntid > tid then tid := ntid, next phase
//	                     else relay                                         P5
//	relay:  receive(tid); send(tid)                                         P6
//	the process that finds the largest announces it                         P7
//	announcement of v: if v = id then lead else follow v                    P8
//	                   send it on, unless the process has announced it      P9
//
// The process that finds the largest is usually not its owner, since values move in even phases. So the owner learns
// from the announcement that it leads, as all others learn their leader.
//
// A process reads its one input in order, so nothing depends on the schedule or on the initiators: a process that has
// not started runs P1 and P2 on its first message. Messages that overtake each other would be taken for messages of
// other phases.
//
// Cost: every phase takes n messages. Let y be active after phase i+1, and x the active process before it. Then a
// process between x and y became passive in phase i. Suppose there was none. If phase i is odd, y's value would be
// greater than x's, and y would become passive in phase i+1. If it is even, y would have got the value that x gave up
// for a greater one, and become passive, too. So of a(i) active processes a(i+2) ≤ a(i) - a(i+1) are left two phases
// later. Since the last two phases have 1 and at least 2, n ≥ F(phases + 1), a Fibonacci number.
package petersonalternating

import "ringleader.example/ringleader/election"

// Right is the only port that messages are sent on.
const Right election.Port = 0

// The kinds of message.
const (
	Value election.Kind = iota
	Announcement
)

// Message is a value, or the announcement of one. The phase, from 1, is for statistics: no step looks at it.
type Message struct {
	ID    election.ID
	Phase uint8
}

// Status is the place of a process in its program.
type Status uint8

// The places.
const (
	Asleep Status = iota
	Active
	Relay
	Finder // it has announced the largest
)

// Process is the state of one process.
type Process struct {
	ID     election.ID
	TID    election.ID // its present value
	Status Status
	Phase  uint8
}

// Algorithm is Peterson's improved algorithm.
var Algorithm = election.Algorithm[Process, Message]{
	Declaration: election.Declaration{
		Name:   "peterson-alternating",
		Title:  "Peterson, alternating phases",
		Year:   1982,
		Source: "Peterson 1982, improved algorithm",
		About: "One value per process and phase. In odd phases it survives if it is greater than the one before it; in even phases " +
			"the one before it replaces it if that is greater. A process that gets its own value back announces it, and its owner is the leader.",
		Topology: election.Ring,
		OneWay:   true,
		FIFO:     true,
		Counts:   election.CountsFixed,
		Winner:   election.Largest,
		Kinds:    []election.MessageKind{{Name: "value", Class: election.Election}, {Name: "announcement", Class: election.Announcement}},
		Bounds: []election.Bound{
			{
				Of: "election", Case: election.Worst, Formula: "n·p, p the greatest with F(p+1) ≤ n (Fibonacci), about 1.44 n lg n", Source: "Peterson 1982; reached for n up to 12",
				Value: func(n uint64) uint64 { return n * phases(n) },
			},
			{
				Of: "election", Case: election.Best, Formula: "2n, and 1 for n = 1", Source: "derived: two phases; reached by decreasing identifiers",
				Value: func(n uint64) uint64 { return n * min(n, 2) },
			},
		},
	},
	New:     New,
	Start:   (*Process).Start,
	Receive: (*Process).Receive,
	Phase:   func(_ election.Kind, m Message) int { return int(m.Phase) },
}

// phases returns the most phases that n processes can need: the greatest p with F(p+1) ≤ n.
func phases(n uint64) uint64 {
	p, this, next := uint64(1), uint64(1), uint64(2) // F(p+1) and F(p+2)
	for next <= n {
		p, this, next = p+1, next, this+next
	}
	return p
}

// New returns a process that is asleep: P1.
func New(l election.Local) Process { return Process{ID: l.ID, TID: l.ID} }

// Start initiates an election, unless the process has joined one.
func (p *Process) Start(out *election.Out[Message]) {
	if p.Status == Asleep {
		p.Status = Active
		p.enter(1, out)
	}
}

// enter begins a phase.
func (p *Process) enter(phase uint8, out *election.Out[Message]) {
	p.Phase = phase
	out.Send(Right, Value, Message{p.TID, phase}) // P2
}

// Receive handles a message, which can come on one port only.
func (p *Process) Receive(_ election.Port, kind election.Kind, m Message, out *election.Out[Message]) {
	p.Start(out) // a process that is asleep joins
	odd := p.Phase%2 == 1
	switch {
	case kind == Announcement:
		if p.Status != Finder { // P9
			out.Send(Right, Announcement, m)
		}
		if m.ID == p.ID { // P8
			out.Lead(0)
		} else {
			out.Follow(m.ID, 0)
		}
	case p.Status != Active:
		out.Send(Right, Value, m) // P6
	case m.ID == p.TID: // P3
		p.Status = Finder
		out.Send(Right, Announcement, m) // P7
	case odd && p.TID > m.ID: // P4
		p.enter(p.Phase+1, out)
	case !odd && m.ID > p.TID: // P5
		p.TID = m.ID
		p.enter(p.Phase+1, out)
	default: // P4, P5
		p.Status = Relay
	}
}
