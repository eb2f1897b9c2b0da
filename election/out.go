package election

// Out takes the effects of one step. They happen together, after the step has returned: what Durable
// points to is durable, then messages leave, in order on each port, then timers change, then
// decisions are seen.
type Out[M any] struct {
	base   uint32 // the process's first link << 4
	sent   []Sent[M]
	rare   []Effect
	now    Ticks
	choose func(uint32) uint32
}

// Sent is a message under way. Link>>4 is the directed link that it left on, Link&15 its kind.
type Sent[M any] struct {
	M    M
	Link uint32
}

// On is the directed link that the message left on.
func (s *Sent[M]) On() uint32 { return s.Link >> 4 }

// Kind is the kind of the message.
func (s *Sent[M]) Kind() Kind { return Kind(s.Link & 15) }

// Send sends a message out of a port.
func (o *Out[M]) Send(port Port, kind Kind, message M) {
	o.sent = append(o.sent, Sent[M]{message, o.base + uint32(port)<<4 + uint32(kind)})
}

// Choose returns one of 0 .. n-1, each as likely as the others. n is at least 1.
func (o *Out[M]) Choose(n uint32) uint32 { return o.choose(n) }

// After starts a timer, or starts it again: it expires when that much time has passed, or later; [Forever]: never.
func (o *Out[M]) After(timer Timer, wait Ticks) {
	e := o.add(SetTimer)
	e.Timer, e.Ticks = timer, wait
}

// At is After with a Deadline: the timer expires when the deadline has passed, or later.
func (o *Out[M]) At(timer Timer, deadline Deadline) {
	e := o.add(SetTimer)
	e.Timer, e.Ticks, e.Deadline = timer, o.left(deadline), true
}

// Stop stops a timer; stopping one that does not run is nothing.
func (o *Out[M]) Stop(timer Timer) { o.add(StopTimer).Timer = timer }

// Deadline is the moment that comes when that much time has passed, or earlier.
func (o *Out[M]) Deadline(wait Ticks) Deadline { return Deadline{o.now.Add(wait)} }

// Passed says whether a deadline has come. The zero Deadline always has.
func (o *Out[M]) Passed(deadline Deadline) bool { return !o.now.Less(deadline.at) }

// Left is how much time passes at least until a deadline; 0 if it has come. It is a hint for when to look again: what
// binds is a timer, and what entitles is a deadline.
func (o *Out[M]) Left(deadline Deadline) Ticks { return o.left(deadline) }

// Lead decides: this process leads.
func (o *Out[M]) Lead(term Term) { o.add(Lead).Term = term }

// LeadUntil decides: this process leads until the deadline, and not a moment longer, unless it says so again.
func (o *Out[M]) LeadUntil(deadline Deadline, term Term) {
	e := o.add(Lead)
	e.Term, e.Ticks, e.Deadline = term, o.left(deadline), true
}

// Follow decides: that process leads. 0 is somebody else, where nobody has an identifier.
func (o *Out[M]) Follow(leader ID, term Term) {
	e := o.add(Follow)
	e.ID, e.Term = leader, term
}

// NoLeader takes a decision back: this process does not know who leads now.
func (o *Out[M]) NoLeader() { o.add(NoLeader) }

// StopWork asks the host to stop what it does as the leader. A lease is kept meanwhile, if it is renewed; by its deadline the
// work has stopped in any case. The command [Stopped] says when it has.
func (o *Out[M]) StopWork() { o.add(StopWork) }

// add adds an effect, to be filled in where it lies: made elsewhere and copied, it would cost more than
// all else that a process does when it learns who leads.
func (o *Out[M]) add(op Op) *Effect {
	o.rare = append(o.rare, Effect{})
	e := &o.rare[len(o.rare)-1]
	e.Link, e.Op = o.base>>4, op
	return e
}

func (o *Out[M]) left(d Deadline) Ticks {
	if o.Passed(d) {
		return Ticks{}
	}
	return d.at.Sub(o.now)
}

// Op says what an Effect does.
type Op uint8

// The effects that are not messages.
const (
	SetTimer  Op = iota // Timer expires in Ticks
	StopTimer           // Timer is stopped
	Lead                // the process leads in Term; with Deadline, for Ticks
	Follow              // the process follows ID in Term
	NoLeader            // the process knows no leader
	StopWork            // the host stops what it does as the leader
)

// Effect is what a step does besides sending.
type Effect struct {
	Link     uint32 // the first link of the process
	Op       Op
	Timer    Timer
	Deadline bool // Ticks came from a Deadline: count it on the clock that runs on during suspension
	ID       ID
	Term     Term
	Ticks    Ticks
}

// Collector is an engine's end of an Out. Algorithms are never handed one.
type Collector[M any] struct{ out Out[M] }

// Out is the end that a step is given.
func (c *Collector[M]) Out() *Out[M] { return &c.out }

// At says whose step comes: the process whose first link this is.
func (c *Collector[M]) At(first uint32) { c.out.base = first << 4 }

// Clock says what time it is for the steps that come. Only the differences are ever seen.
func (c *Collector[M]) Clock(now Ticks) { c.out.now = now }

// Choices says where Choose gets its values.
func (c *Collector[M]) Choices(choose func(n uint32) uint32) { c.out.choose = choose }

// Sent is what was sent since the last Reset, in order; valid until the next step.
func (c *Collector[M]) Sent() []Sent[M] { return c.out.sent }

// Effects is every other effect since the last Reset, in order; valid until the next step.
func (c *Collector[M]) Effects() []Effect { return c.out.rare }

// Swap takes what was sent and collects into a spare buffer from now on.
func (c *Collector[M]) Swap(spare []Sent[M]) (sent []Sent[M]) {
	sent, c.out.sent = c.out.sent, spare[:0]
	return sent
}

// ResetEffects forgets the effects that are not messages.
func (c *Collector[M]) ResetEffects() { c.out.rare = c.out.rare[:0] }

// Reset forgets all effects.
func (c *Collector[M]) Reset() { c.out.sent, c.out.rare = c.out.sent[:0], c.out.rare[:0] }
