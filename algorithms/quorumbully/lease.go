package quorumbully

import (
	"cmp"
	"slices"

	"ringleader.example/ringleader/election"
)

// The rules of safety: 1 to 5, and 7, which follows from them. The functions of step.go have checked the deadline before
// they call these.

// bind gives a grant (rule 2), which binds for as long as the request asks, from now. The timer may be late. Rule 4 needs the
// longest length ever given, so that is durable. If lengths vary, requests have a number, and one that is older than one that was
// granted binds no longer: it may be shorter than what the leader counts on.
func (p *Process) bind(given Given, length, number uint64, out *election.Out[Message]) {
	before := p.Given
	before.Won = given.Won
	p.Given = given
	if before == given && number < p.Asked {
		return
	}
	p.Asked = number
	if p.Granted = 0; number > 0 {
		p.Granted = length
	}
	p.Kept.Longest = max(p.Kept.Longest, length)
	p.Until = out.Deadline(election.Units(length))
	out.After(Bound, election.Units(length))
}

// unbind ends the grant given, which has run out, or whose holder is finished.
func (p *Process) unbind(out *election.Out[Message]) {
	if p.following() {
		out.NoLeader()
	}
	p.Given, p.Until, p.Asked, p.Granted, p.Heir = Given{}, election.Deadline{}, 0, 0, 0
	out.Stop(Bound)
}

// free reports whether rule 2 allows a grant to an incarnation of member x, which may be this member.
func (p *Process) free(x election.ID, incarnation uint64) bool {
	return p.Given.Holder == 0 || p.Given.Holder == x && p.Given.Incarnation == incarnation
}

// following reports whether the grant given is to another member that leads.
func (p *Process) following() bool { return p.Given.Won && p.Given.Holder != p.ID }

// deadline returns the q-th largest of the shares (rule 3).
func (p *Process) deadline() election.Deadline {
	if p.Share == nil {
		return election.Deadline{}
	}
	return p.deadlineOf(&p.Kept.Voters, p.Share)
}

// deadlineOf returns what the deadline is if v are the voters.
func (p *Process) deadlineOf(v *Voters, all []election.Deadline) election.Deadline {
	shares := make([]election.Deadline, 0, len(all))
	for i, share := range all {
		if p.among(v, election.ID(i+1)) {
			shares = append(shares, share)
		}
	}
	return p.least(v, shares)
}

// least returns the least of the shares of a majority of v, of those that run longest.
func (p *Process) least(v *Voters, shares []election.Deadline) election.Deadline {
	if len(shares) < p.majorityOf(v) { // this member does not know the others, for example
		return election.Deadline{}
	}
	slices.SortFunc(shares, func(a, b election.Deadline) int {
		switch {
		case b.Before(a):
			return -1
		case a.Before(b):
			return 1
		}
		return 0
	})
	return shares[p.majorityOf(v)-1]
}

// confirmed returns what the deadline would be, if all requests were for L, by the grants of the voters that knew of no higher term.
// What such a majority has answered was answered before any higher term was won, whatever clocks do.
func (p *Process) confirmed() election.Deadline {
	v, all := &p.Kept.Voters, p.ages()
	shares := make([]election.Deadline, 0, len(all))
	for i, share := range all {
		if x := election.ID(i + 1); p.among(v, x) && !p.disputed(x) {
			shares = append(shares, share)
		}
	}
	return p.least(v, shares)
}

// disputed reports whether a member has promised a term above that of this leader. It may be this leader itself, if its timers are ahead of the
// clock on which it reads deadlines.
func (p *Process) disputed(x election.ID) bool {
	if x == p.ID {
		return p.Kept.Promise > p.Term
	}
	return p.Disputed != nil && p.Disputed[x-1]
}

// lapse ends the tenure for good if its deadline has passed (rule 3). Every step calls it before it handles its input.
// Work under the lease must have stopped by then. The Release follows when the host reports that.
func (p *Process) lapse(out *election.Out[Message]) {
	if p.leads() && out.Passed(p.deadline()) {
		p.end(out)
	}
}

// leads reports whether this member has a tenure.
func (p *Process) leads() bool { return p.Role == Leader || p.Role == Stopping }

