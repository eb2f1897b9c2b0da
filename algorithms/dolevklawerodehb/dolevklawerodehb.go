// Package dolevklawerodehb elects the largest identifier on an asynchronous unidirectional ring with FIFO links
// (Dolev, Klawe and Rodeh 1982, algorithm B). A value carries the distance that its answer has to go, so that the
// second message of a phase takes half as many hops.
//
// Source: Dolev, Klawe, Rodeh, An O(n log n) unidirectional distributed algorithm for extrema finding in a circle, J.
// Algorithms 3(3), 1982. Its rules are cited as B1 … B10 below:
//
//	start:       active, max = id, phase = 0; send ONE(max, 0, 1)                      B1
//	ONE(v,p,c):  v = id: leader                                                        B2
//	             active, v > max: max := v, waiting                                    B3
//	             active otherwise: passive; send TWO(max)                              B4
//	             waiting: passive, and then as passive                                 B5
//	             passive, v ≥ max, c > 1: max := v; send ONE(v, p, c-1)                B6
//	             passive, v ≥ max, c = 1: max := v, phase := p, waiting;
//	                                      send ONE(v, p, 0)                            B7
//	             passive otherwise: send ONE(v, p, 0)                                  B8
//	TWO(v):      waiting: phase := phase+1, active; send ONE(max, phase, 2^phase)      B9
//	             passive, v ≥ max: send TWO(v)                                         B10
//
// The leader announces itself. An active process never receives TWO, because the ONE of the same value comes before
// it; a test verifies that. Only messages that overtake can bring it, and then it is lost.
//
// A process reads its one input in order, so nothing depends on the schedule or on the initiators: a process that has
// not started does B1 on its first message.
//
// Cost. In phase p a value v is active at x(v), and its owner is at o(v). A value survives a phase if its TWO finds
// the process that waits for it. That holds for a local maximum. It also holds for a value that is only greater than
// the one before it, if its answer place, 2^p hops on, comes before the owner of the value after it, which would not
// become an answer place for it (B8).
//
//   - x(v) is at least 2^p-1 hops past o(v), and owners of active values are at least 2^p hops apart: a value moves
//     on by 2^p hops, or to the place of the next one, which satisfies the same. Of two successive survivors, either
//     the second is the greater and its owner is past the place of the first, or another value lay between them. So
//     at most n/2^p are active, and one after k ≤ ⌊lg n⌋ phases.
//   - ONE takes n messages a phase. In the last phase it takes as many as the largest value still has hops to its
//     origin, of which at least 2^k-1 are behind it.
//   - TWO takes at most (n+u)/2 messages in phase p. Of a active values let l be local maxima, let e others survive,
//     and let u others send TWO in vain. A value that sends none comes after each local maximum: 2l+e+u ≤ a. A TWO of
//     the first two kinds takes at most 2^p messages. A TWO of the third kind takes at most t+1, where the next owner
//     is 2^p+t hops after its own. That distance is at least 2^(p+1) for the e values, so all of the third kind take
//     at most n-(a+e)2^p+u. They also take at most u·2^p, since values with t of at least 2^p survive. The mean of
//     these two bounds is not below the lesser, and with (l+e)2^p added it is (n+u)/2.
//   - In phase p, u ≤ a-l-(l+e), and l+e are active in the next: over all k phases u is at most n-1-k.
package dolevklawerodehb

import (
	"math/bits"

	"ringleader.example/ringleader/election"
)

// Right is the only port that messages are sent on.
const Right election.Port = 0

// The kinds of message.
const (
	One election.Kind = iota
	Two
	Announcement
)

// Message is ONE(v, p, c), TWO(v) or the announcement of v. TWO has a phase for statistics only.
type Message struct {
	ID    election.ID
	Hops  uint32 `kinds:"one"` // c: the number of hops left to the process that waits for TWO; 0 if it need not go so far
	Phase uint8  `kinds:"one,two"`
}

// Status is the state of a process in the algorithm.
type Status uint8

// Asleep comes before Active, and Leader after everything.
const (
	Asleep Status = iota
	Active
	Waiting
	Passive
	Leader
)

// Process is the state of one process.
type Process struct {
	ID     election.ID
	Max    election.ID
	Status Status
	Phase  uint8
}

