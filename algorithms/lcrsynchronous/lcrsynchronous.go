// Package lcrsynchronous elects the largest identifier on a synchronous one-directional ring in n rounds, after
// LeLann, Chang and Roberts: in each round every process sends what it was told to in the last, and so at most
// one identifier is on each link.
//
// Source: the transition function trans_i that S2 prints in section 2.3.1, under Bully, where it does not belong:
// it is that of Lynch's synchronous LCR. Its lines are cited as T1 … T7. The proof sketch beneath it says what it
// does: the process with the largest identifier outputs leader by the end of round n, and no other process outputs
// anything, ever. Nobody else learns who leads, and no process knows when it may stop.
package lcrsynchronous

import "ringleader.example/ringleader/election"

// Right is the only port that is sent on.
const Right election.Port = 0

// UID is the only message: an identifier.
const UID election.Kind = 0

// Message is an identifier v.
type Message struct{ ID election.ID }

// Process is the state of one process: its identifier u. What it is to send next leaves within the step, so that
// send is null again whenever anything can be seen of it (T1).
type Process struct{ ID election.ID }

// Algorithm is the synchronous LCR.
var Algorithm = election.Algorithm[Process, Message]{
	Declaration: election.Declaration{
		Name:   "lcr-synchronous",
		Title:  "LCR in rounds",
		Year:   1979,
		Source: "Lynch 1996, section 3.3; S2 section 2.3.1, function trans",
		About: "All start together and send their identifiers; in each round a process passes on what is greater than its own. " +
			"The largest is home in round n, and nobody but its owner learns that.",
		Topology: election.Ring,
		OneWay:   true,
		Timing:   election.Synchronous,
		Starts:   election.Together,
		Counts:   election.CountsFixed,
		Decides:  election.LeaderOnly,
		Winner:   election.Largest,
		Kinds:    []election.MessageKind{{Name: "uid", Class: election.Election}},
		Bounds: []election.Bound{
			{
				Of: "election", Case: election.Worst, Formula: "n(n+1)/2", Source: "Lynch 1996, section 3.3: O(n²); reached by falling identifiers",
				Value: func(n uint64) uint64 { return n * (n + 1) / 2 },
			},
			{
				Of: "election", Case: election.Best, Formula: "2n - 1", Source: "n hops of the largest and one of every other; reached by rising identifiers",
				Value: func(n uint64) uint64 { return 2*n - 1 },
			},
			{
				Of: "election", Case: election.Average, Formula: "n·H(n)", Source: "Chang and Roberts 1979",
				Mean: func(n uint64) float64 { return float64(n) * election.Harmonic(n) },
			},
			{
				Of: "time", Case: election.Worst, Formula: "n", Source: "S2 section 2.3.1: by the end of round n",
				Value: func(n uint64) uint64 { return n },
			},
			{
				Of: "time", Case: election.Best, Formula: "n", Source: "derived: the largest identifier takes n rounds to come home",
				Value: func(n uint64) uint64 { return n },
			},
		},
	},
	New:     func(l election.Local) Process { return Process{ID: l.ID} },
	Start:   (*Process).Start,
	Receive: (*Process).Receive,
}

// Start is the first round: send is u.
func (p *Process) Start(out *election.Out[Message]) { out.Send(Right, UID, Message{p.ID}) }

// Receive is trans_i for an incoming message v, and the sending of the next round.
func (p *Process) Receive(_ election.Port, _ election.Kind, m Message, out *election.Out[Message]) {
	switch { // T3
	case m.ID > p.ID: // T4
		out.Send(Right, UID, m)
	case m.ID == p.ID: // T5
		out.Lead(0)
	} // T6: v < u, nothing
}
