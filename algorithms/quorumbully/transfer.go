package quorumbully

import (
	"slices"

	"ringleader.example/ringleader/election"
)

// Rule 8, and the commands that end a tenure in order.

// best returns the able member of highest rank among the others, as far as is known, or 0.
func (p *Process) best() (best election.ID) {
	for x := election.ID(1); x <= p.Members; x++ {
		if peer := &p.Peers[x-1]; x == p.ID || !peer.Able || peer.Weight == 0 || p.dead(x) {
			continue
		}
		if best == 0 || p.Peers[x-1].Weight >= p.Peers[best-1].Weight {
			best = x
		}
	}
	return best
}

// lead begins a tenure.
func (p *Process) lead(out *election.Out[Message]) {
	p.Offers = 0
	p.probe(Probe{}, out)
	if p.Settings.Preempts {
		p.OfferDelay = p.Settings.Preempt
		out.After(Offering, election.Units(p.OfferDelay))
	}
}

// stop ends a tenure in order (rule 5): first the work stops, while the leader still renews its lease. Then it leaves the
// role, and then it sends Release.
func (p *Process) stop(successor election.ID, out *election.Out[Message]) {
	if p.Role != Leader {
		return
	}
	p.Role, p.Successor = Stopping, successor
	out.Stop(Offering)
	out.StopWork()
}

// weigh changes the weight of this member. With weight 0 it may not lead, whatever preemption is.
func (p *Process) weigh(weight uint16, out *election.Out[Message]) {
	p.Weight = weight
	if weight > 0 {
		return
	}
	p.stop(p.best(), out)
	if p.Role == Candidate {
		p.end(out)
	}
	if p.Role == Follower {
		p.rest(out)
	}
}

// offer offers the lead to the able member of highest rank, if that rank is above the leader's own. An offer without an
// answer is repeated after twice the time.
func (p *Process) offer(out *election.Out[Message]) {
	if x := p.best(); x != 0 && p.above(x) {
		p.Offers++
		p.send(x, Offer, Message{Request: Request{Term: p.Term, Incarnation: p.Kept.Incarnation, Number: p.Offers}}, out)
		p.OfferDelay = min(2*p.OfferDelay, mostDoubled*p.Settings.Preempt)
	}
	out.After(Offering, election.Units(p.OfferDelay))
}

// offered asks all members, outside the Bully stage: the leader's next Renew, which comes meanwhile, ends that stage.
func (p *Process) offered(x election.ID, m *Message, out *election.Out[Message]) {
	r := &m.Request
	if !p.able() || p.Given != (Given{x, r.Incarnation, r.Term, true}) {
		return
	}
	p.probe(Probe{x, r.Incarnation, r.Term, r.Number, make([]bool, p.Members)}, out)
	p.Probe.Would[p.ID-1] = true
	p.tell(Election, Message{Episode: p.Probe.episode(), Probe: true, Standing: Standing{Promise: p.Kept.Promise}, Facts: p.facts()}, out)
}

// episode returns the number of the question.
func (p *Probe) episode() uint8 { return uint8(p.Number % episodes) }

// probed counts the members that would grant a lease but for the present leader. If they are a majority, it accepts the
// offer.
func (p *Process) probed(x election.ID, m *Message, out *election.Out[Message]) {
	s := &m.Standing
	would := s.FreeIn == 0 || s.Holder == p.Probe.Leader && s.Incarnation == p.Probe.Incarnation
	if p.Probe.Leader == 0 || m.Episode != p.Probe.episode() || !would {
		return
	}
	p.Probe.Would = slices.Clone(p.Probe.Would)
	p.Probe.Would[x-1] = true
	if p.count(p.Probe.Would) < p.majority() || !p.able() {
		return
	}
	p.send(p.Probe.Leader, Ready, Message{Request: Request{Term: p.Probe.Term, Incarnation: p.Probe.Incarnation, Number: p.Probe.Number}}, out)
	p.probe(Probe{}, out)
}

// ready hands over to the member that has accepted the newest offer. If the lease has ended, the role is no longer Leader.
func (p *Process) ready(x election.ID, m *Message, out *election.Out[Message]) {
	r := &m.Request
	if p.Role == Leader && r.Term == p.Term && r.Incarnation == p.Kept.Incarnation && r.Number == p.Offers {
		p.stop(x, out)
	}
}

// probe begins a probe, or ends it if now is the zero value.
func (p *Process) probe(now Probe, out *election.Out[Message]) {
	if now.Leader != 0 {
		out.After(Probing, election.Units(p.Settings.Answers))
	} else if p.Probe.Leader != 0 {
		out.Stop(Probing)
	}
	p.Probe = now
}
