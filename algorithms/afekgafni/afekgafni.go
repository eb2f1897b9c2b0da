// Package afekgafni elects one leader on an asynchronous complete graph with unknown neighbours (KT0), with O(n lg n)
// messages (Afek and Gafni 1991). Candidates capture one process after the other, and ask its previous owner before.
//
// Source: Y. Afek, E. Gafni, Time and message bounds for election in synchronous and asynchronous complete networks,
// SIAM Journal on Computing 20(2), 1991 (PODC 1985), algorithm B. Their text leaves choices open. The rules below,
// cited as B1 … B8, fix each step.
//
//	B1  start, unless a message has been read before: alive := true, father := self, then next.
//	B2  next: owner := (level, id).
//	        Captured all others -> leader, send LEADER(id) on all ports;
//	        otherwise send CAPTURE(level, id) on port number level.
//	B3  CAPTURE(l, i) from a: (l, i) < owner -> no answer, and its sender is stuck for ever: that is its death.
//	B4      otherwise owner := (l, i), and
//	        father = none or self -> alive := false, father := a, send ACCEPT(l, i) to a;
//	        otherwise potential := a, send ASK(l, i) to father.
//	B5  ASK(l, i) from a: (l, i) < (level, id) -> no answer;
//	        otherwise alive := false, send YIELD(l, i) to a.
//	B6  YIELD(l, i): owner = (l, i) -> father := potential, send ACCEPT(l, i) to father;
//	        otherwise nothing: a stronger one came meanwhile.
//	B7  ACCEPT(l, i): alive and (l, i) = (level, id) -> level := level + 1, then next.
//	B8  LEADER(i): follow i.
//
// Pairs are compared lexicographically. FIFO links are not required. The winner need not have the largest identifier.
//
// Why it ends. A refusal is for the pair of another candidate, and pairs only grow. So the candidate whose last pair
// is the largest of all is never refused and never dies.
//
// Why it is cheap. Consider the candidates that reach level l, each with itself and the l processes that it captured
// first, at levels below l. It took none of these from another such candidate: that one would have yielded, or been
// captured itself, only at a lower level, and then would have stayed there. So these sets are disjoint, and k+1
// candidates reach level l only if (k+1)(l+1) <= n. The k-th of the losers, in decreasing order of levels, sends at
// most l+1 <= n/(k+1) CAPTUREs, the leader n-1, and each causes at most four messages: less than 4n(1 + 1/2 + … +
// 1/n) in all.
//
// That argument needs dead candidates to refuse in B3 and B5 as they did when they died. An exposition in which they
// yield to all elects one leader, too. But then weak candidates can capture the same processes one after the other,
// in vain, which costs on the order of n² messages: the tests have such a run.
package afekgafni

import (
	"math"

	"ringleader.example/ringleader/election"
)

// The kinds of message.
const (
	Capture election.Kind = iota
	Accept
	Ask
	Yield
	Leader
)

// Claim is the pair that candidates compare: the number of captured processes, then the identifier. It is also the
// message; in LEADER it has the identifier only.
type Claim struct {
	Level uint16 `kinds:"CAPTURE,ACCEPT,ASK,YIELD"`
	ID    election.ID
}

// below reports whether one claim loses against another.
func (c Claim) below(d Claim) bool { return c.Level < d.Level || c.Level == d.Level && c.ID < d.ID }

// Father is the kind of a process's owner.
type Father uint8

// The fathers.
const (
	None  Father = iota // asleep
	Self                // a candidate that is not captured
	Other               // the candidate behind a port
)

// Process is the state of a process.
type Process struct {
	Claim                   // its own: level and id
	Others    uint16        `election:"constant"` // all but itself, one behind each port
	Alive     bool          // a candidate that was not killed
	Owner     Claim         // its own claim, or the last one that it gave way to
	Father    Father        // its owner …
	Port      election.Port // … and, for Other, the owner's port
	Potential election.Port // the port of the new owner while the father is asked
}

