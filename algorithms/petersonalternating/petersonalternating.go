// Package petersonalternating finds the largest identifier on a one-directional ring with one value a
// process and phase, after Peterson: in odd phases a value must be greater than the one before it, in even
// phases less, and then gives way to it.
//
// Source: Peterson, An O(n log n) unidirectional algorithm for the circular extrema problem, ACM TOPLAS
// 4(4), 1982, the improved algorithm; its lines are cited as P1 … P6 below, and what was added as P7 … P9:
//
//	tid := id                                                               P1
//	active: send(tid); receive(ntid)                                        P2
//	        if ntid = tid then tid is the largest                           P3
//	        odd phases: if tid > ntid then next phase else relay            P4
//	        even phases: if ntid > tid then tid := ntid, next phase
//	                     else relay                                         P5
//	relay:  receive(tid); send(tid)                                         P6
//	who finds the largest announces it                                      P7
//	announcement of v: if v = id then lead else follow v                    P8
//	                   send it on, unless it is the own that is home        P9
//
// Who finds the largest is mostly not who owns it, since values wander in even phases: so the owner learns
// from the announcement that it leads, as everybody else learns whom to follow.
//
// The program of a process reads its one input in order, so nothing depends on the schedule or on who
// starts: who has not started runs P1 and P2 when its first message comes. Messages that overtake each
// other would be taken for those of other phases.
//
// What it costs: every phase takes n messages. If y goes on after phase i+1, somebody between x, the active
// process before it, and y fell in phase i: if nobody had been between them in an odd phase i, y's value
// would be greater than x's, and y fall in phase i+1; in an even one, y would have got the value that x gave
// up for a greater one, and fall, too. So of a(i) active processes a(i+2) ≤ a(i) - a(i+1) are left two phases
// later; and since the last two phases have 1 and at least 2, n ≥ F(phases + 1), a number of Fibonacci.
package petersonalternating

import "ringleader.example/ringleader/election"

// Right is the only port that is sent on.
const Right election.Port = 0

// The messages.
const (
	Value election.Kind = iota
	Announcement
)

// Message is a value, or the announcement of one. The phase, from 1, is for statistics: no step looks at it.
type Message struct {
	ID    election.ID
	Phase uint8
}

// Status says where in its program a process is.
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
	TID    election.ID // its value for now
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
		About: "One value a process and phase. In odd phases it must be greater than the one before it; in even phases " +
			"less, and then gives way to that one. Who gets its own value back announces it, and its owner leads.",
		Topology: election.Ring,
		OneWay:   true,
		FIFO:     true,
		Counts:   election.CountsFixed,
		Winner:   election.Largest,
		Kinds:    []election.MessageKind{{Name: "value", Class: election.Election}, {Name: "announcement", Class: election.Announcement}},
		Bounds: []election.Bound{
			{
				Of: "election", Case: election.Worst, Formula: "n·p, p the greatest with F(p+1) ≤ n (Fibonacci), about 1.44 n lg n", Source: "Peterson 1982; reached for n up to 8",
				Value: func(n uint64) uint64 { return n * phases(n) },
			},
			{
				Of: "election", Case: election.Best, Formula: "2n, and 1 for n = 1", Source: "derived: two phases; reached by falling identifiers",
				Value: func(n uint64) uint64 { return n * min(n, 2) },
			},
		},
	},
	New:     New,
	Start:   (*Process).Start,
	Receive: (*Process).Receive,
	Phase:   func(_ election.Kind, m Message) int { return int(m.Phase) },
}

// phases is the most phases that n processes can need: the greatest p with F(p+1) ≤ n.
func phases(n uint64) uint64 {
	p, this, next := uint64(1), uint64(1), uint64(2) // F(p+1) and F(p+2)
	for next <= n {
		p, this, next = p+1, next, this+next
	}
	return p
}

// New is a process that sleeps: P1.
func New(l election.Local) Process { return Process{ID: l.ID, TID: l.ID} }

// Start initiates an election, unless the process has joined one.
func (p *Process) Start(out *election.Out[Message]) {
	if p.Status == Asleep {
		p.Status = Active
		p.enter(1, out)
	}
}

// enter enters a phase.
func (p *Process) enter(phase uint8, out *election.Out[Message]) {
	p.Phase = phase
	out.Send(Right, Value, Message{p.TID, phase}) // P2
}

// Receive handles a message. It can come on one port only.
func (p *Process) Receive(_ election.Port, kind election.Kind, m Message, out *election.Out[Message]) {
	p.Start(out) // whoever sleeps joins
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
