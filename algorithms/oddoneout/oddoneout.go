// Package oddoneout elects, on an asynchronous unidirectional ring of unknown size, the one process with an
// identifier different from the equal identifiers of all others.
//
// Source: S2's exercise 4(a), which asks whether that is possible and for an algorithm. The answer is ours; its parts
// are cited below by name:
//
//	pass  each process passes on its own identifier and then its predecessor's, so that each learns both
//	odd   its own differs from its predecessor's and from the one before, and those are equal: it leads (n ≥ 3)
//	two   its own equals the one before its predecessor's, but not the predecessor's: a third exchange decides
//
// In the case of two, the process follows the odd one or is one of two processes. Only one of two processes hears
// that its predecessor is in the same case, and then the larger leads. Among three or more the third exchange is one
// message, which no process uses.
//
// A ring of one is refused: its process hears the same as a process far from the odd one on a large ring, and no size
// is known.
package oddoneout

import (
	"errors"

	"ringleader.example/ringleader/election"
)

// Right is the only port that messages are sent on.
const Right election.Port = 0

// The kinds of message.
const (
	UID election.Kind = iota
	Leader
)

// Message is an identifier on its first, second or third hop, or the leader's.
type Message struct {
	ID  election.ID
	Hop uint8 `kinds:"uid"`
}

// Process is the state of one process. Identifiers that it has not heard yet are 0.
type Process struct {
	ID          election.ID
	Predecessor election.ID
	Second      election.ID // the predecessor's predecessor
	Awake       bool
	Judged      bool // both are known, and the process has acted on them
	Third       bool // the predecessor's own identifier returned to it after two hops, too
	Leads       bool
}

// Algorithm elects the odd one out.
var Algorithm = election.Algorithm[Process, Message]{
	Declaration: election.Declaration{
		Name:   "odd-one-out",
		Title:  "The odd one out",
		Year:   1988, // of the paper; the exercise has no date
		Source: "S2 exercise 4(a); Yamashita–Kameda 1988 for what is possible",
		About: "All processes but one have the same identifier. Each learns those of the two before it: the odd one's own " +
			"differs from both. Of two processes the larger is the leader; a third exchange shows them that there are two.",
		Topology:        election.Ring,
		OneWay:          true,
		Counts:          election.CountsFixed,
		AllowDuplicates: Promise,
		Kinds:           []election.MessageKind{{Name: "uid", Class: election.Election}, {Name: "leader", Class: election.Announcement}},
		Bounds: []election.Bound{
			{
				Of: "election", Case: election.Worst, Formula: "2n + 2", Source: "two hops of each identifier, and a third of both if n = 2",
				Value: func(n uint64) uint64 { return 2*n + 2 },
			},
			{
				Of: "election", Case: election.Best, Formula: "2n + 1", Source: "two hops of each identifier, and a third of one",
				Value: func(n uint64) uint64 { return 2*n + 1 },
			},
		},
	},
	New:     func(l election.Local) Process { return Process{ID: l.ID} },
	Start:   (*Process).Start,
	Receive: (*Process).Receive,
}

// Promise accepts one identifier that differs from all others, which are equal.
func Promise(ids election.Arrangement) error {
	n := ids.Len()
	if n == 1 {
		return errors.New("a single process cannot know that it is alone, since the size is unknown; at least 2 processes")
	}
	common := ids.At(0) // if it is the odd one, the others are found to differ from it
	if n > 2 && ids.At(1) == ids.At(2) {
		common = ids.At(1)
	}
	odd := 0
	for q := range n {
		if ids.At(q) != common {
			odd++
		}
	}
	if odd != 1 {
		return errors.New("it needs one identifier that differs from all others, which are equal: 5,5,7,5")
	}
	return nil
}

// Start sends the process's own identifier, once.
func (p *Process) Start(out *election.Out[Message]) {
	if !p.Awake {
		p.Awake = true
		out.Send(Right, UID, Message{p.ID, 1}) // pass
	}
}

// Receive handles a message; a process that is asleep joins first.
func (p *Process) Receive(_ election.Port, kind election.Kind, m Message, out *election.Out[Message]) {
	p.Start(out)
	switch {
	case kind == Leader:
		if !p.Leads { // else it has returned to its origin
			out.Follow(m.ID, 0)
			out.Send(Right, Leader, m)
		}
		return
	case m.Hop == 1:
		p.Predecessor = m.ID
		out.Send(Right, UID, Message{m.ID, 2}) // pass, again
	case m.Hop == 2:
		p.Second = m.ID
	default:
		p.Third = true
	}
	if p.Predecessor != 0 && p.Second != 0 {
		p.judge(out)
	}
}

// judge acts on the identifiers of the two processes before, and on the result of the third exchange.
func (p *Process) judge(out *election.Out[Message]) {
	first := !p.Judged
	p.Judged = true
	switch {
	case p.ID == p.Predecessor:
	case p.Predecessor == p.Second: // odd
		if first {
			p.lead(out)
		}
	case p.ID == p.Second: // two
		if first {
			out.Send(Right, UID, Message{p.ID, 3})
		}
		if p.Third && p.ID > p.Predecessor {
			p.lead(out)
		}
	}
}

func (p *Process) lead(out *election.Out[Message]) {
	p.Leads = true
	out.Lead(0)
	out.Send(Right, Leader, Message{ID: p.ID})
}
