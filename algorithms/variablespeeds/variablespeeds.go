// Package variablespeeds elects the smallest identifier on a synchronous unidirectional ring of unknown size, with
// fewer than 2n messages and in exponential time (Frederickson and Lynch 1984; Vitányi 1984). Token v moves one hop
// in 2^v units, and is swallowed where a smaller one has been.
//
// Source: Frederickson and Lynch, The impact of synchronous communication on the problem of electing a leader in a
// ring, STOC 1984, and J. ACM 34, 1987; Vitányi, Distributed elections in an Archimedean ring of processors, STOC
// 1984.
//
// Identifiers are natural numbers, including 0, whose token moves one hop a unit. The rules, cited below by name:
//
//	hold      a process holds token v for 2^v - 1 units, and then sends it on
//	remember  it remembers the smallest identifier that has been there, at first its own
//	die       a token dies where a smaller identifier is remembered, also while it is held
//	home      a token that returns to its origin has won; its owner leads, after exactly n·2^v units
//
// With starts=any there is a phase 0, as in S5 section 3: a process that wakes sends "election started", and one that
// reads it while asleep sends it on and joins, if it is willing. That takes n messages, and phase 0 ends everywhere
// within n units of the first start.
package variablespeeds

import "ringleader.example/ringleader/election"

// Right is the only port that messages are sent on.
const Right election.Port = 0

// The kinds of message.
const (
	Started election.Kind = iota // election started: phase 0
	Token
	Elected
)

// held is the timer of the token that waits here: at most one, since the smaller of two kills the other.
const held election.Timer = 0

// Message is a token, or names the leader. "Election started" carries no identifier.
type Message struct {
	ID election.ID `kinds:"token,elected"`
}

// Process is the state of one process.
type Process struct {
	ID        election.ID // one more than the identifier, so that 0 means none
	Best      election.ID // the smallest that has been here; 0: none
	Phase0    bool        `election:"constant"` // starts=any
	Awake     bool        // in phase 0 or later
	Candidate bool        // takes part: its token travels, or will when phase 0 has ended
}

// The parameter.
var starts = election.Choice{
	Name:  "starts",
	About: "when processes start: together, at 0; any, each at any time or upon a message, with a phase 0 that wakes all",
	Words: []string{"together", "any"},
}

// Algorithm is the election by variable speeds.
var Algorithm = election.Algorithm[Process, Message]{
	Declaration: election.Declaration{
		Name:   "variable-speeds",
		Title:  "Variable speeds (Frederickson–Lynch, Vitányi)",
		Year:   1984,
		Source: "Frederickson–Lynch 1984; Vitányi 1984; S5 section 1",
		About: "The token of identifier v takes 2^v units for each hop, and is swallowed where a smaller one has been. The smallest returns to its origin " +
			"after n·2^v units; in that time the token of identifier v + j makes at most n/2^j hops.",
		Topology:    election.Ring,
		OneWay:      true,
		Timing:      election.Synchronous,
		Identifiers: election.Computed,
		FromZero:    true,
		Willingness: true,
		Starts:      election.Together,
		Counts:      election.CountsFixed,
		Winner:      election.Smallest,
		Kinds: []election.MessageKind{
			{Name: "started", Class: election.Election}, {Name: "token", Class: election.Election}, {Name: "elected", Class: election.Announcement},
		},
		Timers:     []string{"held"},
		Parameters: []election.Parameter{&starts},
		Bounds: []election.Bound{
			{
				Of: "election", Case: election.Worst, Formula: "2n - 1", Source: "Frederickson, Lynch 1987: n + n/2 + n/4 + …",
				Value: func(n uint64) uint64 { return 2*n - 1 },
			},
			{
				Of: "election", Case: election.Best, Formula: "n", Source: "reached by increasing identifiers",
				Value: func(n uint64) uint64 { return n },
			},
		},
		Adjust: func(d *election.Declaration, p election.Parameters) {
			if starts.Is(p, "together") {
				return
			}
			d.Starts, d.Counts = election.AnyStart, election.CountsStartFirst
			d.Bounds = []election.Bound{
				{
					Of: "election", Case: election.Worst, Formula: "4n - 1",
					Source: "derived: n in phase 0, n of the smallest, and fewer than 2n of the others, which may start n units before it; Attiya–Welch 2004, section 3.4.1",
					Value:  func(n uint64) uint64 { return 4*n - 1 },
				},
				{
					Of: "election", Case: election.Best, Formula: "2n", Source: "n in phase 0, and n of the smallest",
					Value: func(n uint64) uint64 { return 2 * n },
				},
			}
		},
	},
	New:      New,
	Start:    (*Process).Start,
	Receive:  (*Process).Receive,
	Timeout:  (*Process).Timeout,
	Eligible: func(p *Process) bool { return p.Candidate },
}

// New returns a process that is asleep.
func New(l election.Local) Process {
	return Process{ID: l.ID, Phase0: starts.Is(l.Parameters, "any"), Candidate: l.Willing}
}

// Start makes the process a candidate, unless a message has woken it, which decides by its willingness. If all start
// together, unwilling processes do not take part.
func (p *Process) Start(out *election.Out[Message]) {
	switch {
	case p.Awake:
	case p.Phase0:
		p.Awake, p.Candidate = true, true
		out.Send(Right, Started, Message{})
	case p.Candidate:
		p.Awake = true
		p.hold(p.ID, out)
	}
}

// Receive handles a message.
func (p *Process) Receive(_ election.Port, kind election.Kind, m Message, out *election.Out[Message]) {
	switch {
	case kind == Started:
		if !p.Awake {
			p.Awake = true
			out.Send(Right, Started, m)
		}
		if p.Candidate {
			p.hold(p.ID, out)
		}
	case kind == Elected && m.ID == p.ID: // the announcement has returned to its origin
	case kind == Elected:
		out.Stop(held)
		out.Follow(m.ID, 0)
		out.Send(Right, Elected, m)
	case m.ID == p.ID: // home
		out.Lead(0)
		out.Send(Right, Elected, m)
	case p.Best == 0 || m.ID < p.Best: // and the token that was held here dies
		p.hold(m.ID, out)
	default: // die
	}
}

// hold keeps a token for 2^v - 1 units, and one unit is for the hop: remember, hold.
func (p *Process) hold(token election.ID, out *election.Out[Message]) {
	p.Best = token
	switch v := uint(token - 1); {
	case v == 0:
		out.Stop(held)
		out.Send(Right, Token, Message{token})
	case v < 128:
		out.After(held, election.Power(v).Sub(election.Units(1)))
	default:
		out.After(held, election.Forever)
	}
}

// Timeout sends the held token on.
func (p *Process) Timeout(_ election.Timer, out *election.Out[Message]) {
	out.Send(Right, Token, Message{p.Best})
}
