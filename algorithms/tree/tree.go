// Package tree elects the largest identifier on a tree by saturation: all are woken, the leaves begin, each
// process passes the maximum of what is behind it to the one neighbour that is silent, and two neighbours
// end up knowing all.
//
// Source: S2 names the tree topology and gives no code. This is full saturation, after Santoro, Design and
// Analysis of Distributed Algorithms (2006), sections 2.6 and 3.2, with a maximum in his minimum's place.
// Each process sends one M; the two that cross on an edge are from the saturated pair. Which pair that is
// depends on the schedule, the leader does not.
package tree

import "ringleader.example/ringleader/election"

// The messages: W, M and N.
const (
	WakeUp election.Kind = iota
	Maximum
	Notification
)

// Message is W, M(v) or N(leader).
type Message struct{ ID election.ID }

// Stage is how far a process has come.
type Stage uint8

// The stages.
const (
	Available  Stage = iota // asleep
	Active                  // waits until one neighbour at most is silent
	Processing              // has told its parent
	Done
)

// Process is the state of one process.
type Process struct {
	ID, Max election.ID
	Degree  uint32        `election:"constant"`
	Silent  uint32        // how many ports have not delivered M
	Heard   []uint64      // which have: a bit each; nil if none or if nobody asks any more
	Parent  election.Port // the port that was silent last
	Stage   Stage
}

// Algorithm is saturation.
var Algorithm = election.Algorithm[Process, Message]{
	Declaration: election.Declaration{
		Name:   "tree",
		Title:  "Election on a tree (saturation)",
		Year:   2006,
		Source: "Santoro 2006, sections 2.6 and 3.2; S2",
		About: "Whoever starts wakes the tree. A process that has heard from all neighbours but one passes on the greatest identifier " +
			"that it knows. Two of these messages cross on one edge; its ends know the leader and tell the others.",
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
				Of: "total", Case: election.Worst, Formula: "4n - 4", Source: "3n + k - 4 if k start; reached if all do",
				Value: func(n uint64) uint64 { return 4*n - 4 },
			},
			{
				Of: "total", Case: election.Best, Formula: "3n - 3", Source: "3n + k - 4 if k start; reached if one does",
				Value: func(n uint64) uint64 { return 3*n - 3 },
			},
		},
	},
	New:     New,
	Start:   (*Process).Start,
	Receive: (*Process).Receive,
}

// New is a process that sleeps.
func New(l election.Local) Process {
	return Process{ID: l.ID, Max: l.ID, Degree: uint32(l.Degree), Silent: uint32(l.Degree)}
}

// nobody is no port.
const nobody = -1

// Start wakes all neighbours.
func (p *Process) Start(out *election.Out[Message]) { p.wake(nobody, out) }

// wake makes a process active, once, which wakes all neighbours but the one that it was woken by.
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

// Receive handles a message. M wakes, too, since it may have overtaken W.
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

// hear marks a port as one that has delivered M.
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

// check makes the last silent neighbour the parent, and tells it.
func (p *Process) check(out *election.Out[Message]) {
	if p.Silent != 1 {
		return
	}
	p.Parent = p.silent()
	p.Heard = nil
	p.Stage = Processing
	out.Send(p.Parent, Maximum, Message{p.Max})
}

// silent is the first port that has not delivered M.
func (p *Process) silent() election.Port {
	port := 0
	for p.Heard != nil && p.Heard[port/64]>>(port%64)&1 == 1 {
		port++
	}
	return election.Port(port)
}

// decide tells all but the parent, who decides likewise or has told us.
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
