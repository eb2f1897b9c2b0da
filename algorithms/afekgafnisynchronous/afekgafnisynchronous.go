// Package afekgafnisynchronous elects the largest identifier on a synchronous complete graph with unknown neighbours
// (KT0), with O(n lg n) messages in 2⌈lg n⌉ rounds (Afek and Gafni 1991). Candidates ask twice as many processes in
// each phase, and a process accepts the largest identifier that it has heard of. All start together.
//
// Source: Y. Afek, E. Gafni, Time and message bounds for election in synchronous and asynchronous complete networks,
// SIAM Journal on Computing 20(2), 1991 (PODC 1985). The rules below, cited as R1 … R5, are modelled on the
// synchronous algorithm there. Phase i = 0, 1, 2, … has two rounds. Every candidate has asked the same number cap of
// ports, and then asks w = min(2^i, n-1-cap) more.
//
//	R1  round 1: each candidate sends CAPTURE(id) on ports cap … cap+w-1.
//	R2  round 2: a process takes the largest id x that it got in this round. If x > best, which is its own id at
//	    first: best := x, it is no candidate any more, and it sends ACCEPT to that one.
//	R3  A candidate that got w ACCEPTs continues with cap := cap + w; any other is none any more.
//	R4  cap = n-1: the candidate is the leader, and sends LEADER(id) on all ports.
//	R5  LEADER(x): follow x.
//
// A candidate of phase i > 0 was accepted in phase i-1 by 2^(i-1) processes, each of which accepts one candidate a
// phase. So there are at most n/2^(i-1) candidates, with 2^i CAPTUREs each, and at most n ACCEPTs: 3n messages a
// phase.
package afekgafnisynchronous

import "ringleader.example/ringleader/election"

// The kinds of message.
const (
	Capture election.Kind = iota
	Accept
	Leader
)

// Message is ⟨CAPTURE, id⟩, ⟨ACCEPT⟩ or ⟨LEADER, id⟩; the phase is for statistics.
type Message struct {
	ID    election.ID `kinds:"CAPTURE,LEADER"`
	Phase uint8       `kinds:"CAPTURE,ACCEPT"`
}

// answer expires when all messages of a round have been read.
const answer election.Timer = 0

// Process is the state of a process.
type Process struct {
	ID        election.ID
	Others    uint16 `election:"constant"` // all but itself, one behind each port
	Candidate bool
	Phase     uint8
	Cap       uint16 // the number that it has asked, with those of this phase
	Awaited   uint16 // the number of these that have not accepted in this phase
	Best      election.ID
	Largest   election.ID   // of the candidates that asked in this round; 0 if none has
	Port      election.Port // the port of that candidate
}

// Algorithm is the synchronous algorithm of Afek and Gafni.
var Algorithm = election.Algorithm[Process, Message]{
	Declaration: election.Declaration{
		Name:   "afek-gafni-synchronous",
		Title:  "Afek, Gafni (synchronous)",
		Year:   1985,
		Source: "Afek–Gafni 1991, after its synchronous algorithm",
		About: "In phase i a candidate asks 2^i more processes. Each accepts the largest identifier that it has heard of, including its " +
			"own; a candidate continues if it has accepted no other and all that it asked have accepted it.",
		Topology:  election.UnknownNeighbours,
		Timing:    election.Synchronous,
		KnowsSize: true, // through the number of ports
		Starts:    election.Together,
		Counts:    election.CountsFixed,
		Winner:    election.Largest,
		Kinds: []election.MessageKind{
			{Name: "CAPTURE", Class: election.Election},
			{Name: "ACCEPT", Class: election.Election},
			{Name: "LEADER", Class: election.Announcement},
		},
		Timers: []string{"answer"},
		Bounds: []election.Bound{
			{
				Of: "election", Case: election.Worst, Formula: "3n⌈lg n⌉", Source: "Afek–Gafni 1991: O(n lg n); derived in the package comment",
				Value: func(n uint64) uint64 { return 3 * n * election.CeilLog(n) },
			},
			{
				Of: "election", Case: election.Best, Formula: "3(n - 1)",
				Source: "derived: n CAPTUREs in phase 0, n - 2 more of the leader, n - 1 ACCEPTs to it",
				Value:  func(n uint64) uint64 { return 3 * (n - 1) },
			},
			{
				Of: "announcement", Case: election.Worst, Formula: "n - 1", Source: "derived",
				Value: func(n uint64) uint64 { return n - 1 },
			},
			{
				Of: "time", Case: election.Worst, Formula: "2⌈lg n⌉, and one for LEADER", Source: "Afek–Gafni 1991: O(lg n); two rounds a phase",
				Value: units,
			},
			{
				Of: "time", Case: election.Best, Formula: "2⌈lg n⌉, and one for LEADER", Source: "derived: two rounds a phase, and every phase is needed",
				Value: units,
			},
		},
	},
	New:     New,
	Start:   (*Process).Start,
	Receive: (*Process).Receive,
	Timeout: (*Process).Timeout,
	Phase:   func(_ election.Kind, m Message) int { return int(m.Phase) },
}

// units returns the time until LEADER has been read, if there is a process to read it.
func units(n uint64) uint64 {
	if n == 1 {
		return 0
	}
	return 2*election.CeilLog(n) + 1
}

// New returns a candidate that has not started.
func New(l election.Local) Process {
	return Process{ID: l.ID, Best: l.ID, Others: uint16(l.N - 1)}
}

// Start begins phase 0.
func (p *Process) Start(out *election.Out[Message]) {
	p.Candidate = true
	p.enter(out)
}

// enter begins a phase, or ends the election: R1, R4.
func (p *Process) enter(out *election.Out[Message]) {
	if p.Cap == p.Others {
		for port := range p.Others {
			out.Send(election.Port(port), Leader, Message{ID: p.ID})
		}
		out.Lead(0)
		return
	}
	p.Awaited = min(1<<p.Phase, p.Others-p.Cap)
	for range p.Awaited {
		out.Send(election.Port(p.Cap), Capture, Message{p.ID, p.Phase})
		p.Cap++
	}
}

// Receive handles a message. A candidate applies R3 on the last ACCEPT; without it, never.
func (p *Process) Receive(port election.Port, kind election.Kind, m Message, out *election.Out[Message]) {
	switch kind {
	case Capture:
		if p.Largest == 0 {
			out.After(answer, election.Ticks{})
		}
		if m.ID > p.Largest {
			p.Largest, p.Port, p.Phase = m.ID, port, m.Phase
		}
	case Accept:
		if p.Awaited--; p.Awaited == 0 && p.Candidate { // R3
			p.Phase++
			p.enter(out)
		}
	case Leader:
		out.Follow(m.ID, 0) // R5
	}
}

// Timeout accepts the largest identifier of a round: R2.
func (p *Process) Timeout(_ election.Timer, out *election.Out[Message]) {
	if p.Largest > p.Best {
		p.Best, p.Candidate = p.Largest, false
		out.Send(p.Port, Accept, Message{Phase: p.Phase})
	}
	p.Largest = 0
}
