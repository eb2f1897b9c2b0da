// Package logicalring elects the live process of highest identifier on a logical ring of known members (Tanenbaum
// 1992). A list goes round, each member adds itself, and the initiator of the list announces the greatest member on
// it.
//
// Source: S2 section 2.4, which is Tanenbaum's ring algorithm:
//
//  1. A process that finds that the leader has failed sends a list that holds itself round the ring. Each member adds
//     itself. A member that does not acknowledge is skipped.
//  2. When the list is back, its initiator announces the greatest member on it: once round the ring, or directly to
//     all on the list.
//
// It assumes what package bully assumes: bounded delays, and a failure detector that makes no mistake. The failure
// detector is used only for the crash of a process that took part. Missing acknowledgements decide which members are
// skipped. A single live member sends list and announcement to itself.
//
// S2 adds that the ring needs no acknowledgements, since the list returns. That holds only while no process
// crashes: without acknowledgements no process notices that the list is lost.
//
// Of m live members, each initiator costs m messages for the list and m (direct: m-1) for the announcement, and one
// more with its timeout for each dead member that each of them meets. As printed, the algorithm does not tolerate
// crashes and recoveries. These rules are added; the checker or random runs find a violation without each:
//
//   - A list or announcement that reaches a process other than its initiator a second time is dropped: its initiator
//     has crashed, and it would go round for ever. So announcements carry a list, too.
//   - An announcement that cannot be delivered to the elected process starts an election: that process crashed after
//     it had added itself.
//   - A process that has passed on a list and heard no announcement yet starts an election when any process crashes:
//     the list may be lost with it.
//   - Elections are numbered by epochs, which survive crashes. An announcement of an epoch earlier than the latest
//     that its receiver knows is passed on, but not believed. A list takes on the latest epoch of the members that it
//     visits; otherwise no process would believe one that was away.
//   - If two announcements of one epoch differ, their lists saw different members. The greater leader is believed. A
//     process that hears of the smaller one later, or is greater itself, starts an election.
//
// A process that has heard of no election does not start one when another process crashes. So if all processes that
// know of the first election crash while its list waits for the acknowledgement of a dead member, it leaves no trace.
package logicalring

import (
	"math/big"
	"slices"

	"ringleader.example/ringleader/election"
)

// The kinds of message.
const (
	Election election.Kind = iota
	Coordinator
	Acknowledgement
)

// Overdue is the timer of a missing acknowledgement.
const Overdue election.Timer = 0

// Message is ELECTION(list), COORDINATOR(list, leader), or an acknowledgement of one of them, which repeats as much
// of it as is needed to recognize it.
type Message struct {
	List   []election.ID // the members that it has visited; the first is the initiator, which removes it from the ring
	Leader election.ID   `kinds:"coordinator,acknowledgement"` // 0 in ELECTION
	Epoch  uint32
}

// Transmission is a message that has not been acknowledged yet.
type Transmission struct {
	Message Message
	To      election.ID
	Kind    election.Kind
	Until   election.Deadline // after that, To is dead
}

// Process is the state of one process.
type Process struct {
	ID          election.ID
	Members     election.ID    `election:"constant"` // they are 1 … Members
	Coordinator election.ID    // 0 if not known
	Since       uint32         // the epoch of its announcement
	Epoch       uint32         // the latest that this process knows; durable
	Direct      bool           `election:"constant"` // announce=direct
	Wait        election.Ticks `election:"constant"`
	Pending     []Transmission // in the order in which they were sent, so also of Until
}

// The parameters.
var (
	announce = election.Choice{
		Name: "announce", Words: []string{"ring", "direct"},
		About: "how the initiator announces the leader: once round the ring, or directly to all on its list",
	}
	delay = election.Number{
		Name: "delay", Whole: true, Least: 1, Most: 1 << 62, Default: "1",
		About: "the longest time from sending a message to the end of its handling",
	}
	timeout = election.Number{
		Name: "timeout", Whole: true, Least: 1, Default: "2·delay + 1",
		About:   "how long to wait for an acknowledgement; more than 2·delay, or a live process is skipped",
		Derived: func(p election.Parameters) *big.Rat { return delay.Linear(p, 2, 1) },
	}
)

