package quorumbully

import (
	"slices"

	"ringleader.example/ringleader/election"
)

// The rules of safety: 1 to 5, and 7, which follows from them. Each input comes in by one of the functions of step.go,
// which have looked at the deadline before.

// majority is q.
func (p *Process) majority() int { return int(p.Members)/2 + 1 }

// bind gives a grant, rule 2. It binds for the length that the request asks for, counted from now, by a timer that may be
// late; the longest that was ever given is kept for rule 4.
func (p *Process) bind(given Given, length uint64, out *election.Out[Message]) {
	p.Given = given
	p.Kept.Longest = max(p.Kept.Longest, length)
	p.Until = out.Deadline(election.Units(length))
	out.After(Bound, election.Units(length))
}

// unbind ends the grant given: it has run out, or its holder is finished.
func (p *Process) unbind(out *election.Out[Message]) {
	if p.following() {
		out.NoLeader()
	}
	p.Given, p.Until = Given{}, election.Deadline{}
	out.Stop(Bound)
}

// free reports whether rule 2 allows a grant to an incarnation of a member; this member is one of them.
func (p *Process) free(x election.ID, incarnation uint64) bool {
	return p.Given.Holder == 0 || p.Given.Holder == x && p.Given.Incarnation == incarnation
}

// following reports whether the grant given is to another member that leads.
func (p *Process) following() bool { return p.Given.Won && p.Given.Holder != p.ID }

// deadline is rule 3: the q-th largest of the shares.
func (p *Process) deadline() election.Deadline {
	if p.Share == nil {
		return election.Deadline{}
	}
	sorted := slices.SortedFunc(slices.Values(p.Share), func(a, b election.Deadline) int {
		switch {
		case b.Before(a):
			return -1
		case a.Before(b):
			return 1
		}
		return 0
	})
	return sorted[p.majority()-1]
}

// lapse is rule 3, at the head of every step: a deadline that has come ends the tenure for good, before the input is
// looked at. What works under it has to be gone by then; its Release comes when the host reports that.
func (p *Process) lapse(out *election.Out[Message]) {
	if p.leads() && out.Passed(p.deadline()) {
		p.end(out)
	}
}

// leads reports whether this member holds a tenure.
func (p *Process) leads() bool { return p.Role == Leader || p.Role == Stopping }

