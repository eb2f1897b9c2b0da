package quorumbully

import (
	"slices"

	"ringleader.example/ringleader/election"
)

// The inputs. Each function begins with what comes first, and ends with the policy.

// first is what each step does before it handles its input: it checks the deadline (rule 3), and grants the claim that the step before has made
// (rule 1).
func (p *Process) first(out *election.Out[Message]) {
	p.lapse(out)
	p.own(out)
}

// Start begins the first life, or the first one after the durable state was lost.
func (p *Process) Start(out *election.Out[Message]) {
	p.Begun = true
	p.Kept.Incarnation = max(p.Kept.Incarnation, p.Life)
	p.policy(out)
}

// Recover begins a new incarnation, which waits as rule 4 requires. Meanwhile F equals P, and a Renew may end the wait.
func (p *Process) Recover(out *election.Out[Message]) {
	p.Begun = true
	p.Kept.Incarnation = max(p.Kept.Incarnation+1, p.Life)
	p.Kept.Voters.Members = slices.Sorted(slices.Values(p.Kept.Voters.Members)) // in the order of an earlier life
	p.F = p.Kept.Promise
	if wait := p.Kept.Longest; wait > 0 {
		p.Restarted, p.WaitsTill = true, out.Deadline(election.Units(wait))
		out.After(Wait, election.Units(wait))
	}
	p.policy(out)
}

// Receive handles a message.
func (p *Process) Receive(port election.Port, kind election.Kind, m Message, out *election.Out[Message]) {
	p.first(out)
	x := election.From(port)
	if !p.Begun || !p.hears(x, m.Sender, out) {
		return
	}
	switch kind {
	case Election:
		p.asked(x, &m, out)
	case Answer:
		p.answered(x, &m, out)
	case Claim:
		p.claimed(x, &m, out)
	case Renew:
		p.renewed(x, &m, out)
	case Grant:
		p.granted(x, &m, out)
	case Nack:
		p.refused(x, &m, out)
	case Release:
		p.released(x, &m, out)
	case Offer:
		p.offered(x, &m, out)
	case Ready:
		p.ready(x, &m, out)
	}
	p.policy(out)
}

// Timeout handles a timer.
func (p *Process) Timeout(timer election.Timer, out *election.Out[Message]) {
	if timer == Renewal {
		p.noteTimer(out)
	}
	p.first(out)
	switch timer {
	case Bound:
		if p.following() && p.Asked > 0 { // the lease may be shorter than a silence that makes suspect
			p.peer(p.Given.Holder).Able = false
		}
		if p.Role == Candidate { // its own grant has run out
			p.end(out)
			p.pause(out)
		}
		p.unbind(out)
	case Wait:
		p.Restarted = false
		p.F = p.Kept.Floor // rule 2
	case Renewal:
		p.prolong(out)
	case StageEnd:
		p.stageEnds(out)
	case Probing:
		p.Probe = Probe{}
	case Offering:
		if p.Role == Leader {
			p.offer(out)
		}
	}
	p.policy(out)
}

// Suspect starts the Bully stage if the leader is suspected. It voids nothing (rule 6). A suspected member is not able until it
// is heard again.
func (p *Process) Suspect(port election.Port, out *election.Out[Message]) {
	p.first(out)
	p.peer(election.From(port)).Able = false
	if p.following() && p.Given.Holder == election.From(port) {
		p.ask(out)
	}
	p.policy(out)
}

// Command handles a command of the host.
func (p *Process) Command(c election.Command, out *election.Out[Message]) {
	p.first(out)
	if !p.Begun {
		return
	}
	switch c.Order {
	case election.Resign:
		p.stop(p.best(), out)
	case election.Transfer:
		p.stop(c.Member, out)
	case election.Stopped:
		p.stopped(out)
	case election.Died:
		p.died(c.Member, c.Number, out)
	case election.Weigh:
		p.weigh(uint16(min(c.Number, 1<<16-1)), out)
	case election.Confirm:
		if c.Member == 0 {
			p.prolong(out)
		} else {
			p.remind(c.Member, out)
		}
	case election.Enlist:
		p.change(Change{c.Member, true}, out)
	case election.Dismiss:
		p.change(Change{c.Member, false}, out)
	}
	p.policy(out)
}

// policy begins the Bully stage if the member is able and bound by no lease.
func (p *Process) policy(out *election.Out[Message]) {
	if p.Stage == Idle && p.Role == Follower && p.Given.Holder == 0 && p.able() {
		p.ask(out)
	}
}

// able reports whether this member could claim if it were free.
func (p *Process) able() bool {
	return p.Begun && p.Weight > 0 && p.votes(p.ID) && !p.Restarted && p.Work == 0 && (p.Settings.Terms == 0 || p.Kept.Promise < p.Settings.Terms)
}

// above reports whether member x has a higher rank than this one.
func (p *Process) above(x election.ID) bool {
	weight := p.Peers[x-1].Weight
	return weight > p.Weight || weight == p.Weight && x > p.ID
}

func (p *Process) send(x election.ID, kind election.Kind, m Message, out *election.Out[Message]) {
	m.Sender = Sender{p.Kept.Incarnation, p.Weight, p.able()}
	out.Send(election.To(x), kind, m)
}

// tell sends a message to all others.
func (p *Process) tell(kind election.Kind, m Message, out *election.Out[Message]) {
	for x := election.ID(1); x <= p.Members; x++ {
		if x != p.ID {
			p.send(x, kind, m, out)
		}
	}
}

// peer returns what is known about member x, for writing. It clones the list, which copies of the state share.
func (p *Process) peer(x election.ID) *Peer {
	p.Peers = slices.Clone(p.Peers)
	return &p.Peers[x-1]
}
