package quorumbully

import (
	"slices"

	"ringleader.example/ringleader/election"
)

// The Bully stage, before every claim but a successor's. Nothing in it is needed for safety.

// episodes is how many numbers questions have. An answer that comes so many questions late counts for the wrong one,
// which this stage can bear.
const episodes = 8

// enter enters a stage, for a time.
func (p *Process) enter(stage Stage, wait uint64, out *election.Out[Message]) {
	p.Stage, p.Replies = stage, nil
	out.After(StageEnd, election.Units(wait))
}

// rest leaves the stage: there is a leader.
func (p *Process) rest(out *election.Out[Message]) {
	if p.Stage != Idle {
		p.Stage, p.Replies, p.Deferred, p.Reclaims = Idle, nil, false, 0
		out.Stop(StageEnd)
	}
}

// pause waits before it asks again: longer by chance, and longer for lower ranks.
func (p *Process) pause(out *election.Out[Message]) {
	p.Reclaims = 0
	te := p.Settings.Answers
	p.enter(Pausing, te+uint64(out.Choose(uint32(te)))+uint64(p.Members-p.ID)*p.Settings.Delay, out)
}

// ask asks all how they stand.
func (p *Process) ask(out *election.Out[Message]) {
	if p.leads() || !p.able() {
		if p.Role == Follower {
			p.rest(out)
		}
		return
	}
	if p.Role == Candidate {
		p.end(out)
	}
	if !p.Settings.Asks {
		p.claim(out)
		return
	}
	p.Episode = (p.Episode + 1) % episodes
	p.enter(Asking, p.Settings.Answers, out)
	p.Replies = make([]Reply, p.Members)
	p.Replies[p.ID-1] = Reply{Given: true, FreeIn: p.freeIn(p.ID, p.Kept.Incarnation, out)}
	p.tell(Election, Message{Episode: p.Episode, Standing: Standing{Promise: p.Kept.Promise}, Facts: p.facts()}, out)
	p.answeredAll(out)
}

// freeIn is about how long an incarnation of a member has to wait until this one can grant it a lease.
func (p *Process) freeIn(x election.ID, incarnation uint64, out *election.Out[Message]) (units uint64) {
	if p.Restarted {
		units = max(1, out.Left(p.WaitsTill).Lo)
	}
	if !p.free(x, incarnation) {
		units = max(units, 1, out.Left(p.Until).Lo)
	}
	return units
}

// heard notes a promise of another member, for the term of the next claim.
func (p *Process) heard(promise election.Term) {
	if promise <= p.Kept.Promise+farthest {
		p.MaxPromise = max(p.MaxPromise, promise)
	}
}

// asked answers a question. A member of higher rank that is free would ask as well, and policy makes it do so.
func (p *Process) asked(x election.ID, m *Message, out *election.Out[Message]) {
	p.learnAll(m.Facts, out)
	p.heard(m.Standing.Promise)
	p.send(x, Answer, Message{Episode: m.Episode, Probe: m.Probe, Standing: Standing{
		Promise: p.Kept.Promise, FreeIn: p.freeIn(x, m.Sender.Incarnation, out),
		Holder: p.Given.Holder, Incarnation: p.Given.Incarnation, Leads: p.leads(),
	}}, out)
}

// answered notes an answer.
func (p *Process) answered(x election.ID, m *Message, out *election.Out[Message]) {
	p.heard(m.Standing.Promise)
	switch {
	case m.Probe:
		p.probed(x, m, out)
	case p.Stage == Asking && m.Episode == p.Episode:
		p.Replies = slices.Clone(p.Replies)
		p.Replies[x-1] = Reply{true, m.Standing.FreeIn, m.Standing.Leads}
		p.answeredAll(out)
	}
}

// answeredAll decides when all have answered that are not proven dead.
func (p *Process) answeredAll(out *election.Out[Message]) {
	for i, reply := range p.Replies {
		if !reply.Given && !p.dead(election.ID(i+1)) {
			return
		}
	}
	p.decide(out)
}

// decide claims if a majority is free, its own promise included, and otherwise waits until then. Once an episode it
// leaves the claim, for a while, to a member of higher rank that can make it now.
func (p *Process) decide(out *election.Out[Message]) {
	var waits []uint64
	leader, higher := false, false
	for i, reply := range p.Replies {
		if reply.Given {
			waits = append(waits, reply.FreeIn)
			leader = leader || reply.Leads
			x := election.ID(i + 1)
			higher = higher || x != p.ID && p.above(x) && p.Peers[i].Able && reply.FreeIn == 0
		}
	}
	if len(waits) < p.majority() {
		p.pause(out)
		return
	}
	slices.Sort(waits)
	wait := max(waits[p.majority()-1], p.freeIn(p.ID, p.Kept.Incarnation, out))
	switch {
	case wait > 0:
		p.enter(Waiting, wait, out)
	case leader:
		p.pause(out)
	case higher && !p.Deferred:
		p.Deferred = true
		p.enter(Deferring, p.Settings.Defer, out)
	default:
		p.claim(out)
	}
}

// stageEnds goes on when the time of a stage is over.
func (p *Process) stageEnds(out *election.Out[Message]) {
	switch p.Stage {
	case Asking:
		p.decide(out)
	case Claiming:
		p.end(out)
		p.pause(out)
	case Waiting, Deferring, Pausing:
		p.ask(out)
	}
}
