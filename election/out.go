package election

// Out takes the effects of one step. They happen together, after the step has returned: what Durable
// points to is durable, then messages leave, in order on each port, then timers change, then
// decisions are seen.
type Out[M any] struct {
	base    uint32 // the process's first link << 4
	sent    []Sent[M]
	effects []Effect
	now     Ticks
	choose  func(uint32) uint32
}

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
	e.Timer, e.Ticks, e.Deadline = timer, deadline.Left(o.now), true
}

// Stop stops a timer; stopping one that does not run is nothing.
func (o *Out[M]) Stop(timer Timer) { o.add(StopTimer).Timer = timer }

// Deadline is the moment that comes when that much time has passed, or earlier.
func (o *Out[M]) Deadline(wait Ticks) Deadline { return Deadline{o.now.Add(wait)} }

// Passed says whether a deadline has come. The zero Deadline always has.
func (o *Out[M]) Passed(deadline Deadline) bool { return !o.now.Less(deadline.at) }

// Left is how much time passes at least until a deadline; 0 if it has come. It is a hint for when to look again: what
// binds is a timer, and what entitles is a deadline.
func (o *Out[M]) Left(deadline Deadline) Ticks { return deadline.Left(o.now) }

// Lead decides: this process leads.
func (o *Out[M]) Lead(term Term) { o.add(Lead).Term = term }

// LeadUntil decides: this process leads until the deadline, and not a moment longer, unless it says so again.
func (o *Out[M]) LeadUntil(deadline Deadline, term Term) {
	e := o.add(Lead)
	e.Term, e.Ticks, e.Deadline = term, deadline.Left(o.now), true
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
	o.effects = append(o.effects, Effect{})
	e := &o.effects[len(o.effects)-1]
	e.Link, e.Op = o.base>>4, op
	return e
}
