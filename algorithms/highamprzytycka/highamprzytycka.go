// Package highamprzytycka elects on a one-directional ring with the fewest messages known: envelopes are
// promoted from round to round by comparison, in odd rounds also by the distance that they went, and in
// even rounds by a witness.
//
// Source: Higham and Przytycka's ELECT, as ALGORITHMS 9.5 states it; its rules are cited as start, leader,
// destroy, promote, distance, witness and pass below.
package highamprzytycka

import (
	"math"
	"math/bits"

	"ringleader.example/ringleader/election"
)

// Right is the only port that is sent on.
const Right election.Port = 0

// The messages.
const (
	Envelope election.Kind = iota
	Leader
)

// Message is the envelope (a, r, c), or the label that won.
type Message struct {
	ID    election.ID // a: the label
	Round uint32      // r, from 1 on. The proof needs 1, though public programs begin with 0.
	Hops  uint32      // c: in odd rounds, how many hops are left until distance promotes it; 0 in even ones
}

// Process is the state of one process.
type Process struct {
	ID      election.ID
	Last    election.ID // b: the label of the envelope that it sent last
	Round   uint32      // r': the round of that envelope; 0: it sleeps
	Decided bool
}

// Algorithm is Higham and Przytycka's.
var Algorithm = election.Algorithm[Process, Message]{
	Declaration: election.Declaration{
		Name:   "higham-przytycka",
		Title:  "Higham–Przytycka",
		Year:   1993,
		Source: "Higham–Przytycka 1993",
		About: "Every process sends an envelope with its identifier. An envelope that meets one of its own round, by the label that was sent last, " +
			"is destroyed or promoted; odd rounds promote the smaller one, or after a Fibonacci number of hops, and even rounds the larger one.",
		Topology: election.Ring,
		OneWay:   true,
		FIFO:     true,
		Counts:   election.CountsFixed,
		Kinds:    []election.MessageKind{{Name: "envelope", Class: election.Election}, {Name: "leader", Class: election.Announcement}},
		Bounds: []election.Bound{
			{
				Of: "election", Case: election.Worst, Formula: "n + Σ over even i with F(i-1) ≤ n of 2n - ⌈n·F(i)/F(i+3)⌉; the sum is empty for n = 1",
				Source: "Higham–Przytycka 1993: at most n/F(i) envelopes enter odd round i, and rounds i and i+1 together cost at most 2n - n·F(i)/F(i+3)",
				Value:  worst,
			},
			{
				Of: "election", Case: election.Best, Formula: "n·min(n, 2)", Source: "round 1 costs n, and the winner's last round n; reached by falling identifiers",
				Value: func(n uint64) uint64 { return n * min(n, 2) },
			},
		},
	},
	New:     New,
	Start:   (*Process).Start,
	Receive: (*Process).Receive,
	Phase:   func(_ election.Kind, m Message) int { return int(m.Round) },
}

// worst is at most (4-√5)/2 · log n to the golden ratio · n + O(n), which is 1.271 n lg n + O(n).
func worst(n uint64) uint64 {
	sum := n // round 1: each envelope is compared after one hop
	if n == 1 {
		return sum
	}
	for i := uint32(2); fibonacci(i-1) <= n; i += 2 { // else nothing enters odd round i-1, which leads to round i
		over := fibonacci(i + 3)
		hi, lo := bits.Mul64(n, fibonacci(i))
		saved, rest := bits.Div64(hi, lo, over)
		if rest > 0 {
			saved++
		}
		sum += 2*n - saved
	}
	return sum
}

// fibonacci is F(k), F(1) = F(2) = 1; from F(94) on the greatest number that there is, which no ring has
// as many processes as.
func fibonacci(k uint32) uint64 {
	f, next := uint64(0), uint64(1)
	for range k {
		sum, carry := bits.Add64(f, next, 0)
		if f = next; carry != 0 {
			sum = math.MaxUint64
		}
		next = sum
	}
	return f
}

// New is a process that sleeps.
func New(l election.Local) Process { return Process{ID: l.ID} }

// Start sends one's own envelope, once.
func (p *Process) Start(out *election.Out[Message]) {
	if p.Round == 0 {
		p.send(Message{p.ID, 1, uint32(fibonacci(3))}, out) // start
	}
}

func (p *Process) send(m Message, out *election.Out[Message]) {
	p.Last, p.Round = m.ID, m.Round
	out.Send(Right, Envelope, m)
}

// Receive handles a message; a sleeper joins first.
func (p *Process) Receive(_ election.Port, kind election.Kind, m Message, out *election.Out[Message]) {
	p.Start(out)
	if kind == Leader {
		if !p.Decided { // else it is home again
			p.decide(m, out)
		}
		return
	}
	odd, greater := m.Round%2 == 1, m.ID > p.Last
	switch {
	case m.Round == p.Round && m.ID == p.Last:
		p.decide(m, out) // leader
	case m.Round == p.Round && odd == greater: // destroy
	case m.Round == p.Round, // promote: odd and smaller, even and greater
		odd && m.Hops == 0,                      // distance
		!odd && p.Round == m.Round-1 && greater: // witness
		p.send(promoted(m), out)
	case odd: // pass
		m.Hops--
		p.send(m, out)
	default:
		p.send(m, out)
	}
}

// promoted is the envelope in its next round; the hop that comes is one of those that it has.
func promoted(m Message) Message {
	m.Round++
	m.Hops = 0
	if m.Round%2 == 1 {
		// A distance that does not fit is one that no ring has.
		m.Hops = uint32(min(fibonacci(m.Round+2), math.MaxUint32)) - 1
	}
	return m
}

// decide makes the owner of the label leader, hardly ever the process that found out, and tells the next one.
func (p *Process) decide(m Message, out *election.Out[Message]) {
	p.Decided = true
	if m.ID == p.ID {
		out.Lead(0)
	} else {
		out.Follow(m.ID, 0)
	}
	out.Send(Right, Leader, m)
}
