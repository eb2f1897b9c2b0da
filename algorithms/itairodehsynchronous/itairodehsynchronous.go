// Package itairodehsynchronous elects a random processor on a synchronous anonymous unidirectional ring of known size
// (Itai and Rodeh 1981). In phases of n units all processors count the candidates.
//
// The rules, cited below by name. At first all n processors are active; a is the number of active ones:
//
//	candidate  at the start of a phase each active processor becomes a candidate with probability 1/a, and sends a
//	           message round the ring
//	count      in n units all processors have counted the c candidates
//	done       c = 1: the candidate leads
//	repeat     c = 0: the next phase has the same active processors
//	fewer      c > 1: the candidates are the active processors of the next phase, a := c
//
// With choices = K > 0 it is the protocol of Itai and Rodeh that model checkers use as an example. In each phase:
//
//	choose     each processor chooses one of K values, and sends its choice round the ring
//	unique     in n units all processors have received all choices; the largest value with only one processor wins
//	again      without such a value all processors choose again
package itairodehsynchronous

import (
	"math"
	"math/bits"

	"ringleader.example/ringleader/election"
)

// Right is the only port that messages are sent on.
const Right election.Port = 0

// Candidate is the only kind of message: its sender is a candidate, or has made a choice.
const Candidate election.Kind = 0

// phase is the timer of a phase, n units long.
const phase election.Timer = 0

// Message is the message of a candidate, or a choice.
type Message struct {
	Hop    uint32 // the number of links that it has passed when it arrives; n at its origin
	Choice uint32 // with choices: the value that its sender chose
}

// Process is the state of one process.
type Process struct {
	N         uint32 `election:"constant"`
	Choices   uint32 `election:"constant"` // K; 0: candidates
	Actives   uint32 // a: the number of active processors
	Count     uint32 // c: the number of candidates in this phase, so far
	Active    bool
	Candidate bool // in this phase; with choices, at its end: its value is the largest unique one

	Once  uint64 // with choices: the values that were chosen in this phase, as bits, so far
	Again uint64 // those of them that several processors chose
}

// choices is the number K of values.
var choices = election.Number{
	Name: "choices", About: "K: the processor with the largest value wins that no other chose, of K values; 0: candidates with probability 1/a",
	Whole: true, Most: 64, Default: "0",
}

// Algorithm is Itai and Rodeh's.
var Algorithm = election.Algorithm[Process, Message]{
	Declaration: election.Declaration{
		Name:   "itai-rodeh-synchronous",
		Title:  "Itai–Rodeh, synchronous",
		Year:   1981,
		Source: "Itai–Rodeh 1981",
		About: "In phases of n units each of a active processors becomes a candidate with probability 1/a and sends a message round the ring. " +
			"All count the candidates: a single one is the leader; several are the active processors from then on; without a candidate all try again.",
		Topology:    election.Ring,
		OneWay:      true,
		Timing:      election.Synchronous,
		Identifiers: election.Anonymous,
		KnowsSize:   true,
		Starts:      election.Together,
		Kinds:       []election.MessageKind{{Name: "candidate", Class: election.Election}},
		Timers:      []string{"phase"},
		Parameters:  []election.Parameter{&choices},
		Adjust:      adjust,
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

// adjust declares what choices cost: each takes n hops.
func adjust(d *election.Declaration, p election.Parameters) {
	if choices.Rational(p).Sign() > 0 {
		d.Bounds = []election.Bound{{
			Of: "election", Case: election.Best, Formula: "n²; 0 if n = 1", Source: "a unique value in the first phase; a single processor knows that it is alone",
			Value: func(n uint64) uint64 {
				if n == 1 {
					return 0
				}
				return n * n
			},
		}}
	}
}

// MeanPhases returns the mean number of phases M(n). With c of a candidates, M(a) = 1 + Σ P(c)·M(c), where c = 1
// needs no more phases and c = 0 leaves a as it is. Large c are too unlikely for a float64.
func MeanPhases(n uint64) float64 {
	const most = 60
	mean := make([]float64, min(n, most)+1)
	of := func(a uint64) float64 {
		p := math.Pow(1-1/float64(a), float64(a)) // the probability of c candidates; first of none
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

// New returns a process that is asleep.
func New(l election.Local) Process {
	k := uint32(choices.Rational(l.Parameters).Num().Uint64())
	return Process{N: uint32(l.N), Choices: k, Actives: uint32(l.N), Active: true}
}

// Start enters the first phase, unless the process is alone.
func (p *Process) Start(out *election.Out[Message]) {
	if p.N == 1 {
		out.Lead(0)
		return
	}
	p.enter(out)
}

// enter enters a phase: candidate, choose.
func (p *Process) enter(out *election.Out[Message]) {
	p.Count, p.Once, p.Again = 0, 0, 0
	if p.Choices > 0 {
		out.Send(Right, Candidate, Message{Hop: 1, Choice: out.Choose(p.Choices)})
	} else if p.Candidate = p.Active && out.Choose(p.Actives) == 0; p.Candidate {
		out.Send(Right, Candidate, Message{Hop: 1})
	}
	out.After(phase, election.Units(uint64(p.N)))
}

// Receive counts a candidate, or notes a choice. The message ends at its origin, when the phase ends.
func (p *Process) Receive(_ election.Port, _ election.Kind, m Message, out *election.Out[Message]) {
	p.Count++
	chosen := uint64(1) << m.Choice
	p.Again |= p.Once & chosen
	p.Once |= chosen
	if m.Hop < p.N {
		out.Send(Right, Candidate, Message{m.Hop + 1, m.Choice})
	} else if p.Choices > 0 { // its own, the last of the phase
		p.Candidate = bits.Len64(p.Once&^p.Again) == int(m.Choice)+1
	}
}

// Timeout ends a phase: count, or unique.
func (p *Process) Timeout(_ election.Timer, out *election.Out[Message]) {
	if p.Choices > 0 {
		p.unique(out)
		return
	}
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

// unique ends a phase of choices: unique, or again.
func (p *Process) unique(out *election.Out[Message]) {
	switch {
	case p.Once == p.Again:
		p.enter(out)
	case p.Candidate:
		out.Lead(0)
	default:
		out.Follow(0, 0)
	}
}