// Algorithm is the election on a logical ring.
var Algorithm = election.Algorithm[Process, Message]{
	Declaration: election.Declaration{
		Name:   "logical-ring",
		Title:  "Logical ring (Tanenbaum)",
		Year:   1992,
		Source: "Tanenbaum 1992; S2 section 2.4",
		About: "A list goes round the live members, and each adds itself; its initiator announces the greatest of them as leader. " +
			"A member that does not acknowledge is skipped. There is no quorum.",
		Topology: election.Complete,
		Timing:   election.Timed,
		FIFO:     true,
		Counts:   election.CountsFixed,
		Task:     election.Service,
		Winner:   election.Largest,
		Survives: election.Crash | election.Recovery,
		Kinds: []election.MessageKind{
			{Name: "election", Class: election.Election},
			{Name: "coordinator", Class: election.Announcement},
			{Name: "acknowledgement", Class: election.Overhead},
		},
		Timers:     []string{"acknowledgement timeout"},
		Parameters: []election.Parameter{&announce, &delay, &timeout},
		Delay:      &delay,
		Bounds:     bounds(0, "2n", "2n²"),
		Adjust: func(d *election.Declaration, p election.Parameters) {
			if announce.Is(p, "direct") {
				d.Bounds = bounds(1, "2n - 1", "2n² - n")
			}
		},
	},
	New:     New,
	Start:   (*Process).elect,
	Receive: (*Process).Receive,
	Timeout: (*Process).Timeout,
	Recover: (*Process).elect,
	Suspect: (*Process).Suspect,
	Trust:   (*Process).Trust,
	Durable: func(p *Process) any { return &p.Epoch },
}

// bounds returns the bounds of a form of announcement that saves that many messages.
func bounds(saved uint64, total, all string) []election.Bound {
	const lists = "each of k initiators sends a list round"
	return []election.Bound{
		{
			Of: "election", Case: election.Best, Formula: "n", Source: lists + "; reached with one initiator",
			Value: func(n uint64) uint64 { return n },
		},
		{
			Of: "election", Case: election.Worst, Formula: "n²", Source: lists + "; reached if all initiate",
			Value: func(n uint64) uint64 { return n * n },
		},
		{
			Of: "total", Case: election.Best, Formula: total, Source: "kn and the announcements; reached with one initiator",
			Value: func(n uint64) uint64 { return 2*n - saved },
		},
		{
			Of: "total", Case: election.Worst, Formula: all, Source: "kn and the announcements; reached if all initiate",
			Value: func(n uint64) uint64 { return n * (2*n - saved) },
		},
		{
			Of: "total", Case: election.Worst, Formula: total, OneStart: true, Source: "the list and the announcement",
			Value: func(n uint64) uint64 { return 2*n - saved },
		},
	}
}

// New returns a process that knows no coordinator.
func New(l election.Local) Process {
	return Process{
		ID: l.ID, Members: election.ID(l.Degree),
		Direct: announce.Is(l.Parameters, "direct"),
		Wait:   timeout.Ticks(l.Parameters),
	}
}

// next returns the successor of a member on the ring.
func (p *Process) next(id election.ID) election.ID { return id%p.Members + 1 }

// elect applies step 1: a list with one entry, in a new epoch.
func (p *Process) elect(out *election.Out[Message]) {
	if p.Coordinator != 0 {
		p.Coordinator = 0
		out.NoLeader()
	}
	p.Epoch++
	p.transmit(Election, Message{List: []election.ID{p.ID}, Epoch: p.Epoch}, p.next(p.ID), out)
}

// settled reports whether every list that has come by, or left, was followed by an announcement.
func (p *Process) settled() bool { return p.Since == p.Epoch }

// Suspect handles the failure detector's suspicion of the process behind a port, which may have held a list.
func (p *Process) Suspect(port election.Port, out *election.Out[Message]) {
	if election.From(port) == p.Coordinator || !p.settled() {
		p.elect(out)
	}
}

// Trust comes after a pause or a partition, which S2 does not have. Each side may have a leader.
func (p *Process) Trust(_ election.Port, out *election.Out[Message]) {
	if p.Coordinator == p.ID || !p.settled() {
		p.elect(out)
	}
}

