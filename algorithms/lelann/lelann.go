// Package lelann elects a largest identifier on a one-directional ring, after LeLann: every identifier goes
// all the way round, everybody remembers the largest that it has seen, and who sees its own again has seen all.
//
// Source: G. LeLann, "Distributed systems: towards a formal approach", IFIP Congress 1977; the L of S2's LCR.
// His list of identifiers is only ever asked for its largest, so that is all that is kept. Cited by rule:
//
//  1. An initiator sends its own identifier.
//  2. Whoever receives another's identifier remembers it and passes it on.
//  3. Whoever receives its own has seen those of all initiators: it leads if its own is the largest, and
//     otherwise follows the largest.
//
// Rule 3 needs links that keep the order of messages, and says nothing of who has passed on an identifier
// before it started: if it started after that, somebody would decide without having seen it. The parameter
// late says what it does instead; both are sound:
//
//   - join: it sends its own identifier first, then passes on. So everybody is an initiator in the end, all
//     see all n identifiers, whenever who starts, and nobody needs an announcement: always n² messages.
//   - lost: it only passes on from then on, and never starts. Of k initiators the largest wins, after k·n
//     messages, and announces itself in n more to those that are lost. Who is an initiator depends on the
//     schedule, unless those that start do so before anything is delivered.
package lelann

import "ringleader.example/ringleader/election"

// Right is the only port that is sent on.
const Right election.Port = 0

// The messages.
const (
	Identifier election.Kind = iota
	Leader
)

// Message is an identifier on its way round, or that of the leader.
type Message struct{ ID election.ID }

// Process is the state of one process.
type Process struct {
	ID        election.ID
	Largest   election.ID // of those seen
	Initiator bool        // its identifier is on its way, or has been
	Lost      bool        // it has passed on before it could start
	Losing    bool        `election:"constant"` // late=lost
}

// The parameter.
var late = election.Choice{
	Name: "late",
	About: "who is reached by an identifier before it starts: join, sends its own first; " +
		"lost, only passes on, so that the largest of those that started in time wins, and announces itself",
	Words: []string{"join", "lost"},
}

// Algorithm is LeLann's.
var Algorithm = election.Algorithm[Process, Message]{
	Declaration: election.Declaration{
		Name:   "lelann",
		Title:  "LeLann",
		Year:   1977,
		Source: "LeLann 1977",
		About: "Every identifier travels all the way round; who receives its own has seen all, and knows the largest. " +
			"Who is reached before it starts either joins at once or is lost as a candidate.",
		Topology:   election.Ring,
		OneWay:     true,
		FIFO:       true,
		Counts:     election.CountsFixed,
		Winner:     election.Largest,
		Kinds:      []election.MessageKind{{Name: "identifier", Class: election.Election}, {Name: "leader", Class: election.Announcement}},
		Parameters: []election.Parameter{&late},
		Bounds: []election.Bound{
			{Of: "election", Case: election.Worst, Formula: "n²", Source: "LeLann 1977; each of n identifiers makes n hops", Value: square},
			{Of: "election", Case: election.Best, Formula: "n²", Source: "all join, whenever who starts", Value: square},
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

// revise says what is claimed of late=lost.
func revise(d *election.Declaration, p election.Parameters) {
	if late.Is(p, "join") {
		return
	}
	d.Counts = election.CountsStartFirst
	d.Winner = election.Unspecified // the largest initiator, and the schedule says who is one
	d.Bounds = []election.Bound{
		d.Bounds[0],
		{
			Of: "election", Case: election.Best, Formula: "n", Source: "reached when one process starts",
			Value: func(n uint64) uint64 { return n },
		},
		{
			Of: "election", Case: election.Average, Formula: "n²", Source: "all start first",
			Mean: d.Bounds[2].Mean,
		},
		{
			Of: "announcement", Case: election.Worst, Formula: "n", Source: "the announcement goes round once",
			Value: func(n uint64) uint64 { return n },
		},
	}
}

// New is a process that sleeps.
func New(l election.Local) Process {
	return Process{ID: l.ID, Largest: l.ID, Losing: late.Is(l.Parameters, "lost")}
}

// Start is rule 1, unless a message came first.
func (p *Process) Start(out *election.Out[Message]) {
	if !p.Initiator && !p.Lost {
		p.Initiator = true
		out.Send(Right, Identifier, Message{p.ID})
	}
}

// Receive handles a message. It can come on one port only.
func (p *Process) Receive(_ election.Port, kind election.Kind, m Message, out *election.Out[Message]) {
	switch {
	case kind == Leader:
		p.hear(m, out)
	case m.ID == p.ID:
		p.decide(out)
	default: // rule 2, of a late one as the parameter says
		p.Lost = p.Lost || p.Losing && !p.Initiator
		p.Start(out)
		p.Largest = max(p.Largest, m.ID)
		out.Send(Right, Identifier, m)
	}
}

// decide is rule 3.
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

// hear is the announcement, which goes round once. Initiators have decided by then: their own identifier
// was on its way before the announcement was, and nothing overtakes.
func (p *Process) hear(m Message, out *election.Out[Message]) {
	if m.ID == p.ID {
		return
	}
	out.Send(Right, Leader, m)
	if p.Lost {
		out.Follow(m.ID, 0)
	}
}