// end ends a tenure or a claim for good: the member leaves the role first, and no answer in this term counts any more. A
// claim is released at once, a tenure when its work has stopped (rule 5).
func (p *Process) end(out *election.Out[Message]) {
	role, term := p.Role, p.Term
	p.Role, p.Term, p.Number, p.Successor = Follower, 0, 0, 0
	p.Lengths, p.Sent, p.Share, p.Refused, p.Disputed, p.Keeps, p.Change = Lengths{}, [requests]election.Deadline{}, nil, nil, nil, nil, Change{}
	p.learn(Fact{p.ID, p.Kept.Incarnation, term}, out)
	if role == Candidate {
		p.release(term, 0, out)
		return
	}
	out.NoLeader()
	for _, timer := range []election.Timer{Lapse, Renewal, Offering} {
		out.Stop(timer)
	}
	if role == Leader {
		out.StopWork()
	}
}

// claim claims a term above every term that this member has promised or heard of (rule 1). Nothing is durable yet when the Claim leaves:
// the member's own grant follows in a step of its own.
func (p *Process) claim(out *election.Out[Message]) {
	term := max(p.Kept.Promise, p.MaxPromise) + 1
	if p.Role != Follower || !p.able() || !p.free(p.ID, p.Kept.Incarnation) || p.Settings.Terms > 0 && term > p.Settings.Terms {
		p.pause(out)
		return
	}
	p.Role, p.Term = Candidate, term
	p.Share, p.Refused = make([]election.Deadline, p.Members), make([]bool, p.Members)
	p.Lengths = p.lengths()
	p.Deferred = false
	p.enter(Claiming, p.patient(p.Settings.Claim), out)
	p.request(Claim, out)
	out.After(Own, election.Units(0))
}

// own grants this member's own claim, in the step after the one in which the Claim has left, before that step handles its input. So the grant
// obeys the rules of every grant, and the disk of this member works while those of the others do.
func (p *Process) own(out *election.Out[Message]) {
	if p.Role != Candidate || p.Kept.Promise >= p.Term {
		return
	}
	m := p.newest()
	p.promise(p.Term)
	p.answers(Claim, &m, out)
	out.Stop(Own)
	p.elect(out) // a group of one is a majority
}

// answers grants this member's own newest request.
func (p *Process) answers(kind election.Kind, m *Message, out *election.Out[Message]) {
	p.counts(p.ID, p.Number)
	p.bind(Given{p.ID, p.Kept.Incarnation, p.Term, kind == Renew}, m.Request.Lease, m.order(), out)
}

// request asks all members for a lease. Each answer counts from now. A leader's own answer counts at once.
func (p *Process) request(kind election.Kind, out *election.Out[Message]) {
	p.Number++
	m := p.newest()
	p.Sent[p.Number%requests] = out.Deadline(election.Units(p.entitled(m.Request.Lease)))
	if p.varies() {
		p.Lengths.Sent[p.Number%requests] = out.Deadline(election.Units(p.Settings.Entitled))
	}
	if kind == Claim {
		m.Facts = p.facts()
	} else {
		p.answers(kind, &m, out)
	}
	p.tell(kind, m, out)
}

// newest returns the newest request of a claim or tenure. A leader names its heir: the successor, if it stops, or the able member of highest rank.
// Its first renewal names none, since it has heard only those that elected it.
func (p *Process) newest() Message {
	m := Message{Request: Request{p.Term, p.Kept.Incarnation, p.Number, p.length()}, Voters: p.Kept.Voters, Varies: p.varies()}
	if p.leads() && p.Number > 2 {
		m.Successor = cmp.Or(p.Successor, p.best())
	}
	return m
}

// remind repeats the newest request to a member that may not have it: it has connected. An answer counts from the time at which the request
// was sent first (rule 3).
func (p *Process) remind(x election.ID, out *election.Out[Message]) {
	if p.leads() && x <= p.Members && x != p.ID {
		p.send(x, Renew, p.newest(), out)
	}
}

// farthest is the largest distance of a term above a member's promise that the member accepts (rule 1).
const farthest = 1 << 32

