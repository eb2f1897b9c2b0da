// Package itairodehsynchronous elects by chance on a synchronous one-directional ring of known size whose processors
// have no identifiers: in each phase every active one becomes a candidate with a probability such that one is
// expected, and in n units all of them have counted the candidates.
//
// Source: Itai and Rodeh's synchronous algorithm as ALGORITHMS 9.9 states it; its rules are cited as candidate, count,
// done, repeat and fewer below.
package itairodehsynchronous

import (
	"math"

	"ringleader.example/ringleader/election"
)

// Right is the only port that is sent on.
const Right election.Port = 0

// Candidate is the only message: there is one who wants to lead.
const Candidate election.Kind = 0

// phase is the timer of a phase, n units long.
const phase election.Timer = 0

// Message says how many links it will have passed when it arrives; n is home.
type Message struct{ Hop uint32 }

// Process is the state of one process.
type Process struct {
	N         uint32 `election:"constant"`
	Actives   uint32 // how many there are: a
	Count     uint32 // of candidates in this phase, so far: c
	Active    bool
	Candidate bool // in this phase
}

// Algorithm is Itai and Rodeh's.
var Algorithm = election.Algorithm[Process, Message]{
	Declaration: election.Declaration{
		Name:   "itai-rodeh-synchronous",
		Title:  "Itai–Rodeh, synchronous",
		Year:   1981,
		Source: "Itai–Rodeh 1981",
		About: "In phases of n units each of a active processors becomes a candidate with probability 1/a and sends a message round the ring. " +
			"All count them: one candidate leads, of several these are the active ones from then on, and if there is none all try again.",
		Topology:    election.Ring,
		OneWay:      true,
		Timing:      election.Synchronous,
		Identifiers: election.Anonymous,
		KnowsSize:   true,
		Starts:      election.Together,
		Kinds:       []election.MessageKind{{Name: "candidate", Class: election.Election}},
		Timers:      []string{"phase"},
		Bounds: []election.Bound{
			{
				Of: "election", Case: election.Best, Formula: "n; 0 if n = 1", Source: "one candidate in the first phase; a single processor knows that it is alone",
				Value: func(n uint64) uint64 {
					if n == 1 {
						return 0
					}
					return n
				},
			},
			{
				Of: "election", Case: election.Average, Formula: "n·M(n), where M(n) is the mean number of phases",
				Source: "one candidate is expected in each phase; below 2.4418 n by Lavault–Louchard 2006",
				Mean:   func(n uint64) float64 { return float64(n) * MeanPhases(n) },
			},
		},
	},
	New:     New,
	Start:   (*Process).Start,
	Receive: (*Process).Receive,
	Timeout: (*Process).Timeout,
}

// MeanPhases is the mean number of phases M(n): with c of a candidates, M(a) = 1 + Σ P(c)·M(c), where one is none
// more to come and none are a again. That more than most of them are is too unlikely for a float64.
func MeanPhases(n uint64) float64 {
	const most = 60
	mean := make([]float64, min(n, most)+1)
	of := func(a uint64) float64 {
		p := math.Pow(1-1/float64(a), float64(a)) // of c candidates; first of none
		none, sum := p, 1.0
		for c := uint64(1); c < min(a, most); c++ {
			p *= float64(a-c+1) / (float64(c) * float64(a-1))
			sum += p * mean[c]
		}
		all := 0.0
		if a <= most {
			all = math.Pow(1/float64(a), float64(a))
		}
		return sum / (1 - none - all)
	}
	for a := uint64(2); a < uint64(len(mean)); a++ {
		mean[a] = of(a)
	}
	if n < 2 {
		return 0
	}
	return of(n)
}

// New is a process that sleeps.
func New(l election.Local) Process {
	return Process{N: uint32(l.N), Actives: uint32(l.N), Active: true}
}

// Start enters the first phase, unless there is nobody else.
func (p *Process) Start(out *election.Out[Message]) {
	if p.N == 1 {
		out.Lead(0)
		return
	}
	p.enter(out)
}

// enter enters a phase: candidate.
func (p *Process) enter(out *election.Out[Message]) {
	p.Count = 0
	if p.Candidate = p.Active && out.Choose(p.Actives) == 0; p.Candidate {
		out.Send(Right, Candidate, Message{Hop: 1})
	}
	out.After(phase, election.Units(uint64(p.N)))
}

// Receive counts a candidate; its message ends where it began, when the phase ends.
func (p *Process) Receive(_ election.Port, _ election.Kind, m Message, out *election.Out[Message]) {
	p.Count++
	if m.Hop < p.N {
		out.Send(Right, Candidate, Message{m.Hop + 1})
	}
}

// Timeout ends a phase: count.
func (p *Process) Timeout(_ election.Timer, out *election.Out[Message]) {
	switch {
	case p.Count == 1 && p.Candidate: // done
		out.Lead(0)
		return
	case p.Count == 1:
		out.Follow(0, 0)
		return
	case p.Count > 1: // fewer
		p.Actives, p.Active = p.Count, p.Candidate
	} // or repeat
	p.enter(out)
}
