package election

import "fmt"

// This file is the engines' side of the contract. Engines need it, and so do tests that take single steps of an
// algorithm. No algorithm uses it. It is in this package because the fields of an [Out], of a [Deadline] and of
// [Parameters] are hidden from algorithms, and Go shows hidden fields to one package only.

// Collector is the engine's end of an [Out]: it collects the effects of steps. For engines.
type Collector[M any] struct {
	out   Out[M]
	whole []Sent[M] // of a halting step: the room for its messages
}

// Sent is a message in transit. Link>>4 is the directed link that it left on, Link&15 its kind. For engines.
type Sent[M any] struct {
	M    M
	Link uint32
}

// Op is the kind of an [Effect]: [SetTimer], [StopTimer], [Lead], [Follow], [NoLeader] or [StopWork]. For engines.
type Op uint8

// The effects that are not messages. For engines.
const (
	SetTimer  Op = iota // Timer expires in Ticks
	StopTimer           // Timer is stopped
	Lead                // the process leads in Term; with Deadline, for Ticks
	Follow              // the process follows ID in Term
	NoLeader            // the process knows no leader
	StopWork            // the host stops what it does as the leader
)

// Effect is an effect of a step that is not a message. For engines.
type Effect struct {
	Link     uint32 // the first link of the process
	Op       Op
	Timer    Timer
	Deadline bool // Ticks came from a Deadline: count it on the clock that continues during suspension
	ID       ID
	Term     Term
	Ticks    Ticks
}

// Halt is the panic by which a step ends at an effect; see [Collector.HaltAt]. For engines.
type Halt struct{}

// kinds is the number of kinds that an algorithm may declare: a link has room for so many.
const kinds = 16

// KindError is the panic of [Out.Send] with a kind that no algorithm can declare. For engines.
type KindError Kind

func (k KindError) Error() string {
	return fmt.Sprintf("sends a message of kind %d; there are at most %d kinds", Kind(k), kinds)
}

// Functions is the set of optional functions that an algorithm has. For engines.
type Functions struct {
	Timeout, Recover, Suspect, Trust, Command, Durable, Eligible, Phase, Incarnation, Membership, Enlarge bool
}

// Out returns the Out of a step.
func (c *Collector[M]) Out() *Out[M] { return &c.out }

// At sets the process of the next steps, by its first link.
func (c *Collector[M]) At(first uint32) { c.out.base = first << 4 }

// Clock sets the time of the next steps. Algorithms see only differences of times.
func (c *Collector[M]) Clock(now Ticks) { c.out.now = now }

// Choices sets the source of the values of [Out.Choose].
func (c *Collector[M]) Choices(choose func(n uint32) uint32) { c.out.choose = choose }

// HaltAt lets the next steps end, with a panic of [Halt], at a message or at another effect, each counted from 1; 0 is none. When
// the panic is recovered, the stack shows which lines of the algorithm have this effect. It comes after a whole step that had it.
func (c *Collector[M]) HaltAt(message, other int) {
	if c.out.halts {
		c.out.sent = c.whole
	}
	if c.out.stop, c.out.halts = other, message > 0; c.out.halts {
		c.whole = c.out.sent
		c.out.sent = c.out.sent[: 0 : message-1]
	}
}

// Sent returns the messages sent since the last Reset, in order; valid until the next step.
func (c *Collector[M]) Sent() []Sent[M] { return c.out.sent }

// Effects returns the other effects since the last Reset, in order; valid until the next step.
func (c *Collector[M]) Effects() []Effect { return c.out.effects }

// Swap returns the messages sent, and collects into a spare buffer from now on.
func (c *Collector[M]) Swap(spare []Sent[M]) (sent []Sent[M]) {
	sent, c.out.sent = c.out.sent, spare[:0]
	return sent
}

// ResetEffects forgets the effects that are not messages.
func (c *Collector[M]) ResetEffects() { c.out.effects = c.out.effects[:0] }

// Reset forgets all messages and effects.
func (c *Collector[M]) Reset() { c.out.sent, c.out.effects = c.out.sent[:0], c.out.effects[:0] }

// On returns the directed link that the message left on.
func (s *Sent[M]) On() uint32 { return s.Link >> 4 }

// Kind returns the kind of the message.
func (s *Sent[M]) Kind() Kind { return Kind(s.Link & 15) }

// Functions returns the set of optional functions that the algorithm has. For engines.
func (a *Algorithm[S, M]) Functions() Functions {
	return Functions{
		Timeout: a.Timeout != nil, Recover: a.Recover != nil, Suspect: a.Suspect != nil, Trust: a.Trust != nil,
		Command: a.Command != nil, Durable: a.Durable != nil, Eligible: a.Eligible != nil, Phase: a.Phase != nil,
		Incarnation: a.Incarnation != nil, Membership: a.Membership != nil, Enlarge: a.Enlarge != nil,
	}
}

// With returns the declaration as adjusted to these parameters. For engines.
func (d *Declaration) With(p Parameters) *Declaration {
	if d.Adjust == nil {
		return d
	}
	adjusted := *d
	adjusted.Adjust = nil
	d.Adjust(&adjusted, p)
	return &adjusted
}

// LongestDelay returns the longest delay of a message of a timed run, with these parameters. For engines.
func (d *Declaration) LongestDelay(p Parameters) Ticks {
	if d.Delay == nil {
		return Units(1)
	}
	return d.Delay.Ticks(p)
}

// Tabulate adds the declared sequence for a network of n processes to parameters. It returns the error of Sequence. For
// engines.
func (d *Declaration) Tabulate(p Parameters, n int) (Parameters, error) {
	if d.Sequence == nil {
		return p, nil
	}
	numbers, err := d.Sequence(p, uint64(n), 128)
	if err != nil {
		return p, err
	}
	p.sequence = make([]Ticks, len(numbers))
	for k, number := range numbers {
		p.sequence[k] = Forever
		if number != nil {
			p.sequence[k], _ = TicksOf(number)
		}
	}
	return p, nil
}

// Left returns the time from now until the deadline, 0 if it has passed. For engines, since only they know the time.
func (d Deadline) Left(now Ticks) Ticks {
	if now.Less(d.at) {
		return d.at.Sub(now)
	}
	return Ticks{}
}

// DeadlineIn returns the deadline at the given distance from now; the zero Deadline if the distance is 0. For
// engines.
func DeadlineIn(left, now Ticks) Deadline {
	if left.IsZero() {
		return Deadline{}
	}
	return Deadline{now.Add(left)}
}