// claimed handles a Claim by rules 1, 2 and 9. A refused claim changes no promise.
func (p *Process) claimed(x election.ID, m *Message, out *election.Out[Message]) {
	r := &m.Request
	p.learnAll(m.Facts, out)
	p.adopt(&m.Voters, out)
	repeats := p.Given.Holder == x && p.Given.Incarnation == r.Incarnation && p.Given.Term == r.Term
	switch {
	case p.finished(x, r):
		p.refuse(x, r, IsFinished, out)
		return
	case p.Kept.Voters.after(&m.Voters): // rule 9
		p.refuse(x, r, Outdated, out)
		return
	case p.Role == Candidate && p.above(x): // withdraw the own claim first
		p.end(out)
		p.rest(out)
	}
	switch {
	case repeats && r.Term == p.Kept.Promise: // rule 1: it repeats the grant in memory
	case r.Term <= p.Kept.Promise: // rule 1: the term must be above P
		p.refuse(x, r, LowTerm, out)
		return
	case p.Restarted: // rule 4
		p.refuse(x, r, IsWaiting, out)
		return
	case !p.free(x, r.Incarnation): // rule 2
		p.refuse(x, r, IsBound, out)
		return
	case r.Lease > p.Settings.LongestLease || r.Term > p.Kept.Promise+farthest:
		p.refuse(x, r, Misfits, out)
		return
	}
	p.grant(x, m, repeats && p.Given.Won, out)
}

// renewed handles a Renew, the exception of rule 2. Its term is won, so no lower term is ever valid again, and neither a
// promise nor the wait after a restart prevents the grant. The term of the grant in force must not decrease: its holder may
// be about to win. A claim that failed no longer counts: otherwise a member that granted it could not follow the leader.
func (p *Process) renewed(x election.ID, m *Message, out *election.Out[Message]) {
	r := &m.Request
	p.adopt(&m.Voters, out)
	switch {
	case p.finished(x, r):
		p.refuse(x, r, IsFinished, out)
		return
	case r.Term < p.F, p.Given.Holder != 0 && r.Term < p.Given.Term:
		p.refuse(x, r, LowTerm, out)
		return
	}
	if p.Role != Follower { // a candidate: a tenure whose lease runs excludes a tenure of a higher term
		p.end(out)
	}
	if p.Restarted && !m.Varies { // an earlier life may have granted a longer lease in this term, if they vary
		p.Restarted, p.WaitsTill = false, election.Deadline{}
		out.Stop(Wait)
	}
	p.Tries = 0
	p.rest(out)
	p.noteRequest(x, m, out)
	p.grant(x, m, true, out)
	if p.Heir = m.Successor; p.Heir > p.Members { // the leader may know more members
		p.Heir = 0
	}
}

// grant grants a request, and follows member x if its term is won.
func (p *Process) grant(x election.ID, m *Message, won bool, out *election.Out[Message]) {
	r := &m.Request
	given := Given{x, r.Incarnation, r.Term, won}
	if p.following() && p.Given != given {
		out.NoLeader()
	}
	if won && p.Given != given {
		out.Follow(x, r.Term)
	}
	if won {
		p.raise(r.Term)
	}
	p.promise(r.Term)
	p.bind(given, r.Lease, m.order(), out)
	answer := Message{Request: *r, Voters: p.Kept.Voters.reference()}
	if p.Kept.Promise > r.Term {
		answer.Standing.Promise = p.Kept.Promise
	}
	p.send(x, Grant, answer, out)
}

// raise raises F (rule 2) to a term that is won. That is not worth a flush, for which a new leader would wait.
func (p *Process) raise(term election.Term) { p.F = max(p.F, term) }

// promise raises P (rule 1). What is known of F by then becomes durable with it.
func (p *Process) promise(term election.Term) {
	if term > p.Kept.Promise {
		p.Kept.Promise, p.Kept.Floor = term, p.F
	}
}

func (p *Process) refuse(x election.ID, r *Request, reason Reason, out *election.Out[Message]) {
	p.send(x, Nack, Message{Request: *r, Reason: reason, Standing: Standing{Promise: p.Kept.Promise}, Voters: p.Kept.Voters}, out)
}

// mine reports whether an answer belongs to a request of the current claim or tenure.
func (p *Process) mine(r *Request) bool {
	return p.Role != Follower && r.Term == p.Term && r.Incarnation == p.Kept.Incarnation && r.Number <= p.Number
}

// granted counts an answer from the time at which its request was sent, never from now (rule 3).
func (p *Process) granted(x election.ID, m *Message, out *election.Out[Message]) {
	r := &m.Request
	if !p.mine(r) || p.Number-r.Number >= requests {
		return
	}
	if m.Standing.Promise > p.Term { // its P never falls
		disputed := make([]bool, p.Members) // copies of the state share the former one
		copy(disputed, p.Disputed)
		disputed[x-1] = true
		p.Disputed = disputed
	}
	if p.Share[x-1].Before(p.Sent[r.Number%requests]) {
		p.noteAnswer(out)
		p.counts(x, r.Number)
	}
	p.elect(out)
	p.keeps(x, &m.Voters, out)
}

