// Package outside has handlers that are not executed symbolically: each has one construct too many.
package outside

import (
	"fmt"

	"ringleader.example/ringleader/election"
)

// Message is a message.
type Message struct{ ID election.ID }

// Process is a process.
type Process struct {
	ID    election.ID
	Round uint8
	Seen  [4]election.ID
	Count int
}

// Algorithm is none.
var Algorithm = election.Algorithm[Process, Message]{New: New, Start: (*Process).Start, Receive: (*Process).Receive}

var (
	last election.ID
	flag election.Choice
)

// New is fine.
func New(l election.Local) Process { return Process{ID: l.ID} }

// Start is fine.
func (p *Process) Start(out *election.Out[Message]) {
	Algorithm := struct{}{}
	_ = Algorithm
	out.Lead(0)
}

// Receive is fine.
func (p *Process) Receive(_ election.Port, _ election.Kind, m Message, _ *election.Out[Message]) {
	p.ID = max(p.ID, m.ID)
}

// Loop has a loop.
func Loop(p *Process, out *election.Out[Message]) {
	for range p.Round {
		out.Lead(0)
	}
}

// Map has a map.
func Map(p *Process, _ *election.Out[Message]) { p.ID = map[election.ID]election.ID{1: 2}[p.ID] }

// Routine has a goroutine.
func Routine(p *Process, out *election.Out[Message]) { go p.Start(out) }

// Deferred has a deferred call.
func Deferred(p *Process, out *election.Out[Message]) { defer p.Start(out) }

// Channel has a channel.
func Channel(p *Process, _ *election.Out[Message]) { make(chan election.ID, 1) <- p.ID }

// Recursive calls itself.
func Recursive(p *Process, out *election.Out[Message]) {
	if p.Round++; p.Round != 0 {
		Recursive(p, out)
	}
}

// Call calls a function of another package.
func Call(p *Process, _ *election.Out[Message]) { fmt.Println(p.ID) }

// Timer has an effect that no tie knows.
func Timer(_ *Process, out *election.Out[Message]) { out.Stop(0) }

// Global changes a variable of its package.
func Global(p *Process, _ *election.Out[Message]) { last = p.ID }

// Index has an index that is not constant.
func Index(p *Process, _ *election.Out[Message]) { p.ID = p.Seen[p.Round&3] }

// Literal has a function literal.
func Literal(p *Process, _ *election.Out[Message]) {
	f := func() { p.ID = 0 }
	f()
}

// Signed has arithmetic of numbers that may be negative.
func Signed(p *Process, _ *election.Out[Message]) { p.Count++ }

// Product has an operator that is not executed.
func Product(p *Process, _ *election.Out[Message]) { p.Round /= 3 }

// Narrow has a conversion that may lose something.
func Narrow(p *Process, _ *election.Out[Message]) { p.Round = uint8(p.ID) }

// Goto has a loop with two entries.
func Goto(p *Process, out *election.Out[Message]) {
	if p.Round == 0 {
		goto second
	}
first:
	out.Lead(0)
second:
	out.Follow(p.ID, 0)
	goto first
}

// Long has no loop, and too many calls.
func Long(p *Process, _ *election.Out[Message]) {
	p.thousands()
	p.thousands()
	p.thousands()
	p.thousands()
}

func (p *Process) thousands() {
	p.hundreds()
	p.hundreds()
	p.hundreds()
	p.hundreds()
	p.hundreds()
	p.hundreds()
	p.hundreds()
}

func (p *Process) hundreds() {
	p.tens()
	p.tens()
	p.tens()
	p.tens()
	p.tens()
	p.tens()
	p.tens()
}

func (p *Process) tens() {
	p.some()
	p.some()
	p.some()
	p.some()
	p.some()
	p.some()
	p.some()
}

func (p *Process) some() {
	p.one()
	p.one()
	p.one()
	p.one()
	p.one()
	p.one()
	p.one()
}

func (p *Process) one() { p.ID = 1 }

// Parameters are none that New was given.
func Parameters(p *Process, out *election.Out[Message]) {
	if flag.Is(election.Parameters{}, "odd") {
		out.Lead(0)
	}
}

const kind election.Kind = 3

// Sums adds to the kind of a message, and to a constant that a tie calls the same.
func Sums(_ *Process, _ election.Port, k election.Kind, m Message, out *election.Out[Message]) {
	constant := kind
	constant++
	out.Send(0, k+1, m)
	out.Send(0, constant, m)
}
