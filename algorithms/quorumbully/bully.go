package quorumbully

import (
	"math"
	"slices"

	"ringleader.example/ringleader/election"
)

// The Bully stage, which precedes every claim except a successor's. Safety does not depend on it.

// episodes is the number of different numbers of questions. An answer that is late by so many questions counts for the
// wrong question. That does no harm, since safety does not depend on it.
const episodes = 8

// enter enters a stage that lasts wait units.
func (p *Process) enter(stage Stage, wait uint64, out *election.Out[Message]) {
	p.Stage, p.Replies = stage, nil
	out.After(StageEnd, election.Units(wait))
}

// rest leaves the Bully stage.
func (p *Process) rest(out *election.Out[Message]) {
	if p.Stage != Idle {
		p.Stage, p.Replies, p.Deferred, p.Reclaims = Idle, nil, false, 0
		out.Stop(StageEnd)
	}
}

// mostTries limits how often the times of the stage double.
const mostTries = 4

// patient returns a time of the stage. It is longer by what has been late before, and doubles with each question or claim that failed
// since the last leader, up to a quarter of a lease: if messages take longer than expected, for example because all processors are busy,
// answers still come in time.
func (p *Process) patient(units uint64) uint64 {
	return max(units, min(max(units+p.Late, units<<p.Tries), p.Settings.Lease/4))
}

// pause waits before the next question, for a time that is partly random, and longer for smaller identifiers.
func (p *Process) pause(out *election.Out[Message]) {
	p.Reclaims = 0
	te := p.patient(p.Settings.Answers)
	p.enter(Pausing, te+uint64(out.Choose(uint32(min(te, math.MaxUint32))))+uint64(p.Members-p.ID)*p.Settings.Delay, out)
	if p.Settings.Asks {
		p.Tries = min(p.Tries+1, mostTries)
	}
}

// ask begins the stage. If a member of higher rank is able, as far as is known, this one first waits for that member's
// claim: otherwise all members would ask all others at once.
func (p *Process) ask(out *election.Out[Message]) {
	defers := p.Settings.Asks && p.higher() > 0
	switch {
	case !p.eligible(out):
	case defers && p.Stage == Deferring:
	case defers && (p.Stage == Idle || p.Stage == Waiting):
		p.deferToHigher(out)
	default:
		p.question(out)
	}
}

// eligible reports whether this member could claim now. If not, it leaves the stage, or waits until it is free itself.
func (p *Process) eligible(out *election.Out[Message]) bool {
	switch bound := p.freeIn(p.ID, p.Kept.Incarnation, out); {
	case p.Role != Follower:
	case !p.able():
		p.rest(out)
	case bound > 0 && p.Settings.Asks:
		p.enter(Waiting, bound, out)
	default:
		return true
	}
	return false
}

// question sends a question to all members.
func (p *Process) question(out *election.Out[Message]) {
	switch {
	case !p.eligible(out):
		return
	case !p.Settings.Asks:
		p.claim(out)
		return
	}
	p.Episode = (p.Episode + 1) % episodes
	p.enter(Asking, p.patient(p.Settings.Answers), out)
	p.Replies = make([]Reply, p.Members)
	p.Replies[p.ID-1] = Reply{Given: true}
	p.tell(Election, Message{Episode: p.Episode, Standing: Standing{Promise: p.Kept.Promise}, Facts: p.facts()}, out)
	p.answeredEnough(out)
}

// freeIn returns, approximately, in how many units this member can grant a lease to an incarnation of member x. A member that
// was suspended is bound until its timer expires, long after the deadline. It is asked again and again meanwhile, but not
// more often than once in Delay.
func (p *Process) freeIn(x election.ID, incarnation uint64, out *election.Out[Message]) (units uint64) {
	if p.Restarted {
		units = max(p.Settings.Delay, out.Left(p.WaitsTill).Lo)
	}
	if !p.free(x, incarnation) {
		units = max(units, p.Settings.Delay, out.Left(p.Until).Lo)
	}
	return units
}

// heard notes a promise of another member, for the term of the next claim.
func (p *Process) heard(promise election.Term) {
	if promise <= p.Kept.Promise+farthest {
		p.MaxPromise = max(p.MaxPromise, promise)
	}
}

// asked answers a question. If this member is free, policy makes it ask as well.
func (p *Process) asked(x election.ID, m *Message, out *election.Out[Message]) {
	p.learnAll(m.Facts, out)
	p.heard(m.Standing.Promise)
	p.send(x, Answer, Message{Episode: m.Episode, Probe: m.Probe, Standing: Standing{
		Promise: p.Kept.Promise, FreeIn: p.freeIn(x, m.Sender.Incarnation, out),
		Holder: p.Given.Holder, Incarnation: p.Given.Incarnation, Leads: p.leads(),
	}}, out)
}

// answered notes an answer. One that comes during the pause after its question counts, too.
func (p *Process) answered(x election.ID, m *Message, out *election.Out[Message]) {
	p.heard(m.Standing.Promise)
	switch {
	case m.Probe:
		p.probed(x, m, out)
	case p.Replies != nil && m.Episode == p.Episode:
		p.Replies = slices.Clone(p.Replies)
		p.Replies[x-1] = Reply{true, m.Standing.FreeIn, m.Standing.Leads}
		p.answeredEnough(out)
	}
}

// answeredEnough decides as soon as all voters have answered that are not proven dead, or a majority is free and the others are
// known to be of lower rank or not able.
func (p *Process) answeredEnough(out *election.Out[Message]) {
	free, all := 0, true
	for i, reply := range p.Replies {
		x := election.ID(i + 1)
		switch {
		case !p.votes(x):
		case reply.Given && reply.FreeIn == 0:
			free++
		case reply.Given || p.dead(x):
		case p.Peers[i].Newest == 0, p.Peers[i].Able && p.above(x):
			return
		default:
			all = false
		}
	}
	if all || free >= p.majority() {
		p.decide(out)
	}
}

// decide claims if a majority is free, this member included, and otherwise waits until then. Once in an episode it defers
// to a member of higher rank that can claim now.
func (p *Process) decide(out *election.Out[Message]) {
	var waits []uint64
	leader, higher := false, false
	for i, reply := range p.Replies {
		if x := election.ID(i + 1); reply.Given && p.votes(x) {
			waits = append(waits, reply.FreeIn)
			leader = leader || reply.Leads
			higher = higher || x != p.ID && p.above(x) && p.Peers[i].Able && reply.FreeIn == 0
		}
	}
	if len(waits) < p.majority() {
		replies := p.Replies
		p.pause(out)
		p.Replies = replies // late answers complete them
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
		p.deferToHigher(out)
	default:
		p.claim(out)
	}
}

// higher returns how many members of higher rank are able, as far as is known.
func (p *Process) higher() (count uint64) {
	for i := range p.Peers {
		if x := election.ID(i + 1); p.Peers[i].Able && p.above(x) && !p.dead(x) {
			count++
		}
	}
	return count
}

// deferToHigher waits for the claim of a member of higher rank. The members take turns: if the highest does not claim, the next one
// asks first.
func (p *Process) deferToHigher(out *election.Out[Message]) {
	turns := max(p.higher(), 1) - 1
	p.enter(Deferring, p.patient(p.Settings.Defer)+turns*p.Settings.Answers, out)
}

// stageEnds handles the end of a stage's time.
func (p *Process) stageEnds(out *election.Out[Message]) {
	switch p.Stage {
	case Asking:
		p.decide(out)
	case Claiming:
		p.end(out)
		p.pause(out)
	case Waiting:
		p.ask(out)
	case Deferring, Pausing:
		p.question(out)
	}
}