// counts counts the answer of a member to a request.
func (p *Process) counts(x election.ID, number uint64) {
	p.Share = slices.Clone(p.Share) // copies of the state share it
	p.Share[x-1] = p.Sent[number%requests]
	if p.varies() {
		p.Lengths.Shares = slices.Clone(p.Lengths.Shares)
		p.Lengths.Shares[x-1] = p.Lengths.Sent[number%requests]
	}
}

// elect makes this member leader, or prolongs its lead, for as long as a majority of the shares runs.
func (p *Process) elect(out *election.Out[Message]) {
	deadline := p.deadline()
	if out.Passed(deadline) {
		return
	}
	if p.Role == Candidate {
		p.Role, p.Work = Leader, p.Term
		p.raise(p.Term)
		p.Tries = 0
		p.rest(out)
		p.lead(out)
		p.renew(out)
		deadline = p.deadline()
	}
	out.LeadUntil(deadline, p.Term)
	out.At(Lapse, deadline)
}

// prolong renews the lease of a tenure. A group of one has all answers.
func (p *Process) prolong(out *election.Out[Message]) {
	if p.leads() {
		p.measure(out)
		p.renew(out)
		p.elect(out)
	}
}

// renew asks for the lease again, every H and when the host asks for it, also while stopping.
func (p *Process) renew(out *election.Out[Message]) {
	if p.Settings.Renewals > 0 && p.Number > p.Settings.Renewals {
		return
	}
	p.request(Renew, out)
	out.After(Renewal, election.Units(p.interval()))
}

// refused withdraws a claim that can no longer win. If the term was too low, the member claims a higher term at once.
func (p *Process) refused(x election.ID, m *Message, out *election.Out[Message]) {
	const most = 3 // repetitions in one episode
	p.heard(m.Standing.Promise)
	p.adopt(&m.Voters, out)
	if p.Role != Candidate || !p.mine(&m.Request) {
		return
	}
	p.Refused = slices.Clone(p.Refused)
	p.Refused[x-1] = true
	if p.size(&p.Kept.Voters)-p.count(p.Refused) >= p.majority() {
		return
	}
	p.end(out)
	if m.Reason == LowTerm && p.Reclaims < most {
		p.Reclaims++
		p.claim(out)
		return
	}
	p.pause(out)
}

// release sends Release to all (rule 5): this member never again counts an answer in this term or in a lower one.
func (p *Process) release(term election.Term, successor election.ID, out *election.Out[Message]) {
	p.tell(Release, Message{Request: Request{Term: term, Incarnation: p.Kept.Incarnation}, Successor: successor}, out)
}

// released handles a Release (rule 5). The successor claims without asking. The others defer to it for Td, and for as long as something was late
// before: its claim waits for a disk.
func (p *Process) released(x election.ID, m *Message, out *election.Out[Message]) {
	concerned := p.Given.Holder == 0 || p.Given.Holder == x
	p.learn(Fact{x, m.Request.Incarnation, m.Request.Term}, out)
	switch {
	case !concerned || p.Role != Follower:
	case m.Successor == p.ID:
		p.claim(out)
	case m.Successor != 0:
		p.enter(Deferring, p.patient(p.Settings.Defer), out)
	case p.Stage == Deferring && p.Settings.Asks: // another one is to lead, and may claim again
	default:
		p.ask(out)
	}
}

// yields returns how long a leader that has handed over leaves the lead to others. A successor that runs on a busy machine needs longer than
// Td until its claim arrives. Meanwhile another member may take over, but not the one that was to give the lead away.
func (p *Process) yields(successor election.ID) uint64 {
	if successor == 0 || !p.Settings.Asks {
		return p.Settings.Defer
	}
	return max(p.Settings.Defer, min(p.Settings.Claim<<mostTries, p.Settings.Lease/2))
}

// stopped releases a tenure whose work has stopped (rule 5). A tenure that was stopping ends now. A tenure that has lapsed
// meanwhile has ended already.
func (p *Process) stopped(out *election.Out[Message]) {
	if p.Work == 0 || p.Role == Leader { // a late report about an earlier tenure
		return
	}
	term, successor := p.Work, p.Successor
	p.Work = 0
	if p.Role == Stopping {
		p.end(out)
		p.release(term, successor, out)
		p.enter(Deferring, p.yields(successor), out)
		return
	}
	p.release(term, 0, out)
}
