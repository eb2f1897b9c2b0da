// Package ringbully elects the largest identifier on an asynchronous bidirectional, oriented ring of unknown size:
// S1's Bully, which is the idea of Hirschberg and Sinclair (1980) with probes, replies and a terminating message.
//
// Source: S1 section 13.3, its code lines 1-30, cited as L1 … L30 below. The scan of S1 lost operators; here they are
// restored.
package ringbully

import (
	"ringleader.example/ringleader/election"
	"ringleader.example/ringleader/internal/core/mean"
)

// The ports: the links that lead clockwise and counter-clockwise.
const (
	CW election.Port = iota
	CCW
)

// The kinds of message.
const (
	Probe election.Kind = iota
	Reply
	Terminate
)

// Message is ⟨probe, ids, phase, ttl⟩, ⟨reply, ids, phase⟩ or ⟨terminate⟩.
type Message struct {
	ID    election.ID `kinds:"probe,reply"`
	TTL   uint32      `kinds:"probe"`
	Phase uint8       `kinds:"probe,reply"`
}

type leader uint8

const (
	null leader = iota // NIL
	yes                // TRUE
	no                 // FALSE
)

// Process is the state of one processor.
type Process struct {
	ID      election.ID
	Awake   bool    // L2: not asleep
	Replied [2]bool // L3, L4: CWreplied, CCWreplied
	Leader  leader  // L5
}

// Algorithm is S1's Bully.
var Algorithm = election.Algorithm[Process, Message]{
	Declaration: election.Declaration{
		Name:   "ring-bully",
		Title:  "Bully on a ring (Hirschberg, Sinclair; probe and reply)",
		Year:   1980,
		Source: "Algorithms of Informatics §13.3 (S1)",
		About: "In phase k a processor probes 2^k neighbours on either side. A greater identifier swallows the probe; " +
			"two replies let it enter the next phase, and a probe that returns to its origin has won.",
		Topology: election.Ring,
		Starts:   election.AllStart,
		Counts:   election.CountsFixed,
		Winner:   election.Largest,
		Kinds: []election.MessageKind{
			{Name: "probe", Class: election.Election},
			{Name: "reply", Class: election.Election},
			{Name: "terminate", Class: election.Announcement},
		},
		Bounds: []election.Bound{
			{
				Of: "total", Case: election.Worst, Formula: "n + 8n(⌈lg n⌉ + 2)", Source: "S1 theorem 13.10",
				Value: func(n uint64) uint64 { return n + 8*n*(election.CeilLog(n)+2) },
			},
			{
				Of: "election", Case: election.Average, Formula: "n·Σ over phases of the probabilities of continuing", Source: "derived; equal to the mean over all orders for n up to 8",
				Mean: func(n uint64) float64 {
					probes, replies := mean.Probes(n)
					return probes + replies
				},
			},
		},
	},
	New:     New,
	Start:   (*Process).Start,
	Receive: (*Process).Receive,
	Phase:   func(_ election.Kind, m Message) int { return int(m.Phase) },
}

// New returns a processor that is asleep: L1-L5.
func New(l election.Local) Process { return Process{ID: l.ID} }

// Start wakes the processor: L6-L8.
func (p *Process) Start(out *election.Out[Message]) {
	p.Awake = true
	p.enter(0, out)
}

// enter begins a phase: its probes make 2^phase hops.
func (p *Process) enter(phase uint8, out *election.Out[Message]) {
	probe := Message{ID: p.ID, Phase: phase, TTL: 1<<phase - 1}
	out.Send(CW, Probe, probe)
	out.Send(CCW, Probe, probe)
}

// Receive handles a message; S1 has separate code for each link. A processor serves others also while it is asleep
// and after it has terminated; otherwise the counts would depend on the schedule.
func (p *Process) Receive(port election.Port, kind election.Kind, m Message, out *election.Out[Message]) {
	other := 1 - port
	switch kind {
	case Probe: // L9
		switch {
		case m.ID == p.ID: // L10. Tested first: after 2^phase = n hops ttl is 0 at the origin, too.
			if p.Leader == null { // the second of the two probes returns later
				out.Send(CCW, Terminate, Message{}) // L11
				p.Leader = yes                      // L12
				out.Lead(0)                         // L13
			}
		case m.ID > p.ID && m.TTL > 0: // L14
			out.Send(other, Probe, Message{ID: m.ID, Phase: m.Phase, TTL: m.TTL - 1}) // L15
		case m.ID > p.ID: // L16: ttl = 0
			out.Send(port, Reply, Message{ID: m.ID, Phase: m.Phase}) // L17
		}
	case Reply: // L18
		if m.ID != p.ID { // L19
			out.Send(other, Reply, m) // L20
			return
		}
		p.Replied[port] = true               // L21
		if p.Replied[CW] && p.Replied[CCW] { // L22
			p.Replied = [2]bool{}   // L23, L24
			p.enter(m.Phase+1, out) // L25
		}
	case Terminate: // L26
		if p.Leader == null { // L27
			out.Send(CCW, Terminate, m) // L28
			p.Leader = no               // L29
			out.Follow(0, 0)            // L30; the message does not name the leader
		}
	}
}
