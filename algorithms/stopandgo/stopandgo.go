// Package stopandgo elects the smallest participating identifier on a synchronous one-directional ring of unknown
// size, after Marchetti-Spaccamela: identities travel round the ring and stop the longer the larger they are, as if
// its length were h₁, then h₂, …, until a hypothesis is large enough. Few hypotheses cost time, many cost messages.
//
// Source: S5, the pseudo-code of section 3; protocols P1 to P4 of section 5. What is written there as a loop that
// looks at each unit of time is written here with one timer: what S5 calls a waiting message M' of count c leaves c
// units later, unless it is killed before or in that unit. A unit's message is read before its timer expires, and a
// processor that would wake in the unit in which a message wakes it has been woken by the message.
//
// S5 has these slips; those marked * are mutants in the tests:
//
//   - * Identifier 0 waits for ever, since count is decremented before it is compared with 0. So identifiers are
//     positive, as section 1 says.
//   - * send <i, h_m, w+1> in the loop sends the processor's own identity; <j, h_m, w+1> is meant.
//   - M and M' are mixed up among the variables; the message that waits is M'.
//   - Only the winner ends the loop, and a processor that forwards "j elected" is done as well.
//   - A unit without a message is assumed to bring <j, 1, 1> with j > bestid, which is impossible where bestid is
//     +∞. It brings nothing.
//   - Section 2's protocol takes n messages, not n+1; the fourth protocol has lost its ε, and is printed with c ≥ 2,
//     where it needs more: at ε = 1/2 and c ≤ 16 the hypotheses stop growing, and the election would never end.
//     (Any c will do from ε = 1/(e ln 2) = 0.5307… on.)
//   - Whether hypotheses are whole numbers is left open. P2 rounded down stays at 2 with c = 2 and a = 3/2, and so
//   - hypotheses that stop growing below n are refused; rounded up, as here, they always grow.
//   - In Lemma 4.5's proof, "j enters phase 1" means phase m; its last line holds with ≥ only for m = 1, which is
//     enough. Lemma 4.4's sum goes to k. Theorem 4.2's "decides to participate" means starts phase 1.
//   - Theorem 5.1's exponents: in P2 h_t = c^(a^(t-1)) and t <= log_a log_c n + 2; in P3 h_t = c^((lg c)^(2^(t-1)-1)).
package stopandgo

import (
	"math/bits"

	"ringleader.example/ringleader/election"
)

// Right is the only port that is sent on.
const Right election.Port = 0

// The messages.
const (
	Started  election.Kind = iota // "election started", phase 0
	Identity                      // <j, h_m, w>
	Elected                       // "j elected"
)

// Stop is the only timer: count.
const Stop election.Timer = 0

// Message is <j, h_m, w>, with m for h_m; in "j elected" j only, and nothing in "election started".
type Message struct {
	ID     election.ID
	Phase  uint32
	Walked uint32 // how many steps, with this one
}

// Process is the state of one processor.
type Process struct {
	ID         election.ID
	Best       election.ID      // bestid, of the participating identities seen; 0: none, S5's +∞
	Hypotheses []election.Ticks `election:"constant"` // h₁, h₂, …: the same for all, and never written
	Waiting    uint32           // the phase that the waiting message M' begins with identity Best; 0: none waits
	Willing    bool             `election:"constant"`
	Awake      bool             // has sent "election started"
	Stands     bool             // participates
}

// New is a processor that sleeps.
func New(l election.Local) Process {
	return Process{ID: l.ID, Willing: l.Willing, Hypotheses: l.Parameters.Sequence()}
}

// Start: a processor "decides to participate in the election", unless a message has decided for it.
func (p *Process) Start(out *election.Out[Message]) {
	if !p.Awake {
		p.Awake, p.Stands = true, true
		out.Send(Right, Started, Message{})
	}
}

// Receive reads an incoming message.
func (p *Process) Receive(_ election.Port, kind election.Kind, m Message, out *election.Out[Message]) {
	switch kind {
	case Started:
		p.enter(out)
	case Identity:
		p.meet(m, out)
	case Elected:
		if m.ID != p.ID { // home again, it has gone round
			out.Follow(m.ID, 0)
			out.Send(Right, Elected, m)
		}
	}
}

// enter begins phase 1: at t(i), when "election started" has come.
func (p *Process) enter(out *election.Out[Message]) {
	if !p.Awake {
		p.Awake, p.Stands = true, p.Willing // "if willing to participate"
		out.Send(Right, Started, Message{})
	}
	if p.Stands {
		p.Best = p.ID
		p.wait(1, out)
	}
}

// meet is what a processor does with an identity that walks by.
func (p *Process) meet(m Message, out *election.Out[Message]) {
	if m.ID == p.ID { // "proclaim j elected"
		out.Lead(0)
		out.Send(Right, Elected, Message{ID: m.ID})
		return
	}
	if p.Best != 0 && m.ID >= p.Best { // it dies; two that are equal are no case of S5
		return
	}
	p.Best = m.ID
	if p.Waiting != 0 { // "if there is a waiting message M' then kill it"
		p.Waiting = 0
		out.Stop(Stop)
	}
	if election.Units(uint64(m.Walked)).Less(p.hypothesis(m.Phase)) { // "phase m is not finished"
		out.Send(Right, Identity, Message{m.ID, m.Phase, m.Walked + 1})
	} else {
		p.wait(m.Phase+1, out)
	}
}

// wait has the identity in Best wait before it begins a phase: count := 2j(h_m - h_{m-1}) units, where h_0 is 0.
func (p *Process) wait(phase uint32, out *election.Out[Message]) {
	p.Waiting = phase
	before := election.Ticks{}
	if phase > 1 {
		before = p.hypothesis(phase - 1)
	}
	out.After(Stop, delay(p.hypothesis(phase), before, p.Best))
}

// delay is 2j(h - before), or for ever if no time can say it. Before is below n.
func delay(h, before election.Ticks, j election.ID) election.Ticks {
	if h == election.Forever {
		return h
	}
	grown := h.Sub(before)
	middle, low := bits.Mul64(grown.Lo, 2*uint64(j))
	over, high := bits.Mul64(grown.Hi, 2*uint64(j))
	high, carry := bits.Add64(high, middle, 0)
	if over != 0 || carry != 0 {
		return election.Forever
	}
	return election.Ticks{Hi: high, Lo: low}
}

func (p *Process) hypothesis(phase uint32) election.Ticks { return p.Hypotheses[phase-1] }

// Timeout: count is 0, "and M' has not been killed". It has walked h_{m-1} steps, which are fewer than n.
func (p *Process) Timeout(_ election.Timer, out *election.Out[Message]) {
	m := Message{p.Best, p.Waiting, 1}
	if m.Phase > 1 {
		m.Walked += uint32(p.hypothesis(m.Phase - 1).Lo)
	}
	p.Waiting = 0
	out.Send(Right, Identity, m)
}

// participates says who may win.
func (p *Process) participates() bool { return p.Stands }

// phase is the phase of a message: 0 of "election started".
func phase(_ election.Kind, m Message) int { return int(m.Phase) }
