// Package stopandgo elects the smallest participating identifier on a synchronous unidirectional ring of unknown size
// (Marchetti-Spaccamela 1987). Identities travel round the ring, and the larger they are, the longer they stop, as if
// the length of the ring were h₁, then h₂, …, until a hypothesis is large enough. Few hypotheses cost time, many cost
// messages.
//
// Source: S5, the pseudo-code of section 3; protocols P1 to P4 of section 5. S5's loop over units of time is one
// timer here: a waiting message M' of count c leaves c units later, unless it is killed before or in that unit. The
// message of a unit is read before its timer expires. A message and a start in the same unit count as a start by the
// message.
//
// S5 has these slips; those marked * are mutants in the tests:
//
//   - * Identifier 0 waits for ever, since count is decremented before it is compared with 0. So identifiers are
//     positive, as section 1 requires.
//   - * send <i, h_m, w+1> in the loop sends the processor's own identity; <j, h_m, w+1> is meant.
//   - M and M' are mixed up among the variables; the waiting message is M'.
//   - Only the winner ends the loop. A processor that forwards "j elected" is done as well.
//   - A unit without a message is assumed to bring <j, 1, 1> with j > bestid, which is impossible where bestid is +∞.
//     Here it brings nothing.
//   - Section 2's protocol takes n messages, not n+1.
//   - The fourth protocol has lost its ε. It is printed with c ≥ 2, which is not enough: at ε = 1/2 and c ≤ 16 the
//     hypotheses stop growing, and the election would never end. (Any c is enough from ε = 1/(e ln 2) = 0.5307… on.)
//   - S5 does not say whether hypotheses are whole numbers. P2 rounded down stays at 2 with c = 2 and a = 3/2.
//     Rounded up, as here, its hypotheses always grow. Hypotheses that stop growing below n are refused.
//   - In Lemma 4.5's proof, "j enters phase 1" means phase m; its last line holds with ≥ only for m = 1, which is
//     enough. Lemma 4.4's sum goes to k. Theorem 4.2's "decides to participate" means starts phase 1.
//   - Theorem 5.1's exponents: in P2 h_t = c^(a^(t-1)) and t <= log_a log_c n + 2; in P3 h_t = c^((lg
//     c)^(2^(t-1)-1)).
package stopandgo

import (
	"math/bits"

	"ringleader.example/ringleader/election"
)

// Right is the only port that messages are sent on.
const Right election.Port = 0

// The kinds of message.
const (
	Started  election.Kind = iota // "election started", phase 0
	Identity                      // <j, h_m, w>
	Elected                       // "j elected"
)

// Stop is the only timer: count.
const Stop election.Timer = 0

// Message is <j, h_m, w>, with m for h_m. "j elected" carries j only, and "election started" nothing.
type Message struct {
	ID     election.ID `kinds:"identity,elected"`
	Phase  uint32      `kinds:"identity"`
	Walked uint32      `kinds:"identity"` // the number of steps, with this one
}

// Process is the state of one processor.
type Process struct {
	ID         election.ID
	Best       election.ID      // bestid, of the participating identities seen; 0: none, S5's +∞
	Hypotheses []election.Ticks `election:"constant"` // h₁, h₂, …: the same for all, never written
	Waiting    uint32           // the phase that the waiting message M' begins with identity Best; 0: none waits
	Willing    bool             `election:"constant"`
	Awake      bool             // has sent "election started"
	Stands     bool             // participates
}

// New returns a processor that is asleep.
func New(l election.Local) Process {
	return Process{ID: l.ID, Willing: l.Willing, Hypotheses: l.Parameters.Sequence()}
}

// Start: a processor "decides to participate in the election", unless a message has woken it before.
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
		if m.ID != p.ID { // otherwise it has returned to its origin
			out.Follow(m.ID, 0)
			out.Send(Right, Elected, m)
		}
	}
}

// enter begins phase 1, at time t(i), when "election started" has come.
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

// meet handles an identity that arrives.
func (p *Process) meet(m Message, out *election.Out[Message]) {
	if m.ID == p.ID { // "proclaim j elected"
		out.Lead(0)
		out.Send(Right, Elected, Message{ID: m.ID})
		return
	}
	if p.Best != 0 && m.ID >= p.Best { // it dies; S5 has no equal identities
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

// wait delays identity Best before it begins a phase: count := 2j(h_m - h_{m-1}) units, where h_0 is 0.
func (p *Process) wait(phase uint32, out *election.Out[Message]) {
	p.Waiting = phase
	before := election.Ticks{}
	if phase > 1 {
		before = p.hypothesis(phase - 1)
	}
	out.After(Stop, delay(p.hypothesis(phase), before, p.Best))
}

// delay returns 2j(h - before), or Forever if that exceeds the range of time. before is below n.
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

// Timeout: count is 0, "and M' has not been killed". M' has walked h_{m-1} steps, which are fewer than n.
func (p *Process) Timeout(_ election.Timer, out *election.Out[Message]) {
	m := Message{p.Best, p.Waiting, 1}
	if m.Phase > 1 {
		m.Walked += uint32(p.hypothesis(m.Phase - 1).Lo)
	}
	p.Waiting = 0
	out.Send(Right, Identity, m)
}

// participates reports whether the processor may win.
func (p *Process) participates() bool { return p.Stands }

// phase returns the phase of a message: 0 for "election started".
func phase(_ election.Kind, m Message) int { return int(m.Phase) }
