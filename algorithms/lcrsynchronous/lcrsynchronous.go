// Package lcrsynchronous elects the largest identifier on a synchronous unidirectional ring in n rounds (LeLann,
// Chang and Roberts; Lynch 1996, section 3.3). In each round a process sends what it decided to send in the round
// before, so each link carries at most one identifier.
//
// Source: the transition function trans_i that S2 prints in section 2.3.1, under Bully, where it does not belong: it
// is that of Lynch's synchronous LCR. Its lines are cited as T1 … T7. The proof sketch below it states the result:
// the process with the largest identifier outputs leader by the end of round n, and no other process ever outputs
// anything. No other process learns the leader, and no process knows when it may stop.
package lcrsynchronous

import "ringleader.example/ringleader/election"

// Right is the only port that messages are sent on.
const Right election.Port = 0

// UID is the only message: an identifier.
const UID election.Kind = 0

// Message is an identifier v.
type Message struct{ ID election.ID }

// Process is the state of one process: its identifier u. A message leaves within the step that decides on it, so that
// send is null again between steps (T1).
type Process struct{ ID election.ID }

// Algorithm is the synchronous LCR.
var Algorithm = election.Algorithm[Process, Message]{
	Declaration: election.Declaration{
		Name:   "lcr-synchronous",
		Title:  "LCR in rounds",
		Year:   1979,
		Source: "Lynch 1996, section 3.3; S2 section 2.3.1, function trans",
		About: "All processes initiate together and send their identifiers; in each round a process passes on an identifier greater than its own. " +
			"The largest returns to its origin in round n, and only its owner learns that.",
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
				Of: "election", Case: election.Worst, Formula: "n(n+1)/2", Source: "Lynch 1996, section 3.3: O(n²); reached by decreasing identifiers",
				Value: func(n uint64) uint64 { return n * (n + 1) / 2 },
			},
			{
				Of: "election", Case: election.Best, Formula: "2n - 1", Source: "n hops of the largest and one of every other; reached by increasing identifiers",
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
				Of: "time", Case: election.Best, Formula: "n", Source: "derived: the largest identifier takes n rounds to return to its origin",
				Value: func(n uint64) uint64 { return n },
			},
		},
	},
	New:     func(l election.Local) Process { return Process{ID: l.ID} },
	Start:   (*Process).Start,
	Receive: (*Process).Receive,
}

// Start sends u in the first round.
func (p *Process) Start(out *election.Out[Message]) { out.Send(Right, UID, Message{p.ID}) }

// Receive applies trans_i to an incoming message v, and sends the message of the next round.
func (p *Process) Receive(_ election.Port, _ election.Kind, m Message, out *election.Out[Message]) {
	switch { // T3
	case m.ID > p.ID: // T4
		out.Send(Right, UID, m)
	case m.ID == p.ID: // T5
		out.Lead(0)
	} // T6: v < u, nothing
}