// Algorithm is Afek and Gafni's algorithm B.
var Algorithm = election.Algorithm[Process, Claim]{
	Declaration: election.Declaration{
		Name:   "afek-gafni",
		Title:  "Afek, Gafni (asynchronous)",
		Year:   1985,
		Source: "Afek–Gafni 1991, algorithm B",
		About: "A candidate captures the processes behind its ports, one after the other. The candidate that has captured more wins; " +
			"a captured process changes hands only when its owner has yielded.",
		Topology:  election.UnknownNeighbours,
		KnowsSize: true, // through the number of ports
		Kinds: []election.MessageKind{
			{Name: "CAPTURE", Class: election.Election},
			{Name: "ACCEPT", Class: election.Election},
			{Name: "ASK", Class: election.Election},
			{Name: "YIELD", Class: election.Election},
			{Name: "LEADER", Class: election.Announcement},
		},
		Bounds: []election.Bound{
			{
				Of: "election", Case: election.Worst, Formula: "4n(1 + 1/2 + … + 1/n)",
				Source: "Afek–Gafni 1991: O(n lg n); derived in the package comment",
				Value:  func(n uint64) uint64 { return uint64(math.Ceil(4 * float64(n) * election.Harmonic(n))) },
			},
			{
				Of: "election", Case: election.Best, Formula: "2(n - 1)", Source: "derived: every other process accepts once",
				Value: func(n uint64) uint64 { return 2 * (n - 1) },
			},
			{
				OneStart: true, Of: "election", Case: election.Worst, Formula: "2(n - 1)", Source: "derived: no process refuses, and none is asked",
				Value: func(n uint64) uint64 { return 2 * (n - 1) },
			},
			{
				Of: "announcement", Case: election.Worst, Formula: "n - 1", Source: "derived",
				Value: func(n uint64) uint64 { return n - 1 },
			},
		},
	},
	New:     New,
	Start:   (*Process).Start,
	Receive: (*Process).Receive,
	Phase:   func(_ election.Kind, m Claim) int { return int(m.Level) },
}

// New returns a process that is asleep.
func New(l election.Local) Process {
	return Process{Claim: Claim{ID: l.ID}, Others: uint16(l.N - 1)}
}

// Start makes a process a candidate if no message has woken it: B1.
func (p *Process) Start(out *election.Out[Claim]) {
	if p.Father != None {
		return
	}
	p.Alive, p.Father = true, Self
	p.next(out)
}

// next captures the process behind the next port: B2.
func (p *Process) next(out *election.Out[Claim]) {
	p.Owner = p.Claim
	if p.Level < p.Others {
		out.Send(election.Port(p.Level), Capture, p.Claim)
		return
	}
	for port := range p.Others {
		out.Send(election.Port(port), Leader, Claim{ID: p.ID})
	}
	out.Lead(0)
}

// Receive handles a message: B3-B8.
func (p *Process) Receive(port election.Port, kind election.Kind, m Claim, out *election.Out[Claim]) {
	switch kind {
	case Capture:
		p.capture(port, m, out)
	case Ask:
		if !m.below(p.Claim) { // B5
			p.Alive = false
			out.Send(port, Yield, m)
		}
	case Yield:
		if p.Owner == m { // B6
			p.accept(p.Potential, out)
		}
	case Accept:
		if p.Alive && m == p.Claim { // B7
			p.Level++
			p.next(out)
		}
	case Leader:
		out.Follow(m.ID, 0) // B8
	}
}

func (p *Process) capture(port election.Port, m Claim, out *election.Out[Claim]) {
	if m.below(p.Owner) { // B3
		return
	}
	p.Owner = m // B4
	if p.Father == Other {
		p.Potential = port
		out.Send(p.Port, Ask, m)
		return
	}
	p.Alive = false
	p.accept(port, out)
}

// accept makes the owner, which is behind a port, the father, and sends it an ACCEPT.
func (p *Process) accept(port election.Port, out *election.Out[Claim]) {
	p.Father, p.Port = Other, port
	out.Send(port, Accept, p.Owner)
}