// end ends a tenure or a claim, latched: the role is left first, and no answer counts in this term any more. A claim is
// released at once, a tenure when its work has stopped (rule 5).
func (p *Process) end(out *election.Out[Message]) {
	role, term := p.Role, p.Term
	p.Role, p.Term, p.Number, p.Successor = Follower, 0, 0, 0
	p.Sent, p.Share, p.Refused = [requests]election.Deadline{}, nil, nil
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

// claim is rule 1 for the candidate: a term above every one that it has promised or heard of. Its own grant obeys the
// rules of every grant, and is kept, as all that a step changes, before a message leaves.
func (p *Process) claim(out *election.Out[Message]) {
	term := max(p.Kept.Promise, p.MaxPromise) + 1
	if p.Role != Follower || !p.able() || !p.free(p.ID, p.Kept.Incarnation) || p.Settings.Terms > 0 && term > p.Settings.Terms {
		p.pause(out)
		return
	}
	p.Kept.Promise = term
	p.Role, p.Term = Candidate, term
	p.Share, p.Refused = make([]election.Deadline, p.Members), make([]bool, p.Members)
	p.Deferred = false
	p.enter(Claiming, p.Settings.Claim, out)
	p.request(Claim, out)
	p.elect(out) // a member that is alone is a majority
}

// request asks all for a lease. The answers to it entitle for D from now, this member's own at once.
func (p *Process) request(kind election.Kind, out *election.Out[Message]) {
	p.Number++
	ends := out.Deadline(election.Units(p.Settings.Entitled))
	p.Sent[p.Number%requests] = ends
	p.Share = slices.Clone(p.Share) // copies of the state share it
	p.Share[p.ID-1] = ends
	p.bind(Given{p.ID, p.Kept.Incarnation, p.Term, kind == Renew}, p.Settings.Lease, out)
	m := Message{Request: Request{p.Term, p.Kept.Incarnation, p.Number, p.Settings.Lease}}
	if kind == Claim {
		m.Facts = p.facts()
	}
	p.tell(kind, m, out)
}

// farthest is how far above its promise a member follows a term (rule 1).
const farthest = 1 << 32

// claimed is rules 1 and 2 for a granter. A claim that is refused changes nothing.
func (p *Process) claimed(x election.ID, m *Message, out *election.Out[Message]) {
	r := &m.Request
	p.learnAll(m.Facts, out)
	repeats := p.Given.Holder == x && p.Given.Incarnation == r.Incarnation && p.Given.Term == r.Term
	switch {
	case p.finished(x, r):
		p.refuse(x, r, IsFinished, out)
		return
	case p.Role == Candidate && p.above(x): // its claim is given up first
		p.end(out)
		p.rest(out)
	}
	switch {
	case repeats && r.Term == p.Kept.Promise: // rule 1: the very grant that is still in memory
	case r.Term <= p.Kept.Promise: // rule 1: strictly above
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
	p.grant(x, r, repeats && p.Given.Won, out)
}

// renewed is the exception of rule 2: a Renew means that its term is won. Once it is, no lower term is ever valid again, so
// no promise and no restart wait holds it back. But the grant in force never goes down, hence F.
func (p *Process) renewed(x election.ID, m *Message, out *election.Out[Message]) {
	r := &m.Request
	switch {
	case p.finished(x, r):
		p.refuse(x, r, IsFinished, out)
		return
	case r.Term < p.F, p.Role == Candidate && p.Term > r.Term:
		p.refuse(x, r, LowTerm, out)
		return
	}
	if p.Role != Follower { // a claim; a tenure whose lease runs excludes another one of a higher term
		p.end(out)
	}
	if p.Restarted {
		p.Restarted, p.WaitsTill = false, election.Deadline{}
		out.Stop(Wait)
	}
	p.rest(out)
	p.grant(x, r, true, out)
}

// grant grants a request, and follows if its term is won.
func (p *Process) grant(x election.ID, r *Request, won bool, out *election.Out[Message]) {
	given := Given{x, r.Incarnation, r.Term, won}
	if p.following() && p.Given != given {
		out.NoLeader()
	}
	if won && p.Given != given {
		out.Follow(x, r.Term)
	}
	p.Kept.Promise = max(p.Kept.Promise, r.Term)
	p.raise(r.Term)
	p.bind(given, r.Lease, out)
	p.send(x, Grant, Message{Request: *r}, out)
}

// raise raises F, rule 2: the highest term granted to another member or led in. A claim of one's own, given up, does not.
func (p *Process) raise(term election.Term) {
	p.F = max(p.F, term)
	p.Kept.Floor = max(p.Kept.Floor, p.F)
}

func (p *Process) refuse(x election.ID, r *Request, reason Reason, out *election.Out[Message]) {
	p.send(x, Nack, Message{Request: *r, Reason: reason, Standing: Standing{Promise: p.Kept.Promise}}, out)
}

// mine reports whether an answer is to a request of the claim or tenure that goes on.
func (p *Process) mine(r *Request) bool {
	return p.Role != Follower && r.Term == p.Term && r.Incarnation == p.Kept.Incarnation && r.Number <= p.Number
}

// granted is rule 3: what an answer entitles to counts from when its request was sent, never from now.
func (p *Process) granted(x election.ID, m *Message, out *election.Out[Message]) {
	r := &m.Request
	if !p.mine(r) || p.Number-r.Number >= requests {
		return
	}
	if entitled := p.Sent[r.Number%requests]; p.Share[x-1].Before(entitled) {
		p.Share = slices.Clone(p.Share)
		p.Share[x-1] = entitled
	}
	p.elect(out)
}

// elect takes or prolongs the lead for as long as a majority of shares runs.
func (p *Process) elect(out *election.Out[Message]) {
	if out.Passed(p.deadline()) {
		return
	}
	if p.Role == Candidate {
		p.Role, p.Work = Leader, p.Term
		p.raise(p.Term)
		p.rest(out)
		p.lead(out)
		p.renew(out)
	}
	out.LeadUntil(p.deadline(), p.Term)
	out.At(Lapse, p.deadline())
}

// renew asks for the lease again, every H, also while stopping.
func (p *Process) renew(out *election.Out[Message]) {
	if p.Settings.Renewals > 0 && p.Number > p.Settings.Renewals {
		return
	}
	p.request(Renew, out)
	out.After(Renewal, election.Units(p.Settings.Renewal))
}

// refused gives a claim up that cannot win any more. One whose term was too low is made again at once, in a higher one.
func (p *Process) refused(x election.ID, m *Message, out *election.Out[Message]) {
	const most = 3 // times
	p.heard(m.Standing.Promise)
	if p.Role != Candidate || !p.mine(&m.Request) {
		return
	}
	p.Refused = slices.Clone(p.Refused)
	p.Refused[x-1] = true
	left := 0
	for _, refuses := range p.Refused {
		if !refuses {
			left++
		}
	}
	if left >= p.majority() {
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

// release tells all that a term is over, rule 5: this member never again counts an answer in it or in a lower one.
func (p *Process) release(term election.Term, successor election.ID, out *election.Out[Message]) {
	p.tell(Release, Message{Request: Request{Term: term, Incarnation: p.Kept.Incarnation}, Successor: successor}, out)
}

// released is rule 5 for the others. The successor claims without asking; others leave that to it for a while.
func (p *Process) released(x election.ID, m *Message, out *election.Out[Message]) {
	concerned := p.Given.Holder == 0 || p.Given.Holder == x
	p.learn(Fact{x, m.Request.Incarnation, m.Request.Term}, out)
	switch {
	case !concerned || p.Role != Follower:
	case m.Successor == p.ID:
		p.claim(out)
	case m.Successor != 0:
		p.enter(Deferring, p.Settings.Defer, out)
	default:
		p.ask(out)
	}
}

// stopped is rule 5 for a tenure whose work has stopped: one that was stopping ends now, in good order, and one that has
// lapsed meanwhile is released.
func (p *Process) stopped(out *election.Out[Message]) {
	if p.Work == 0 || p.Role == Leader { // of an order to stop that a host was late with
		return
	}
	term, successor := p.Work, p.Successor
	p.Work = 0
	if p.Role == Stopping {
		p.end(out)
		p.release(term, successor, out)
		p.enter(Deferring, p.Settings.Defer, out)
		return
	}
	p.release(term, 0, out)
}
