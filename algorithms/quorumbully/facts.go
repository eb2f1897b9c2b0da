package quorumbully

import (
	"ringleader.example/ringleader/election"
)

// Rules 5 and 6: facts about leases that have ended. Facts are stable, so they may arrive early, late or twice.

// covers reports whether the fact implies that the member's incarnation holds nothing in the term any more.
func (f *Fact) covers(incarnation uint64, term election.Term) bool {
	return incarnation < f.Incarnation || incarnation == f.Incarnation && term <= f.Term
}

// learn remembers a fact. It voids a grant only to exactly this incarnation, in this term or a lower one.
func (p *Process) learn(f Fact, out *election.Out[Message]) {
	if known := &p.Peers[f.Member-1].Finished; !known.covers(f.Incarnation, f.Term) {
		p.peer(f.Member).Finished = f
	}
	if p.Given.Holder == f.Member && p.Given.Incarnation == f.Incarnation && p.Given.Term <= f.Term {
		p.unbind(out)
	}
}

func (p *Process) learnAll(facts []Fact, out *election.Out[Message]) {
	for _, f := range facts {
		if f.Member >= 1 && f.Member <= p.Members {
			p.learn(f, out)
		}
	}
}

// facts returns the known facts, at most one about each member.
func (p *Process) facts() (all []Fact) {
	for i := range p.Peers {
		if f := p.Peers[i].Finished; f.Member != 0 {
			all = append(all, f)
		}
	}
	return all
}

// finished reports whether a request belongs to a claim or tenure that has ended, or to a dead incarnation.
func (p *Process) finished(x election.ID, r *Request) bool {
	return p.Peers[x-1].Finished.covers(r.Incarnation, r.Term)
}

// dead reports whether the newest known incarnation of member x is proven dead.
func (p *Process) dead(x election.ID) bool {
	peer := &p.Peers[x-1]
	return peer.Finished.Term == Dead && peer.Newest <= peer.Finished.Incarnation
}

// hears notes what a message contains about its sender. It returns false if a dead or superseded incarnation sent it. A
// new incarnation of the leader starts the Bully stage and voids nothing (rule 6).
func (p *Process) hears(x election.ID, s Sender, out *election.Out[Message]) bool {
	known := p.Peers[x-1]
	if s.Incarnation < known.Newest || known.Finished.Term == Dead && s.Incarnation == known.Finished.Incarnation {
		return false
	}
	now := Peer{s.Incarnation, known.Finished, s.Weight, s.Able}
	if now != known {
		*p.peer(x) = now
	}
	if p.following() && p.Given.Holder == x && p.Given.Incarnation < s.Incarnation && p.Stage == Idle {
		p.ask(out)
	}
	return true
}

// died handles a proof of death (rule 6). Every able member reacts, even if it was not bound to the dead incarnation. The heir of a dead leader
// claims without asking: its Claim has the fact that frees the others, which defer to it meanwhile.
func (p *Process) died(x election.ID, incarnation uint64, out *election.Out[Message]) {
	heir := p.Heir
	p.learn(Fact{x, incarnation, Dead}, out)
	switch bereft := heir != 0 && p.Heir == 0; { // the fact has ended the grant to the leader that named it
	case p.Role != Follower || !p.free(p.ID, p.Kept.Incarnation):
	case bereft && heir == p.ID && p.able():
		p.claim(out)
	case bereft && heir != p.ID && !p.dead(heir) && p.Settings.Asks:
		p.enter(Deferring, p.patient(p.Settings.Defer), out)
	default:
		p.ask(out)
	}
}
