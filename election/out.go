package election

import "fmt"

// Out takes the effects of one step. They happen together, after the step has returned: what Durable points to
// becomes durable, then messages leave, in order on each port, then timers change, then decisions become visible.
type Out[M any] struct {
	base    uint32 // the process's first link << 4
	sent    []Sent[M]
	effects []Effect
	now     Ticks
	choose  func(uint32) uint32
	halts   bool // the step ends at a message for which sent has no room
	stop    int  // the other effect at which the step ends; 0: none
}

// Send sends a message out of a port. It appends by hand, so that a step that halts costs others nothing.
func (o *Out[M]) Send(port Port, kind Kind, message M) {
	if kind >= kinds {
		panic(KindError(kind))
	}
	link := o.base + uint32(port)<<4 + uint32(kind)
	if n := len(o.sent); n < cap(o.sent) {
		o.sent = o.sent[:n+1]
		o.sent[n] = Sent[M]{message, link}
		return
	}
	if o.halts {
		panic(Halt{})
	}
	endless(len(o.sent), "messages")
	o.sent = append(o.sent, Sent[M]{message, link})
}

// Choose returns one of 0 .. n-1, uniformly. n is at least 1.
func (o *Out[M]) Choose(n uint32) uint32 { return o.choose(n) }

// After starts or restarts a timer: it expires when that much time has passed, or later. [Forever] means never.
func (o *Out[M]) After(timer Timer, wait Ticks) {
	e := o.add(SetTimer)
	e.Timer, e.Ticks = timer, wait
}

// At is After with a Deadline: the timer expires when the deadline has passed, or later.
func (o *Out[M]) At(timer Timer, deadline Deadline) {
	e := o.add(SetTimer)
	e.Timer, e.Ticks, e.Deadline = timer, deadline.Left(o.now), true
}

// Stop stops a timer. It has no effect on a timer that does not run.
func (o *Out[M]) Stop(timer Timer) { o.add(StopTimer).Timer = timer }

// Deadline returns a deadline that comes when that much time has passed, or earlier.
func (o *Out[M]) Deadline(wait Ticks) Deadline { return Deadline{o.now.Add(wait)} }

// Passed reports whether a deadline has come. It is true for the zero Deadline.
func (o *Out[M]) Passed(deadline Deadline) bool { return !o.now.Less(deadline.at) }

// Left returns the time that passes at least until a deadline, 0 if it has come. It is a hint for when to look again: an
// obligation needs a timer, and a right needs a deadline.
func (o *Out[M]) Left(deadline Deadline) Ticks { return deadline.Left(o.now) }

// Lead decides that this process leads.
func (o *Out[M]) Lead(term Term) { o.add(Lead).Term = term }

// LeadUntil decides that this process leads until the deadline, and no longer, unless it decides so again.
func (o *Out[M]) LeadUntil(deadline Deadline, term Term) {
	e := o.add(Lead)
	e.Term, e.Ticks, e.Deadline = term, deadline.Left(o.now), true
}

// Follow decides that leader leads. 0 means another process, without naming it.
func (o *Out[M]) Follow(leader ID, term Term) {
	e := o.add(Follow)
	e.ID, e.Term = leader, term
}

// NoLeader withdraws a decision: this process knows no leader now.
func (o *Out[M]) NoLeader() { o.add(NoLeader) }

// StopWork asks the host to stop what it does as the leader. The lease is kept meanwhile, if it is renewed; by its deadline
// the work has stopped in any case. The command [Stopped] says when it has.
func (o *Out[M]) StopWork() { o.add(StopWork) }

// endless ends a step in a loop that never ends, before the step takes all memory. It is called when a list is full: so the limit costs
// a step nothing.
func endless(have int, what string) {
	const most = 1 << 22 // more than the links of a process in any network that engines take
	if have >= most {
		panic(fmt.Errorf("the step has more than %d %s; it must end", most, what))
	}
}

// add adds an effect, to be filled in at its place: to make it elsewhere and copy it would cost more than all else
// that a process does when it learns the leader.
func (o *Out[M]) add(op Op) *Effect {
	if len(o.effects) == cap(o.effects) {
		endless(len(o.effects), "other effects")
	}
	o.effects = append(o.effects, Effect{})
	e := &o.effects[len(o.effects)-1]
	e.Link, e.Op = o.base>>4, op
	if len(o.effects) == o.stop {
		panic(Halt{})
	}
	return e
}
