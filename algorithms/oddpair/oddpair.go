// Package oddpair elects a process on an asynchronous unidirectional ring of unknown size where all but two processes
// have the same identifier, wherever that is possible at all.
//
// Source: S2's exercise 4(b), which asks whether that is possible, for an algorithm if it is and for a proof if not.
// The answer: two different odd identifiers, yes; two equal ones, if and only if they are not opposite each other.
// Exactly two odd processes make n computable, as the sum of two successive gaps. If they are opposite, each process
// does for ever what the opposite one does.
//
// The algorithm is ours. A run is a maximal sequence of neighbours with one identifier. Two odd processes make two to
// four runs: themselves, and the sequences between them. The first process of a run, its head, differs from its
// predecessor. A token begins at every head and passes four runs, noting the identifier and the length of each. So
// the head at which it ends knows the four runs before its own, and with them the whole ring:
//
//	three runs  if the fourth before has the identifier of the one before: of four runs these are neighbours
//	two         if they repeat after two: four runs would then make two halves that are equal
//	four        otherwise
//
// So heads need not know the odd processes, which nothing distinguishes in a ring of four, 5,5,7,7. The head
// from which the ring reads greatest becomes leader.
package oddpair

import (
	"cmp"
	"errors"
	"slices"

	"ringleader.example/ringleader/election"
)

// Right is the only port that messages are sent on.
const Right election.Port = 0

// The kinds of message.
const (
	UID election.Kind = iota
	Token
	Leader
)

// Run is a number of neighbours with one identifier.
type Run struct {
	ID     election.ID
	Length uint32
}

// Message holds the runs that a token has passed, in this order; runs that it has not passed yet are zero. An
// identifier on its own is a run of one.
type Message struct{ Runs [4]Run }

// Process is the state of one process.
type Process struct {
	ID    election.ID
	Awake bool
	Leads bool
}

// Algorithm elects a process if two are odd.
var Algorithm = election.Algorithm[Process, Message]{
	Declaration: election.Declaration{
		Name:   "odd-pair",
		Title:  "The odd pair",
		Year:   1988, // of the paper; the exercise has no date
		Source: "S2 exercise 4(b); Yamashita–Kameda 1988 for what is possible",
		About: "All processes but two have the same identifier; the two may be equal, unless they are opposite each other. A process that differs " +
			"from its predecessor learns the four runs of equal neighbours before it, and so the ring; the process from which the ring reads greatest is the leader.",
		Topology:        election.Ring,
		OneWay:          true,
		Counts:          election.CountsFixed,
		AllowDuplicates: Promise,
		Kinds: []election.MessageKind{
			{Name: "uid", Class: election.Election}, {Name: "token", Class: election.Election}, {Name: "leader", Class: election.Announcement},
		},
		Bounds: []election.Bound{
			{
				Of: "election", Case: election.Worst, Formula: "5n", Source: "n identifiers; the tokens of four heads pass each run; always met",
				Value: func(n uint64) uint64 { return 5 * n },
			},
			{Of: "election", Case: election.Best, Formula: "5n", Source: "as the worst", Value: func(n uint64) uint64 { return 5 * n }},
		},
	},
	New:     func(l election.Local) Process { return Process{ID: l.ID} },
	Start:   (*Process).Start,
	Receive: (*Process).Receive,
}

// Promise accepts two identifiers that differ from all others, unless they are equal and opposite each other.
func Promise(ids election.Arrangement) error {
	n := ids.Len()
	for first := range min(n, 3) { // of three processes one is not odd
		var odd []int
		for q := range n {
			if n > 2 && ids.At(q) == ids.At(first) || len(odd) > 2 {
				continue
			}
			odd = append(odd, q)
		}
		switch {
		case len(odd) != 2:
		case ids.At(odd[0]) == ids.At(odd[1]) && 2*(odd[1]-odd[0]) == n:
			return errors.New("the two odd identifiers are equal and opposite each other, so each process does for ever what the opposite one does; " +
				"move one of them, as in 7,5,5,7,5,5,5")
		default:
			return nil
		}
	}
	return errors.New("it needs exactly two identifiers that differ from all others, which are equal: 5,7,5,5,9")
}

// Start sends the process's own identifier, once.
func (p *Process) Start(out *election.Out[Message]) {
	if !p.Awake {
		p.Awake = true
		out.Send(Right, UID, p.run())
	}
}

// run returns a message with the process as a run of one.
func (p *Process) run() Message { return Message{[4]Run{{p.ID, 1}}} }

// Receive handles a message; a process that is asleep joins first.
func (p *Process) Receive(_ election.Port, kind election.Kind, m Message, out *election.Out[Message]) {
	p.Start(out)
	switch kind {
	case UID:
		if m.Runs[0].ID != p.ID { // a head
			out.Send(Right, Token, p.run())
		}
	case Token:
		p.pass(m, out)
	case Leader:
		if !p.Leads { // else it has returned to its origin
			out.Follow(m.Runs[0].ID, 0)
			out.Send(Right, Leader, m)
		}
	}
}

// pass notes the process in a token, or, at the head of the fifth run, reads the token.
func (p *Process) pass(m Message, out *election.Out[Message]) {
	passed := slices.IndexFunc(m.Runs[:], func(r Run) bool { return r.Length == 0 })
	if passed < 0 {
		passed = len(m.Runs)
	}
	switch last := &m.Runs[passed-1]; {
	case last.ID == p.ID:
		last.Length++
	case passed < len(m.Runs):
		m.Runs[passed] = Run{p.ID, 1}
	default:
		if greatest(around(m.Runs)) {
			p.Leads = true
			out.Lead(0)
			out.Send(Right, Leader, p.run())
		}
		return
	}
	out.Send(Right, Token, m)
}

// around returns the whole ring, beginning with the reader's own run.
func around(runs [4]Run) []Run {
	switch {
	case runs[0].ID == runs[3].ID: // three
		return runs[1:]
	case runs[0] == runs[2] && runs[1] == runs[3]: // two
		return runs[2:]
	}
	return runs[:]
}

// greatest reports whether no other run is the beginning of a greater reading of the ring.
func greatest(ring []Run) bool {
	for k := 1; k < len(ring); k++ {
		if slices.CompareFunc(slices.Concat(ring[k:], ring[:k]), ring, compare) > 0 {
			return false
		}
	}
	return true
}

func compare(a, b Run) int {
	return cmp.Or(cmp.Compare(a.ID, b.ID), cmp.Compare(a.Length, b.Length))
}
