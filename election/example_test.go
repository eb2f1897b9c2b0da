package election_test

import (
	"fmt"

	"ringleader.example/ringleader/election"
)

// Greatest elects the greatest identifier on a ring. Every identifier goes round, and a process that gets its own
// back knows them all. It needs n messages each, n² in all.
type Greatest struct {
	ID, Max election.ID
	Started bool
}

// Token carries an identifier round the ring.
type Token struct{ ID election.ID }

// Start sends the process's own identifier, once.
func (g *Greatest) Start(out *election.Out[Token]) {
	if !g.Started {
		g.Started = true
		out.Send(0, 0, Token{g.ID})
	}
}

// Receive passes on the identifiers of others. They arrive in ring order, so the process's own returns after all
// others.
func (g *Greatest) Receive(_ election.Port, _ election.Kind, t Token, out *election.Out[Token]) {
	g.Start(out) // join before the first identifier is passed on
	g.Max = max(g.Max, t.ID)
	switch {
	case t.ID != g.ID:
		out.Send(0, 0, t)
	case g.Max == g.ID:
		out.Lead(0)
	default:
		out.Follow(g.Max, 0)
	}
}

// Algorithm is complete: declaration and functions.
var Algorithm = election.Algorithm[Greatest, Token]{
	Declaration: election.Declaration{
		Name: "greatest", Title: "All identifiers go round", Topology: election.Ring, OneWay: true, FIFO: true,
		Winner: election.Largest, Kinds: []election.MessageKind{{Name: "token", Class: election.Election}},
		Bounds: []election.Bound{{
			Of: "election", Case: election.Worst, Formula: "n²", Value: func(n uint64) uint64 { return n * n },
		}},
	},
	New:     func(l election.Local) Greatest { return Greatest{ID: l.ID} },
	Start:   (*Greatest).Start,
	Receive: (*Greatest).Receive,
}

// A ring of one process, run by hand: its link leads back to it. Engines do this; see package simulate.
func Example() {
	var c election.Collector[Token]
	g := Algorithm.New(election.Local{ID: 1, Degree: 2})
	Algorithm.Start(&g, c.Out())
	for len(c.Sent()) > 0 {
		for _, m := range c.Swap(nil) {
			fmt.Println("sent", m.M.ID)
			Algorithm.Receive(&g, 1, m.Kind(), m.M, c.Out())
		}
	}
	fmt.Println("leads:", c.Effects()[0].Op == election.Lead)
	// Output:
	// sent 1
	// leads: true
}
