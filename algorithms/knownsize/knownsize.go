// Package knownsize elects the smallest identifier on a synchronous one-directional ring whose size, or an upper bound
// on it, is known: silence says that no smaller one takes part, and so a single identifier goes round.
//
// Source: S5 section 2, whose processor i waits for N(i-1) units and, if it has heard nothing, wins. S5 counts n + 1
// messages and there are n, since the winner need not pass its own on when that is home. With starts=any it is the
// protocol that S5 says is possible where its assumption (b) does not hold, as ALGORITHMS 13.5 has it: phase 0 is
// that of S5's scheme (ALGORITHMS 8.2), and since it may end n units later at one processor than at another, each
// waits twice as long, and a unit more.
package knownsize

import (
	"fmt"
	"math/big"

	"ringleader.example/ringleader/election"
)

// Right is the only port that is sent on.
const Right election.Port = 0

// The messages.
const (
	Started election.Kind = iota // election started: phase 0
	Elected
)

// silence is the timer that expires if no smaller identifier takes part.
const silence election.Timer = 0

// Message is "i elected"; that the election has started it says without an identifier.
type Message struct{ ID election.ID }

// Process is the state of one process.
type Process struct {
	N         uint64 `election:"constant"` // the size of the ring, or more
	ID        election.ID
	Phase0    bool `election:"constant"` // there is one
	Awake     bool // in phase 0 or beyond
	Candidate bool // takes part: waits for its turn, or will when phase 0 is over
}

// The parameters.
var (
	starts = election.Choice{
		Name:  "starts",
		About: "when processors start: together, at 0; any time, each when it likes or on a message, with a phase 0 that says so",
		Words: []string{"together", "any"},
	}
	knownN = election.Number{
		Name: "N", Whole: true, Most: 1 << 62, Default: "0",
		About: "the number of processors that all of them know, or an upper bound; 0: their number itself",
	}
)

// Algorithm is S5's simplified protocol.
var Algorithm = election.Algorithm[Process, Message]{
	Declaration: election.Declaration{
		Name:   "known-size",
		Title:  "Known size (Marchetti-Spaccamela's simplified protocol)",
		Year:   1985,
		Source: "Marchetti-Spaccamela 1987, section 2 (S5)",
		About: "Processor i is silent for N(i-1) units, where N is the size of the ring or more. If by then nobody else has said that " +
			"it is elected, i is: no smaller identifier takes part.",
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

// exactly are the bounds of an election that takes just so many messages.
func exactly(formula string, times uint64) (bounds []election.Bound) {
	for _, c := range []election.Case{election.Worst, election.Best} {
		bounds = append(bounds, election.Bound{
			Of: "total", Case: c, Formula: formula, Source: "S5 section 2, which says one more",
			Value: func(n uint64) uint64 { return times * n },
		})
	}
	return bounds
}

// size is the hypothesis on the length of the ring, the only one.
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

// New is a process that sleeps.
func New(l election.Local) Process {
	return Process{N: l.Parameters.Sequence()[0].Lo, ID: l.ID, Phase0: starts.Is(l.Parameters, "any"), Candidate: l.Willing}
}

// Start begins to take part, unless others have begun: then it is too late to decide so. If all start together, the
// unwilling do not take part.
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

// turn is the time N(i-1), after which it is the turn of processor i.
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
	default: // home
	}
}

// Timeout wins.
func (p *Process) Timeout(_ election.Timer, out *election.Out[Message]) {
	out.Lead(0)
	out.Send(Right, Elected, Message{p.ID})
}