// Receive acknowledges a message, unless it is an acknowledgement, and handles it.
func (p *Process) Receive(port election.Port, kind election.Kind, m Message, out *election.Out[Message]) {
	if kind == Acknowledgement {
		p.acknowledged(election.From(port), m, out)
		return
	}
	out.Send(port, Acknowledgement, Message{List: m.List[:1], Leader: m.Leader, Epoch: m.Epoch})
	switch kind {
	case Election:
		p.collect(m, out)
	case Coordinator:
		p.hear(m, out)
	}
}

// collect passes a list on, once. If the list is the process's own, collect announces the elected member.
func (p *Process) collect(m Message, out *election.Out[Message]) {
	p.Epoch = max(p.Epoch, m.Epoch)
	switch {
	case m.List[0] == p.ID:
		p.announce(m, out)
	case !slices.Contains(m.List, p.ID):
		m.Epoch = p.Epoch
		p.pass(Election, m, out)
	}
}

// announce applies step 2. A direct announcement waits only for the acknowledgement of the elected process: that dead
// members do not hear it does no harm.
func (p *Process) announce(list Message, out *election.Out[Message]) {
	m := Message{Leader: slices.Max(list.List), Epoch: list.Epoch}
	switch {
	case !p.believe(m, out):
	case !p.Direct:
		p.pass(Coordinator, m, out)
	default:
		m.List = []election.ID{p.ID}
		for _, id := range list.List {
			if id == m.Leader && id != p.ID {
				p.transmit(Coordinator, m, id, out)
			} else if id != p.ID {
				out.Send(election.To(id), Coordinator, m)
			}
		}
	}
}

// hear passes an announcement on, once.
func (p *Process) hear(m Message, out *election.Out[Message]) {
	if !slices.Contains(m.List, p.ID) && p.believe(m, out) && !p.Direct {
		p.pass(Coordinator, m, out)
	}
}

// believe follows the announced leader, and reports whether the announcement should be passed on.
func (p *Process) believe(m Message, out *election.Out[Message]) bool {
	switch {
	case m.Epoch < p.Epoch: // a newer election is under way, or has ended
		return true
	case m.Leader < p.ID, // the list did not see this process,
		m.Leader < p.Coordinator && p.Since == m.Epoch: // or not the one that it follows
		p.elect(out)
		return false
	case m.Leader == p.Coordinator: // as before
	case m.Leader == p.ID:
		out.Lead(0)
	default:
		out.Follow(m.Leader, 0)
	}
	p.Coordinator, p.Since, p.Epoch = m.Leader, m.Epoch, m.Epoch
	return true
}

// pass adds the process to a list and sends it on.
func (p *Process) pass(kind election.Kind, m Message, out *election.Out[Message]) {
	m.List = append(m.List[:len(m.List):len(m.List)], p.ID)
	p.transmit(kind, m, p.next(p.ID), out)
}

// transmit sends a message that must be acknowledged.
func (p *Process) transmit(kind election.Kind, m Message, to election.ID, out *election.Out[Message]) {
	out.Send(election.To(to), kind, m)
	p.await(append(p.Pending[:len(p.Pending):len(p.Pending)], Transmission{m, to, kind, out.Deadline(p.Wait)}), out)
}

// await waits for these acknowledgements.
func (p *Process) await(pending []Transmission, out *election.Out[Message]) {
	p.Pending = pending
	if len(pending) == 0 {
		out.Stop(Overdue)
	} else {
		out.At(Overdue, pending[0].Until)
	}
}

// acknowledged ends a transmission.
func (p *Process) acknowledged(by election.ID, m Message, out *election.Out[Message]) {
	i := slices.IndexFunc(p.Pending, func(t Transmission) bool {
		return t.To == by && t.Message.List[0] == m.List[0] && t.Message.Leader == m.Leader && t.Message.Epoch == m.Epoch
	})
	if i >= 0 {
		p.await(slices.Concat(p.Pending[:i], p.Pending[i+1:]), out)
	}
}

// Timeout skips members that have not acknowledged in time, unless it is the elected process that has not heard of
// it.
func (p *Process) Timeout(_ election.Timer, out *election.Out[Message]) {
	for len(p.Pending) > 0 && out.Passed(p.Pending[0].Until) {
		t := p.Pending[0]
		p.await(p.Pending[1:], out)
		if t.Kind == Coordinator && t.To == t.Message.Leader {
			p.elect(out)
		} else {
			p.transmit(t.Kind, t.Message, p.next(t.To), out)
		}
	}
}
