// Package ringbullysimple elects the largest identifier on an asynchronous unidirectional ring: the simpler version
// with which S1 introduces its Bully. Each processor sends its identifier clockwise, and only greater ones are passed
// on.
//
// Source: S1 section 13.3, the paragraph "Let us begin with a simpler version"; cited by its sentences:
//
//	"each processor sends a message around the ring containing the identifier of the processor" (send)
//	"passes on such message only if the identifier … is strictly larger" (pass on, swallow)
//	"The processor can detect that such message has come back" (come back)
//	"sends a special message around the ring forcing all others to decide not to be leaders" (terminate)
//
// Each processor starts by itself at some time, and no message wakes it. A processor that has not started yet passes
// on and swallows identifiers. It sends its own identifier later all the same, even after it has decided. So the
// number of messages depends only on the order of the identifiers. That is the difference from LCR, where a processor
// that sees a greater identifier first never sends its own.
package ringbullysimple

import "ringleader.example/ringleader/election"

// CW is the link that leads clockwise, the only one that messages are sent on.
const CW election.Port = 0

// The kinds of message.
const (
	Identifier election.Kind = iota
	Terminate
)

// Message carries an identifier; terminate carries none.
type Message struct {
	ID election.ID `kinds:"identifier"`
}

// Process is the state of one processor.
type Process struct {
	ID      election.ID
	Decided bool // leader is TRUE or FALSE, no longer NIL
}

// Algorithm is S1's simpler Bully.
var Algorithm = election.Algorithm[Process, Message]{
	Declaration: election.Declaration{
		Name:   "ring-bully-simple",
		Title:  "Simple Bully on a ring",
		Year:   1979,
		Source: "Algorithms of Informatics §13.3 (S1)",
		About: "Every processor sends its identifier round the ring, and only greater ones are passed on. " +
			"The largest returns to its origin; its owner announces that to all others.",
		Topology: election.Ring,
		OneWay:   true,
		Starts:   election.AllStart,
		Counts:   election.CountsFixed,
		Winner:   election.Largest,
		Kinds:    []election.MessageKind{{Name: "identifier", Class: election.Election}, {Name: "terminate", Class: election.Announcement}},
		Bounds: []election.Bound{
			{
				Of: "election", Case: election.Worst, Formula: "n(n+1)/2", Source: "S1 exercise 13.3-1; reached by decreasing identifiers",
				Value: func(n uint64) uint64 { return n * (n + 1) / 2 },
			},
			{
				Of: "election", Case: election.Best, Formula: "2n-1", Source: "derived; reached by increasing identifiers",
				Value: func(n uint64) uint64 { return 2*n - 1 },
			},
			{
				Of: "election", Case: election.Average, Formula: "n·H(n)", Source: "Chang and Roberts 1979",
				Mean: func(n uint64) float64 { return float64(n) * election.Harmonic(n) },
			},
		},
	},
	New:     New,
	Start:   (*Process).Start,
	Receive: (*Process).Receive,
}

// New returns a processor with leader NIL.
func New(l election.Local) Process { return Process{ID: l.ID} }

// Start sends the processor's own identifier.
func (p *Process) Start(out *election.Out[Message]) { out.Send(CW, Identifier, Message{p.ID}) }

// Receive handles a message, which can come on one port only.
func (p *Process) Receive(_ election.Port, kind election.Kind, m Message, out *election.Out[Message]) {
	switch {
	case kind == Terminate && !p.Decided:
		out.Send(CW, Terminate, m)
		p.Decided = true
		out.Follow(0, 0) // the message does not name the leader
	case kind == Terminate: // it has gone round
	case m.ID > p.ID: // pass on
		out.Send(CW, Identifier, m)
	case m.ID == p.ID: // come back
		out.Send(CW, Terminate, Message{})
		p.Decided = true
		out.Lead(0)
	} // m.ID < p.ID: swallow
}
