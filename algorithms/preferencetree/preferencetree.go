// Package preferencetree elects the process with most votes on a tree, by saturation. Each process passes the votes
// of all processes behind it to the one silent neighbour, and two neighbours end up with all votes.
//
// Source: S2 names the criterion, "processes in the group can vote for a leader based on a personal preference", and
// the tree topology, and gives no code. This is saturation as in algorithm tree, after Santoro, Design and Analysis
// of Distributed Algorithms (2006), sections 2.6 and 3.2, with a sum of votes in place of a maximum. Sums do not
// depend on the order of reports. But unlike a maximum, a sum that came twice would be wrong, so each port is heard
// once. The common parts are written in both packages, so that each can be read alone.
//
// The rules for crashes are ours. A vote is cast once and kept, even if its process prefers another candidate after a
// crash. A recovered process wakes its neighbours again; each repeats what it has told before, and ignores what it
// has heard before. A process that crashes and stays down blocks the election.
package preferencetree

import "ringleader.example/ringleader/election"

// The kinds of message: W, M and N.
const (
	WakeUp election.Kind = iota
	Votes
	Result
)

// Message is W, M(tally) or N(winner).
type Message struct {
	Winner election.ID    `kinds:"result"`
	Again  bool           `kinds:"wake-up"` // of W: the sender has forgotten what it was told
	Tally  election.Tally `kinds:"votes"`
}

// Stage is how far a process has come.
type Stage uint8

// The stages.
const (
	Available  Stage = iota // asleep
	Active                  // waits until at most one neighbour is silent
	Processing              // has told its parent
	Done
)

// Process is the state of one process.
type Process struct {
	ID         election.ID
	Preference election.ID    // the candidate that it would vote for; may change in a crash
	Cast       election.ID    // the candidate that it has voted for, before or after a crash; 0: none yet
	Degree     uint32         `election:"constant"`
	Silent     uint32         // the number of ports that have not delivered M
	Heard      []uint64       // the ports that have, a bit each; nil if none has or if it is not needed any more
	Tally      election.Tally // its vote and those that it has heard of; nil when it is done
	Parent     election.Port  // the last silent port
	Stage      Stage
	Winner     election.ID // 0 before it is done
}

// Algorithm is voting on a tree.
var Algorithm = election.Algorithm[Process, Message]{
	Declaration: election.Declaration{
		Name:   "preference-tree",
		Title:  "Election by votes, on a tree (saturation)",
		Year:   2006,
		Source: "Santoro 2006, section 2.6; S2",
		About: "An initiator wakes the tree. A process that has heard from all neighbours but one passes on the sum of the votes " +
			"that it knows. Two of these messages cross on one edge; its ends have all votes and announce the winner: most " +
			"votes win, and of equally many the largest identifier. A process that crashes blocks the election until it recovers " +
			"with the vote that it cast.",
		Topology: election.Tree,
		Votes:    true,
		Counts:   election.CountsStartFirst,
		Winner:   election.Voted,
		Survives: election.Recovery,
		Kinds: []election.MessageKind{
			{Name: "wake-up", Class: election.Election},
			{Name: "votes", Class: election.Election},
			{Name: "result", Class: election.Announcement},
		},
		Bounds: []election.Bound{
			{
				Of: "total", Case: election.Worst, Formula: "4n - 4", Source: "3n + k - 4 with k initiators; reached if all initiate",
				Value: func(n uint64) uint64 { return 4*n - 4 },
			},
			{
				Of: "total", Case: election.Best, Formula: "3n - 3", Source: "3n + k - 4 with k initiators; reached with one",
				Value: func(n uint64) uint64 { return 3*n - 3 },
			},
		},
	},
	New:     New,
	Start:   (*Process).Start,
	Receive: (*Process).Receive,
	Recover: (*Process).Recover,
	Durable: func(p *Process) any { return &p.Cast },
}

// New returns a process that is asleep.
func New(l election.Local) Process {
	return Process{ID: l.ID, Preference: l.Vote, Degree: uint32(l.Degree), Silent: uint32(l.Degree)}
}

// noPort is the port argument of wake where no message woke the process.
const noPort = -1

// Start wakes all neighbours.
func (p *Process) Start(out *election.Out[Message]) { p.wake(noPort, false, out) }

// Recover wakes them again.
func (p *Process) Recover(out *election.Out[Message]) { p.wake(noPort, true, out) }

// wake makes a process vote, once, and wake all neighbours except the one that woke it.
func (p *Process) wake(by int, again bool, out *election.Out[Message]) {
	if p.Stage != Available {
		return
	}
	p.Stage = Active
	if p.Cast == 0 {
		p.Cast = p.Preference
	}
	p.Tally = election.TallyOf(p.Cast)
	for port := range int(p.Degree) {
		if port != by {
			out.Send(election.Port(port), WakeUp, Message{Again: again})
		}
	}
	if p.Degree == 0 {
		p.Stage = Done
		out.Lead(0)
		return
	}
	p.check(out)
}

// Receive handles a message. M wakes a process, too, since it may have overtaken W.
func (p *Process) Receive(port election.Port, kind election.Kind, m Message, out *election.Out[Message]) {
	if m.Again {
		p.repeat(port, out)
	}
	p.wake(int(port), false, out)
	switch {
	case kind == Votes && p.Stage == Active:
		p.hear(port, m.Tally)
		p.check(out)
	case kind == Votes && p.Stage == Processing && port == p.Parent: // both ends of this edge have all votes
		p.decide(p.Tally.Plus(m.Tally).Winner(), out)
	case kind == Result && p.Stage != Done: // it comes from the parent, or would without a crash
		p.Parent = port
		p.decide(m.Winner, out)
	}
}

// repeat sends a recovered neighbour again what it was sent before, if anything.
func (p *Process) repeat(port election.Port, out *election.Out[Message]) {
	switch {
	case p.Stage == Processing && port == p.Parent:
		out.Send(port, Votes, Message{Tally: p.Tally})
	case p.Stage == Done:
		out.Send(port, Result, Message{Winner: p.Winner})
	}
}

// hear adds the votes behind a port, once.
func (p *Process) hear(port election.Port, tally election.Tally) {
	word, bit := port/64, uint64(1)<<(port%64)
	heard := make([]uint64, (p.Degree+63)/64)
	copy(heard, p.Heard)
	if heard[word]&bit != 0 {
		return
	}
	heard[word] |= bit
	p.Heard = heard
	p.Silent--
	p.Tally = p.Tally.Plus(tally)
}

// check makes the last silent neighbour the parent, and sends M to it.
func (p *Process) check(out *election.Out[Message]) {
	if p.Silent != 1 {
		return
	}
	p.Parent = p.silent()
	p.Heard = nil
	p.Stage = Processing
	out.Send(p.Parent, Votes, Message{Tally: p.Tally})
}

// silent returns the first port that has not delivered M.
func (p *Process) silent() election.Port {
	port := 0
	for p.Heard != nil && p.Heard[port/64]>>(port%64)&1 == 1 {
		port++
	}
	return election.Port(port)
}

// decide sends the result to all except the parent, which decides likewise or has sent it.
func (p *Process) decide(winner election.ID, out *election.Out[Message]) {
	p.Stage, p.Winner, p.Tally, p.Heard = Done, winner, nil, nil
	if winner == p.ID {
		out.Lead(0)
	} else {
		out.Follow(winner, 0)
	}
	for port := range int(p.Degree) {
		if election.Port(port) != p.Parent {
			out.Send(election.Port(port), Result, Message{Winner: winner})
		}
	}
}
