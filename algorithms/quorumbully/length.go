package quorumbully

import (
	"math"
	"math/bits"

	"ringleader.example/ringleader/election"
)

// The lengths of leases. Rule 3 lets each request have its own. Which one is a matter of policy, except that no request may end
// earlier than one before it: the leader still counts on that one, and its granter only on the newest.

const (
	fall   = 2    // a length falls by at most one unit in so many of time
	worse  = 3    // what will be late is expected to be up to so many times as late as what was
	memory = 4096 // in so many renewals, what was late is forgotten for the most part
)

// LengthFor returns how long a lease has to be if answers are late by so much: its renewals, which are a fixed part of it, are so far
// apart. As a lease bears two lost renewals, it bears about twice that lateness.
func LengthFor(late, renewal, lease uint64) uint64 {
	high, low := bits.Mul64(late, lease)
	if high >= renewal {
		return math.MaxUint64
	}
	length, _ := bits.Div64(high, low, renewal)
	return length
}

// varies reports whether the requests of this member have different lengths.
func (p *Process) varies() bool { return p.Settings.Shortest > 0 }

// length returns that of the newest request.
func (p *Process) length() uint64 {
	if p.varies() {
		return p.Lengths.Lease
	}
	return p.Settings.Lease
}

// lengths returns those of a new claim, which is for L.
func (p *Process) lengths() Lengths {
	if !p.varies() {
		return Lengths{}
	}
	return Lengths{Lease: p.Settings.Lease, Shares: make([]election.Deadline, p.Members)}
}

// order returns the number of a request, if lengths vary; else there is no need to tell requests apart.
func (m *Message) order() uint64 {
	if m.Varies {
		return m.Request.Number
	}
	return 0
}

// part returns size·length/L, rounded down, of a length up to L.
func (p *Process) part(size, length uint64) uint64 {
	high, low := bits.Mul64(size, length)
	quotient, _ := bits.Div64(high, low, p.Settings.Lease)
	return quotient
}

// entitled returns for how long an answer counts to a request of that length (rule 3).
func (p *Process) entitled(length uint64) uint64 { return p.part(p.Settings.Entitled, length) }

// interval returns the time until the next renewal: H for L, and less for shorter leases.
func (p *Process) interval() uint64 { return max(1, p.part(p.Settings.Renewal, p.length())) }

// ages returns the shares as if all requests had been for L. They tell when the requests left.
func (p *Process) ages() []election.Deadline {
	if p.varies() {
		return p.Lengths.Shares
	}
	return p.Share
}

// lasts returns how long the lease of this leader lasts from the request behind its deadline on.
func (p *Process) lasts() uint64 {
	from := election.Ticks{} // of the same request: shares and ages have one order
	return p.Settings.Entitled + p.deadline().Left(from).Lo - p.deadlineOf(&p.Kept.Voters, p.ages()).Left(from).Lo
}

// noteLate notes that something of a lease was late: the worst counts, for as long as it is remembered.
func (p *Process) noteLate(late uint64) { p.Late = max(p.Late, min(late, p.Settings.Lease)) }

// forget lets what was late fade, with each renewal that comes in its time, and not before it.
func (p *Process) forget(passed, between uint64) {
	if passed >= between/2 {
		p.Late -= (p.Late + memory - 1) / memory
	}
}

// noteTimer notes how late the timer for the next renewal is. It does so before the deadline is checked: a leader that was kept from its work
// remembers that also if its lease has ended meanwhile.
func (p *Process) noteTimer(out *election.Out[Message]) {
	if !p.varies() || !p.leads() {
		return
	}
	passed, between := p.passed(out), p.interval()
	if passed > between {
		p.noteLate(passed - between)
	}
}

// noteAnswer notes, when an answer comes, how long ago the request behind the deadline left, but for the time between renewals. So it measures
// the way to a majority and back, and how late this member and the others are. What is not answered says nothing: the others may be cut off.
func (p *Process) noteAnswer(out *election.Out[Message]) {
	if p.Lengths.Between == 0 { // no timer has renewed the lease; the answer to a claim waits for a disk
		return
	}
	age := p.Settings.Entitled - out.Left(p.deadlineOf(&p.Kept.Voters, p.ages())).Lo
	if age > p.Lengths.Between {
		p.noteLate(age - p.Lengths.Between)
	}
}

// noteRequest notes, at a member that follows, how late a renewal comes after the one before.
func (p *Process) noteRequest(x election.ID, m *Message, out *election.Out[Message]) {
	r := &m.Request
	if !p.varies() || p.Given != (Given{x, r.Incarnation, r.Term, true}) || m.order() <= p.Asked {
		return
	}
	passed, between := p.Granted-min(p.Granted, out.Left(p.Until).Lo), p.part(p.Settings.Renewal, min(p.Granted, p.Settings.Lease))
	p.forget(passed, between)
	if passed > between {
		p.noteLate(passed - between)
	}
}

// passed returns how long ago the newest request left.
func (p *Process) passed(out *election.Out[Message]) uint64 {
	return p.Settings.Entitled - out.Left(p.Lengths.Sent[p.Number%requests]).Lo
}

// measure chooses the length of the next request. It rises at once, and falls more slowly than time passes: so that request ends later
// than the one before it.
func (p *Process) measure(out *election.Out[Message]) {
	if !p.varies() {
		return
	}
	now, passed := &p.Lengths, p.passed(out)
	now.Between = p.interval()
	p.forget(passed, now.Between)
	needed := LengthFor(min(p.Settings.Lease, worse*p.Late), p.Settings.Renewal, p.Settings.Lease)
	goal := min(p.Settings.Lease, max(p.Settings.Shortest, needed))
	if goal > now.Lease {
		now.Lease = goal
		return
	}
	now.Lease = max(goal, now.Lease-min(now.Lease, passed/p.Settings.Fall))
}
