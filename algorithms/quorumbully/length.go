package quorumbully

import (
	"math/bits"

	"ringleader.example/ringleader/election"
)

// The lengths of leases. Rule 3 lets each request have its own. Which one is a matter of policy, except that no request may end
// earlier than one before it: the leader still counts on that one, and its granter only on the newest.

const (
	fall   = 64 // a length falls by at most one unit in so many of time
	margin = 4  // a lease is longer than the shortest one by so many times what answers are late
)

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

// noteLate notes how long ago the request behind the deadline left, but for the time between renewals. So it measures the way to a majority
// and back, and how late this member and the others are.
func (p *Process) noteLate(out *election.Out[Message]) {
	if !p.varies() || !p.leads() {
		return
	}
	age := p.Settings.Entitled - out.Left(p.deadlineOf(&p.Kept.Voters, p.ages())).Lo
	if between := p.interval(); age > between {
		p.Lengths.Late = max(p.Lengths.Late, age-between)
	}
}

// measure chooses the length of the next request. It rises at once, and falls more slowly than time passes: so that request ends later
// than the one before it.
func (p *Process) measure(out *election.Out[Message]) {
	if !p.varies() || !p.leads() {
		return
	}
	p.noteLate(out)
	now := &p.Lengths
	goal := min(p.Settings.Lease, p.Settings.Shortest+margin*min(now.Late, p.Settings.Lease))
	now.Late = 0
	if goal > now.Lease {
		now.Lease = goal
		return
	}
	passed := p.entitled(now.Lease) - out.Left(p.Sent[p.Number%requests]).Lo
	now.Lease = max(goal, now.Lease-min(now.Lease, passed/p.Settings.Fall))
}
