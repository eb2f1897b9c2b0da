// Package lcr elects the largest identifier on an asynchronous unidirectional ring (LeLann 1977; Chang and Roberts
// 1979). Each identifier travels clockwise until a process with a greater one swallows it.
//
// Source: S2 section 2.2, lines 1-14; cited as L1 … L14 below. FIFO links are not required, nor any knowledge of
// neighbours. Start has a guard that the source lacks.
package lcr

import "ringleader.example/ringleader/election"

// Right is the only port that messages are sent on.
const Right election.Port = 0

// The kinds of message.
const (
	Election election.Kind = iota
	Leader
)

// Message is ELECTION(j) or LEADER(j).
type Message struct{ ID election.ID }

// Process is the state of one process.
type Process struct {
	ID          election.ID
	Participant bool // L1
	Decided     bool // L2: leader-id is not null
	Textbook    bool `election:"constant"` // a process that forwards an identifier is a participant, too
}

// The parameter.
var flag = election.Choice{
	Name:  "flag",
	About: "when a process becomes a participant: literal, as in S2's code, when it sends its own identifier; textbook, also when it forwards one",
	Words: []string{"literal", "textbook"},
}

// Algorithm is LCR.
var Algorithm = election.Algorithm[Process, Message]{
	Declaration: election.Declaration{
		Name:   "lcr",
		Title:  "LCR (LeLann, Chang, Roberts)",
		Year:   1979,
		Source: "Chang–Roberts 1979; S2 section 2.2",
		About: "Every participant sends its identifier round the ring; a process swallows the smaller ones. " +
			"The identifier that returns to its origin is the largest, and its owner announces itself.",
		Topology:   election.Ring,
		OneWay:     true,
		Counts:     election.CountsAllFirst,
		Winner:     election.Largest,
		Kinds:      []election.MessageKind{{Name: "election", Class: election.Election}, {Name: "leader", Class: election.Announcement}},
		Parameters: []election.Parameter{&flag},
		Bounds: []election.Bound{
			{
				Of: "election", Case: election.Worst, Formula: "n(n+1)/2", Source: "S2 section 2.2.1; reached by decreasing identifiers if all initiate",
				Value: func(n uint64) uint64 { return n * (n + 1) / 2 },
			},
			{
				Of: "election", Case: election.Best, Formula: "n", Source: "reached if the largest alone initiates",
				Value: func(n uint64) uint64 { return n },
			},
			{
				Of: "election", Case: election.Average, Formula: "n·H(n)", Source: "Chang–Roberts 1979, if all initiate",
				Mean: func(n uint64) float64 { return float64(n) * election.Harmonic(n) },
			},
		},
	},
	New:     New,
	Start:   (*Process).Start,
	Receive: (*Process).Receive,
}

// New returns a process that is asleep.
func New(l election.Local) Process {
	return Process{ID: l.ID, Textbook: flag.Is(l.Parameters, "textbook")}
}

// Start initiates an election. The source has no guard: a process that has joined or knows the leader would send its
// identifier a second time, and the largest would win twice.
func (p *Process) Start(out *election.Out[Message]) {
	if !p.Participant && !p.Decided {
		out.Send(Right, Election, Message{p.ID}) // L3
		p.Participant = true                     // L4
	}
}

// Receive handles a message, which can come on one port only.
func (p *Process) Receive(_ election.Port, kind election.Kind, m Message, out *election.Out[Message]) {
	switch {
	case kind == Leader: // L11
		p.Decided = true // L12
		if p.ID == m.ID {
			out.Lead(0)
		} else { // L13
			out.Follow(m.ID, 0)
			out.Send(Right, Leader, m)
		}
	case m.ID > p.ID: // L6
		out.Send(Right, Election, m)
		p.Participant = p.Participant || p.Textbook
	case m.ID == p.ID: // L7
		out.Send(Right, Leader, m)
	case !p.Participant: // L8: m.ID < p.ID
		out.Send(Right, Election, Message{p.ID}) // L9
		p.Participant = true                     // L10
	}
}
