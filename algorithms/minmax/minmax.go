// Package minmax elects one process, not necessarily an extreme one, on an asynchronous unidirectional ring with FIFO
// links and one message a stage (Santoro 2006, MinMax). Odd and even stages keep processes by opposite rules, so that
// Fibonacci numbers bound the number of stages.
//
// In each stage an active process sends its value to the next active process, receives a value, and adopts it if it
// stays active. The rules, cited below by name:
//
//	odd   in odd stages it stays active if the received value is smaller
//	even  in even stages it stays active if the received value is larger
//	own   the received value is its own: no other process is active; the value's owner leads
//
// The largest identifier never wins for n ≥ 2: stage 1 eliminates it.
package minmax

import "ringleader.example/ringleader/election"

// Right is the only port that messages are sent on.
const Right election.Port = 0

// The kinds of message.
const (
	Envelope election.Kind = iota
	Leader
)

// Message is a value on its way to the next active process, or the winning value.
type Message struct {
	ID    election.ID
	Stage uint32 // for statistics: with FIFO links the stage is always that of the receiver
}

// Process is the state of one process.
type Process struct {
	ID      election.ID
	Value   election.ID // its present value; another process's identifier from stage 2 on
	Stage   uint32      // 0: asleep
	Passive bool
	Decided bool
}

// Algorithm is MinMax.
var Algorithm = election.Algorithm[Process, Message]{
	Declaration: election.Declaration{
		Name:   "minmax",
		Title:  "MinMax",
		Year:   2006,
		Source: "Santoro 2006, chapter 3",
		About: "In each stage an active process sends its value to the next one. It stays active if the value that it receives is smaller, " +
			"in even stages if it is larger; then it adopts that value. A process that receives the value that it sent announces its owner.",
		Topology: election.Ring,
		OneWay:   true,
		FIFO:     true,
		Counts:   election.CountsFixed,
		Kinds:    []election.MessageKind{{Name: "envelope", Class: election.Election}, {Name: "leader", Class: election.Announcement}},
		Bounds: []election.Bound{
			{
				// Values that survive a stage and are then neighbours were neighbours before only if the first was
				// the smaller (odd stages; even ones mirror it). A value survives the next stage only if its next
				// neighbour is on the other side, so a value that did not survive stood between them. Hence of a(i)
				// active processes a(i+2) <= a(i) - a(i+1) are left two stages later: k stages need n >= F(k+1).
				Of: "election", Case: election.Worst, Formula: "n·max{k: F(k+1) ≤ n}, F(1) = F(2) = 1",
				Source: "derived; reached by some order for n up to 12",
				Value:  func(n uint64) uint64 { return n * stages(n) },
			},
			{
				Of: "election", Case: election.Best, Formula: "n·min(n, 2)", Source: "one stage leaves a process, another finds it alone; reached by decreasing identifiers",
				Value: func(n uint64) uint64 { return n * min(n, 2) },
			},
		},
	},
	New:     New,
	Start:   (*Process).Start,
	Receive: (*Process).Receive,
	Phase:   func(_ election.Kind, m Message) int { return int(m.Stage) },
}

// stages returns the greatest k with F(k+1) <= n.
func stages(n uint64) uint64 {
	k := uint64(0)
	for next, after := uint64(1), uint64(2); next <= n; next, after = after, next+after { // F(k+2), F(k+3)
		k++
	}
	return k
}

// New returns a process that is asleep.
func New(l election.Local) Process { return Process{ID: l.ID} }

// Start sends the process's own identifier, once.
func (p *Process) Start(out *election.Out[Message]) {
	if p.Stage == 0 {
		p.enter(p.ID, out)
	}
}

// enter begins the next stage with a value.
func (p *Process) enter(value election.ID, out *election.Out[Message]) {
	p.Value = value
	p.Stage++
	out.Send(Right, Envelope, Message{value, p.Stage})
}

// Receive handles a message; a process that is asleep joins first.
func (p *Process) Receive(_ election.Port, kind election.Kind, m Message, out *election.Out[Message]) {
	p.Start(out)
	odd := p.Stage%2 == 1
	switch {
	case kind == Leader:
		if !p.Decided { // else it has returned to its origin
			p.decide(m, out)
		}
	case p.Passive:
		out.Send(Right, Envelope, m)
	case m.ID == p.Value: // own
		p.decide(m, out)
	case odd && m.ID < p.Value, // odd
		!odd && m.ID > p.Value: // even
		p.enter(m.ID, out)
	default:
		p.Passive = true
	}
}

// decide makes the owner of the value leader, which is rarely the process that found out, and sends the announcement
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
