// Package lelann elects the largest identifier on a unidirectional ring with FIFO links (LeLann 1977). Every
// identifier goes all the way round. Each process remembers the largest that it has seen; its own returns when it
// has seen all.
//
// Source: G. LeLann, "Distributed systems: towards a formal approach", IFIP Congress 1977; the L of S2's LCR. His
// list of identifiers is only used for its largest, so only that is kept. Cited by rule:
//
//  1. An initiator sends its own identifier.
//  2. A process that receives another's identifier remembers it and passes it on.
//  3. A process that receives its own has seen those of all initiators. It leads if its own is the largest, and
//     follows the largest otherwise.
//
// Rule 3 requires FIFO links. It does not define the behaviour of a process that has passed on an identifier before
// its start: if it started after that, another process would decide without having seen its identifier. The parameter
// late selects one of two sound rules:
//
//   - join: it sends its own identifier first, then passes on. So all processes become initiators and see all n
//     identifiers, for any start times, and no announcement is needed: always n² messages.
//   - lost: from then on it only passes on, and never starts. Of k initiators the largest wins after k·n messages,
//     and announces itself to the lost processes with n more. The set of initiators depends on the schedule, unless
//     they all start before the first delivery.
package lelann

import "ringleader.example/ringleader/election"

// Right is the only port that messages are sent on.
const Right election.Port = 0

// The kinds of message.
const (
	Identifier election.Kind = iota
	Leader
)

// Message is an identifier on its way round, or the leader's.
type Message struct{ ID election.ID }

// Process is the state of one process.
type Process struct {
	ID        election.ID
	Largest   election.ID // of those seen
	Initiator bool        // its identifier is on its way, or has been
	Lost      bool        // it has passed on an identifier before it could start
	Losing    bool        `election:"constant"` // late=lost
}

// The parameter.
var late = election.Choice{
	Name: "late",
	About: "what a process does if an identifier reaches it before it initiates: join, it sends its own first; " +
		"lost, it only passes on, so that the largest initiator wins, and announces itself",
	Words: []string{"join", "lost"},
}

// Algorithm is LeLann's.
var Algorithm = election.Algorithm[Process, Message]{
	Declaration: election.Declaration{
		Name:   "lelann",
		Title:  "LeLann",
		Year:   1977,
		Source: "LeLann 1977",
		About: "Every identifier travels all the way round; a process that receives its own has seen all, and knows the largest. " +
			"If a message reaches a process before it initiates, the process either joins at once or is no candidate.",
		Topology:   election.Ring,
		OneWay:     true,
		FIFO:       true,
		Counts:     election.CountsFixed,
		Winner:     election.Largest,
		Kinds:      []election.MessageKind{{Name: "identifier", Class: election.Election}, {Name: "leader", Class: election.Announcement}},
		Parameters: []election.Parameter{&late},
		Bounds: []election.Bound{
			{Of: "election", Case: election.Worst, Formula: "n²", Source: "LeLann 1977; each of n identifiers makes n hops", Value: square},
			{Of: "election", Case: election.Best, Formula: "n²", Source: "all join, for any start times", Value: square},
			{
				Of: "election", Case: election.Average, Formula: "n²", Source: "the same in every run",
				Mean: func(n uint64) float64 { return float64(n) * float64(n) },
			},
		},
		Adjust: revise,
	},
	New:     New,
	Start:   (*Process).Start,
	Receive: (*Process).Receive,
}

func square(n uint64) uint64 { return n * n }

// revise changes the declaration for late=lost.
func revise(d *election.Declaration, p election.Parameters) {
	if late.Is(p, "join") {
		return
	}
	d.Counts = election.CountsStartFirst
	d.Winner = election.Unspecified // the largest initiator, and the schedule decides the set of initiators
	d.Bounds = []election.Bound{
		d.Bounds[0],
		{
			Of: "election", Case: election.Best, Formula: "n", Source: "reached with one initiator",
			Value: func(n uint64) uint64 { return n },
		},
		{
			Of: "election", Case: election.Average, Formula: "n²", Source: "if all start before the first delivery",
			Mean: d.Bounds[2].Mean,
		},
		{
			Of: "announcement", Case: election.Worst, Formula: "n", Source: "the announcement goes round once",
			Value: func(n uint64) uint64 { return n },
		},
	}
}

// New returns a process that is asleep.
func New(l election.Local) Process {
	return Process{ID: l.ID, Largest: l.ID, Losing: late.Is(l.Parameters, "lost")}
}

// Start applies rule 1, unless a message came first.
func (p *Process) Start(out *election.Out[Message]) {
	if !p.Initiator && !p.Lost {
		p.Initiator = true
		out.Send(Right, Identifier, Message{p.ID})
	}
}

// Receive handles a message, which can come on one port only.
func (p *Process) Receive(_ election.Port, kind election.Kind, m Message, out *election.Out[Message]) {
	switch {
	case kind == Leader:
		p.hear(m, out)
	case m.ID == p.ID:
		p.decide(out)
	default: // rule 2; the parameter decides for a late process
		p.Lost = p.Lost || p.Losing && !p.Initiator
		p.Start(out)
		p.Largest = max(p.Largest, m.ID)
		out.Send(Right, Identifier, m)
	}
}

// decide applies rule 3.
func (p *Process) decide(out *election.Out[Message]) {
	if p.Largest != p.ID {
		out.Follow(p.Largest, 0)
		return
	}
	out.Lead(0)
	if p.Losing {
		out.Send(Right, Leader, Message{p.ID})
	}
}

// hear handles the announcement, which goes round once. Initiators have decided by then: their own identifier was
// sent before the announcement, and FIFO links keep that order.
func (p *Process) hear(m Message, out *election.Out[Message]) {
	if m.ID == p.ID {
		return
	}
	out.Send(Right, Leader, m)
	if p.Lost {
		out.Follow(m.ID, 0)
	}
}
