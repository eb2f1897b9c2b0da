// Package highamprzytycka elects one process, not the one of largest identifier, on an asynchronous unidirectional
// ring with FIFO links (Higham and Przytycka 1993, algorithm ELECT). It needs the fewest messages of all known
// algorithms.
//
// The source's rules, cited below by name. F(k) are the Fibonacci numbers, F(1) = F(2) = 1. A process remembers the
// label b and the round r' of the envelope that it sent last, and reads an envelope (a, r, c):
//
//	start     send (own identifier, 1, F(3)); a process that is asleep does so on its first message
//	leader    r = r', a = b: the owner of label a leads
//	destroy   r = r', r odd, a > b; or r = r', r even, a < b
//	promote   r = r', r odd, a < b; or r = r', r even, a > b
//	distance  r ≠ r', r odd, c = 0: promote
//	witness   r' = r-1, r even, a > b: promote
//	pass      otherwise, send (a, r, c-1), with c = 0 in even rounds
//
// Promotion sends (a, r+1, c) with c = F(r+3) - 1 if r+1 is odd: the first hop is counted. The last two rules of
// promotion only reduce the number of messages. At most n/F(i) envelopes enter odd round i, and rounds i and i+1 (i
// even) together cost at most 2n - n·F(i)/F(i+3). The largest identifier is destroyed in round 1, for n ≥ 2.
package highamprzytycka

import (
	"math"
	"math/bits"

	"ringleader.example/ringleader/election"
)

// Right is the only port that messages are sent on.
const Right election.Port = 0

// The kinds of message.
const (
	Envelope election.Kind = iota
	Leader
)

// Message is the envelope (a, r, c), or the winning label.
type Message struct {
	ID    election.ID // a: the label
	Round uint32      // r, from 1 on. The proof needs 1; public programs begin with 0.
	Hops  uint32      // c: in odd rounds, the number of hops until promotion by distance; 0 in even rounds
}

// Process is the state of one process.
type Process struct {
	ID      election.ID
	Last    election.ID // b: the label of the envelope that it sent last
	Round   uint32      // r': the round of that envelope; 0: asleep
	Decided bool
}

// Algorithm is Higham and Przytycka's ELECT.
var Algorithm = election.Algorithm[Process, Message]{
	Declaration: election.Declaration{
		Name:   "higham-przytycka",
		Title:  "Higham–Przytycka",
		Year:   1993,
		Source: "Higham–Przytycka 1993",
		About: "Every process sends an envelope with its identifier. A process compares each envelope with the one of the same round that it sent last, and " +
			"destroys or promotes it: odd rounds promote the smaller label, or after a Fibonacci number of hops, and even rounds the larger label.",
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
				Of: "election", Case: election.Best, Formula: "n·min(n, 2)", Source: "round 1 costs n, and the winner's last round n; reached by decreasing identifiers",
				Value: func(n uint64) uint64 { return n * min(n, 2) },
			},
		},
	},
	New:     New,
	Start:   (*Process).Start,
	Receive: (*Process).Receive,
	Phase:   func(_ election.Kind, m Message) int { return int(m.Round) },
}

// worst grows like (4-√5)/2 · n · log_φ n + O(n) with the golden ratio φ, which is 1.271 n lg n + O(n).
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

// fibonacci returns F(k), with F(1) = F(2) = 1. From F(94) on it returns the largest uint64: no ring has that many
// processes.
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

// New returns a process that is asleep.
func New(l election.Local) Process { return Process{ID: l.ID} }

// Start sends the process's own envelope, once.
func (p *Process) Start(out *election.Out[Message]) {
	if p.Round == 0 {
		p.send(Message{p.ID, 1, uint32(fibonacci(3))}, out) // start
	}
}

func (p *Process) send(m Message, out *election.Out[Message]) {
	p.Last, p.Round = m.ID, m.Round
	out.Send(Right, Envelope, m)
}

// Receive handles a message; a process that is asleep joins first.
func (p *Process) Receive(_ election.Port, kind election.Kind, m Message, out *election.Out[Message]) {
	p.Start(out)
	if kind == Leader {
		if !p.Decided { // else it has returned to its origin
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
		odd && m.Hops == 0,                      // by distance
		!odd && p.Round == m.Round-1 && greater: // by witness
		p.send(promoted(m), out)
	case odd: // pass
		m.Hops--
		p.send(m, out)
	default:
		p.send(m, out)
	}
}

// promoted returns the envelope in its next round. The next hop is already counted.
func promoted(m Message) Message {
	m.Round++
	m.Hops = 0
	if m.Round%2 == 1 {
		// A distance that does not fit is longer than any ring.
		m.Hops = uint32(min(fibonacci(m.Round+2), math.MaxUint32)) - 1
	}
	return m
}

// decide makes the owner of the label leader, which is rarely the process that found out, and sends the announcement
// on.
func (p *Process) decide(m Message, out *election.Out[Message]) {
	p.Decided = true
	if m.ID == p.ID {
		out.Lead(0)
	} else {
		out.Follow(m.ID, 0)
	}
	out.Send(Right, Leader, m)
}
