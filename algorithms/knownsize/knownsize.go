// Package knownsize elects the smallest identifier on a synchronous unidirectional ring of known size, or with a
// known upper bound on it (Marchetti-Spaccamela 1987, section 2). Silence means that no smaller identifier takes
// part, so a single identifier goes round.
//
// Source: S5 section 2, whose processor i waits for N(i-1) units and, if it has heard nothing, wins. S5 counts n + 1
// messages; there are n, since the winner does not pass on its own identifier when that returns.
//
// starts=any is the protocol that S5 calls possible where its assumption (b), a simultaneous start, does not hold. It
// is ours. Phase 0 is that of S5's scheme: a processor that wakes sends "election started", and one that reads it
// while asleep passes it on and joins, if it is willing. Phase 0 may end n units later at one processor than at
// another. So each waits 2N(i-1) + 1 units after it. That takes exactly 2n messages.
package knownsize

import (
	"fmt"
	"math/big"

	"ringleader.example/ringleader/election"
)

// Right is the only port that messages are sent on.
const Right election.Port = 0

// The kinds of message.
const (
	Started election.Kind = iota // election started: phase 0
	Elected
)

// silence is the timer that expires if no smaller identifier takes part.
const silence election.Timer = 0

// Message is "i elected". "Election started" carries no identifier.
type Message struct {
	ID election.ID `kinds:"elected"`
}

// Process is the state of one process.
type Process struct {
	N         uint64 `election:"constant"` // the size of the ring, or more
	ID        election.ID
	Phase0    bool `election:"constant"` // starts=any
	Awake     bool // in phase 0 or later
	Candidate bool // takes part: waits for its turn, or will when phase 0 has ended
}

// The parameters.
var (
	starts = election.Choice{
		Name:  "starts",
		About: "when processors start: together, at 0; any, each at any time or on a message, with a phase 0 that wakes all",
		Words: []string{"together", "any"},
	}
	knownN = election.Number{
		Name: "N", Whole: true, Most: 1 << 62, Default: "0",
		About: "the number of processors, or an upper bound, that all of them know; 0 means the number itself",
	}
)

// Algorithm is S5's simplified protocol.
var Algorithm = election.Algorithm[Process, Message]{
	Declaration: election.Declaration{
		Name:   "known-size",
		Title:  "Known size (Marchetti-Spaccamela's simplified protocol)",
		Year:   1985,
		Source: "Marchetti-Spaccamela 1987, section 2 (S5)",
		About: "Processor i is silent for N(i-1) units, where N is at least the size of the ring. If it has heard of no elected " +
			"processor by then, i is elected: no smaller identifier takes part.",
		Topology:    election.Ring,
		OneWay:      true,
		Timing:      election.Synchronous,
		Identifiers: election.Computed,
		Willingness: true,
		Starts:      election.Together,
		Counts:      election.CountsFixed,
		Winner:      election.Smallest,
		Kinds:       []election.MessageKind{{Name: "started", Class: election.Election}, {Name: "elected", Class: election.Announcement}},
		Timers:      []string{"silence"},
		Parameters:  []election.Parameter{&starts, &knownN},
		Sequence:    size,
		Bounds:      exactly("n", 1),
		Adjust: func(d *election.Declaration, p election.Parameters) {
			if starts.Is(p, "any") {
				d.Starts, d.Counts, d.Bounds = election.AnyStart, election.CountsStartFirst, exactly("2n", 2)
			}
		},
	},
	New:      New,
	Start:    (*Process).Start,
	Receive:  (*Process).Receive,
	Timeout:  (*Process).Timeout,
	Eligible: func(p *Process) bool { return p.Candidate },
}

// exactly returns the bounds of an election that takes a fixed number of messages.
func exactly(formula string, times uint64) (bounds []election.Bound) {
	for _, c := range []election.Case{election.Worst, election.Best} {
		bounds = append(bounds, election.Bound{
			Of: "total", Case: c, Formula: formula, Source: "S5 section 2, which counts one more",
			Value: func(n uint64) uint64 { return times * n },
		})
	}
	return bounds
}

// size returns the only hypothesis on the length of the ring.
func size(p election.Parameters, n uint64, _ uint) ([]*big.Int, error) {
	number, given := new(big.Int).SetUint64(n), knownN.Rational(p).Num()
	switch {
	case given.Sign() == 0:
		return []*big.Int{number}, nil
	case given.Cmp(number) < 0:
		return nil, fmt.Errorf("parameter N is the number of processors or more, so at least %d, not %d; else two could be elected", n, given)
	}
	return []*big.Int{given}, nil
}

// New returns a process that is asleep.
func New(l election.Local) Process {
	return Process{N: l.Parameters.Sequence()[0].Lo, ID: l.ID, Phase0: starts.Is(l.Parameters, "any"), Candidate: l.Willing}
}

// Start makes the processor a candidate, unless a message has woken it, which decides by its willingness. If all
// start together, unwilling processors do not take part.
func (p *Process) Start(out *election.Out[Message]) {
	switch {
	case p.Awake:
	case p.Phase0:
		p.Awake, p.Candidate = true, true
		out.Send(Right, Started, Message{})
	case p.Candidate:
		p.Awake = true
		out.After(silence, p.turn())
	}
}

// turn returns N(i-1), the time after which it is the turn of processor i.
func (p *Process) turn() election.Ticks { return election.Units(p.N).Times(uint64(p.ID - 1)) }

// Receive handles a message.
func (p *Process) Receive(_ election.Port, kind election.Kind, m Message, out *election.Out[Message]) {
	switch {
	case kind == Started:
		if !p.Awake {
			p.Awake = true
			out.Send(Right, Started, m)
		}
		if p.Candidate {
			out.After(silence, p.turn().Times(2).Add(election.Units(1)))
		}
	case m.ID != p.ID:
		out.Stop(silence)
		out.Follow(m.ID, 0)
		out.Send(Right, Elected, m)
	default: // returned to its origin
	}
}

// Timeout makes the processor leader.
func (p *Process) Timeout(_ election.Timer, out *election.Out[Message]) {
	out.Lead(0)
	out.Send(Right, Elected, Message{p.ID})
}
