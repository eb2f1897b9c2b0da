// Package lcr elects the largest identifier on a one-directional ring, after LeLann, Chang and Roberts:
// each identifier travels clockwise until a process with a greater one swallows it.
//
// Source: S2 section 2.2, lines 1-14; cited as L1 … L14 below.
package lcr

import "ringleader.example/ringleader/election"

// Right is the only port that is sent on.
const Right election.Port = 0

// The messages.
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
	Textbook    bool `election:"constant"` // forwarding makes a participant, too
}

// The parameter.
var flag = election.Choice{
	Name:  "flag",
	About: "who becomes a participant: literal, as S2's code, who sends its own identifier; textbook, who forwards one as well",
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
			"The one that comes home is the largest, and its owner announces itself.",
		Topology:   election.Ring,
		OneWay:     true,
		Counts:     election.CountsAllFirst,
		Winner:     election.Largest,
		Kinds:      []election.MessageKind{{Name: "election", Class: election.Election}, {Name: "leader", Class: election.Announcement}},
		Parameters: []election.Parameter{&flag},
		Bounds: []election.Bound{
			{
				Of: "election", Case: election.Worst, Formula: "n(n+1)/2", Source: "S2 section 2.2.1, reached by falling identifiers, all start",
				Value: func(n uint64) uint64 { return n * (n + 1) / 2 },
			},
			{
				Of: "election", Case: election.Best, Formula: "n", Source: "reached when the largest alone starts",
				Value: func(n uint64) uint64 { return n },
			},
			{
				Of: "election", Case: election.Average, Formula: "n·H(n)", Source: "Chang–Roberts 1979, all start",
				Mean: func(n uint64) float64 { return float64(n) * election.Harmonic(n) },
			},
		},
	},
	New:     New,
	Start:   (*Process).Start,
	Receive: (*Process).Receive,
}

// New is a process that sleeps.
func New(l election.Local) Process {
	return Process{ID: l.ID, Textbook: flag.Is(l.Parameters, "textbook")}
}

// Start initiates an election. The source has no guard: one who joined or knows the leader already
// would send its identifier a second time, and the largest would win twice.
func (p *Process) Start(out *election.Out[Message]) {
	if !p.Participant && !p.Decided {
		out.Send(Right, Election, Message{p.ID}) // L3
		p.Participant = true                     // L4
	}
}

// Receive handles a message. It can come on one port only.
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