// Algorithm is algorithm B of Dolev, Klawe and Rodeh.
var Algorithm = election.Algorithm[Process, Message]{
	Declaration: election.Declaration{
		Name:   "dolev-klawe-rodeh-b",
		Title:  "Dolev, Klawe, Rodeh, algorithm B",
		Year:   1982,
		Source: "Dolev–Klawe–Rodeh 1982, algorithm B",
		About: "As dolev-klawe-rodeh, but the second message of a phase travels only as far as the first one says: 2^phase hops, " +
			"or to the next active process. It takes half as many hops as there.",
		Topology: election.Ring,
		OneWay:   true,
		FIFO:     true,
		Counts:   election.CountsFixed,
		Winner:   election.Largest,
		Kinds: []election.MessageKind{
			{Name: "one", Class: election.Election},
			{Name: "two", Class: election.Election},
			{Name: "announcement", Class: election.Announcement},
		},
		Bounds: []election.Bound{
			{
				Of: "election", Case: election.Worst, Formula: "n(k+1) + 1 - 2^k + ⌊(n(k+1) - k - 1)/2⌋, k = ⌊lg n⌋", Source: "derived in the package comment (Dolev, Klawe, Rodeh 1982: 1.5 n lg n + O(n)); reached for n up to 4",
				Value: func(n uint64) uint64 {
					k := uint64(bits.Len64(n)) - 1
					return n*(k+1) + 1 - 1<<k + (n*(k+1)-k-1)/2
				},
			},
			{
				Of: "election", Case: election.Best, Formula: "2n, and 1 for n = 1", Source: "derived: one phase, one TWO, and all hops but one of another; reached by decreasing identifiers",
				Value: func(n uint64) uint64 {
					if n == 1 {
						return 1
					}
					return 2 * n
				},
			},
		},
	},
	New:     New,
	Start:   (*Process).Start,
	Receive: (*Process).Receive,
	Phase:   func(_ election.Kind, m Message) int { return int(m.Phase) },
}

// New returns a process that is asleep.
func New(l election.Local) Process { return Process{ID: l.ID, Max: l.ID} }

// Start initiates an election, unless the process has joined one.
func (p *Process) Start(out *election.Out[Message]) {
	if p.Status == Asleep {
		p.enter(0, out) // B1
	}
}

// enter begins a phase.
func (p *Process) enter(phase uint8, out *election.Out[Message]) {
	p.Status, p.Phase = Active, phase
	out.Send(Right, One, Message{ID: p.Max, Phase: phase, Hops: 1 << phase})
}

// Receive handles a message, which can come on one port only.
func (p *Process) Receive(_ election.Port, kind election.Kind, m Message, out *election.Out[Message]) {
	p.Start(out) // a process that is asleep joins
	switch {
	case p.Status == Leader: // swallow messages still in transit, and last the announcement
	case kind == Announcement:
		out.Send(Right, Announcement, m)
		out.Follow(m.ID, 0)
	case kind == Two:
		p.two(m, out)
	case m.ID == p.ID: // B2
		p.Status = Leader
		out.Lead(0)
		out.Send(Right, Announcement, Message{ID: p.ID})
	case p.Status == Active && m.ID > p.Max: // B3
		p.Max = m.ID
		p.Status = Waiting
	case p.Status == Active: // B4
		p.Status = Passive
		out.Send(Right, Two, Message{ID: p.Max, Phase: p.Phase})
	default:
		p.pass(m, out)
	}
}

// pass forwards ONE.
func (p *Process) pass(m Message, out *election.Out[Message]) {
	p.Status = Passive // B5
	hops := uint32(0)  // B8
	if m.ID >= p.Max && m.Hops >= 1 {
		p.Max = m.ID
		hops = m.Hops - 1 // B6
		if m.Hops == 1 {  // B7
			p.Status, p.Phase = Waiting, m.Phase
		}
	}
	out.Send(Right, One, Message{ID: m.ID, Phase: m.Phase, Hops: hops})
}

// two handles TWO.
func (p *Process) two(m Message, out *election.Out[Message]) {
	switch {
	case p.Status == Waiting: // B9
		p.enter(p.Phase+1, out)
	case p.Status == Passive && m.ID >= p.Max: // B10
		out.Send(Right, Two, m)
	}
}
