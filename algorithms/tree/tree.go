// Package tree elects the largest identifier on a tree by saturation (Santoro 2006). All processes are woken, and the
// leaves begin. Each process passes the maximum of all that is behind it to the one silent neighbour, and two
// neighbours end up with the maximum of all.
//
// Source: S2 names the tree topology and gives no code. This is full saturation, after Santoro, Design and Analysis
// of Distributed Algorithms (2006), sections 2.6 and 3.2, with a maximum where he has a minimum. Each process sends
// one M; the two that cross on an edge come from the saturated pair. That pair depends on the schedule; the leader
// does not.
package tree

import "ringleader.example/ringleader/election"

// The kinds of message: W, M and N.
const (
	WakeUp election.Kind = iota
	Maximum
	Notification
)

// Message is W, M(v) or N(leader).
type Message struct {
	ID election.ID `kinds:"maximum,notification"`
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
	ID, Max election.ID
	Degree  uint32        `election:"constant"`
	Silent  uint32        // the number of ports that have not delivered M
	Heard   []uint64      // the ports that have, a bit each; nil if none has or if it is not needed any more
	Parent  election.Port // the last silent port
	Stage   Stage
}

// Algorithm is saturation.
var Algorithm = election.Algorithm[Process, Message]{
	Declaration: election.Declaration{
		Name:   "tree",
		Title:  "Election on a tree (saturation)",
		Year:   2006,
		Source: "Santoro 2006, sections 2.6 and 3.2; S2",
		About: "An initiator wakes the tree. A process that has heard from all neighbours but one passes on the greatest identifier " +
			"that it knows. Two of these messages cross on one edge; its ends know the leader and announce it to the others.",
		Topology: election.Tree,
		Counts:   election.CountsStartFirst,
		Winner:   election.Largest,
		Kinds: []election.MessageKind{
			{Name: "wake-up", Class: election.Election},
			{Name: "maximum", Class: election.Election},
			{Name: "notification", Class: election.Announcement},
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
}

// New returns a process that is asleep.
func New(l election.Local) Process {
	return Process{ID: l.ID, Max: l.ID, Degree: uint32(l.Degree), Silent: uint32(l.Degree)}
}

// noPort is the port argument of wake where no message woke the process.
const noPort = -1

// Start wakes all neighbours.
func (p *Process) Start(out *election.Out[Message]) { p.wake(noPort, out) }

// wake makes a process active, once, and wakes all neighbours except the one that woke it.
func (p *Process) wake(by int, out *election.Out[Message]) {
	if p.Stage != Available {
		return
	}
	p.Stage = Active
	for port := range int(p.Degree) {
		if port != by {
			out.Send(election.Port(port), WakeUp, Message{})
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
	p.wake(int(port), out)
	switch {
	case kind == Maximum && p.Stage == Active:
		p.hear(port, m.ID)
		p.check(out)
	case kind == Maximum && p.Stage == Processing && port == p.Parent: // both ends of this edge are saturated
		p.decide(max(p.Max, m.ID), out)
	case kind == Notification && p.Stage == Processing:
		p.decide(m.ID, out)
	}
}

// hear records the maximum of a port that has delivered M.
func (p *Process) hear(port election.Port, maximum election.ID) {
	word, bit := port/64, uint64(1)<<(port%64)
	heard := make([]uint64, (p.Degree+63)/64)
	copy(heard, p.Heard)
	if heard[word]&bit != 0 {
		return
	}
	heard[word] |= bit
	p.Heard = heard
	p.Silent--
	p.Max = max(p.Max, maximum)
}

// check makes the last silent neighbour the parent, and sends M to it.
func (p *Process) check(out *election.Out[Message]) {
	if p.Silent != 1 {
		return
	}
	p.Parent = p.silent()
	p.Heard = nil
	p.Stage = Processing
	out.Send(p.Parent, Maximum, Message{p.Max})
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
func (p *Process) decide(leader election.ID, out *election.Out[Message]) {
	p.Stage, p.Max = Done, leader
	if leader == p.ID {
		out.Lead(0)
	} else {
		out.Follow(leader, 0)
	}
	for port := range int(p.Degree) {
		if election.Port(port) != p.Parent {
			out.Send(election.Port(port), Notification, Message{leader})
		}
	}
}
