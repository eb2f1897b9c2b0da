package live

import (
	"cmp"
	"encoding/binary"
	"fmt"
	"strings"
	"time"

	"ringleader.example/ringleader/election"
	"ringleader.example/ringleader/internal/core/process"
	"ringleader.example/ringleader/internal/serve/delays"
	"ringleader.example/ringleader/internal/serve/view"
	"ringleader.example/ringleader/network"
	"ringleader.example/ringleader/transport"
)

// change returns the last change of the leader, when the state has changed. The election that follows the end of a lead belongs to it.
func (g *group) change(before, now *view.State) view.Change {
	c := before.Last
	switch {
	case before.Leader != 0:
		c = view.Change{Because: g.because, From: before.Leader, To: now.Leader, Term: before.Term}
	case c.From != 0 && c.To == 0:
		c.To = now.Leader
		if p := g.member.peerOf(c.From); p != nil && c.Cause == view.Unknown {
			c.Because, _ = g.evidence(p, c.Term, c.Because) // it may have come meanwhile
		}
	case now.Leader != 0:
		c = view.Change{Because: view.Because{Cause: view.Elected, Detail: "no leader was known before"}, To: now.Leader}
	}
	c.Time, g.because = now.Since, view.Because{}
	return c
}

// endedBy notes why a tenure is to end whose work is asked to stop.
func (g *group) endedBy(in process.Input) {
	because := view.Because{Cause: view.Unknown}
	switch order := in.Command.Order; {
	case in.What == process.Received && g.kind(in) == "ready":
		because = view.Because{Cause: view.Preempted, Detail: fmt.Sprintf("member %d of higher rank takes over", g.member.peers[in.Port].id)}
	case in.What == process.Commanded && order == election.Transfer:
		because = view.Because{Cause: view.Transferred, Detail: fmt.Sprintf("to member %d", g.Name(in.Command.Member))}
	case in.What == process.Commanded && (order == election.Resign || order == election.Weigh):
		because = g.wanted
	}
	g.ending = &because
}

// reason notes why a step has changed the decision that was there first, or has renewed a lease late.
func (g *group) reason(first network.Decision, renewed, late bool) {
	if first.Role == network.Follower && g.decision != first {
		g.because = g.lostLeader(first, g.input)
	}
	if first.Role == network.Leader && g.decision == first && late {
		g.renewedLate()
	}
	if renewed || g.ofLeader(g.input) {
		g.renewed = g.loop.standstills
	}
}

// kind returns the name of the kind of a message.
func (g *group) kind(in process.Input) string { return g.member.program.Kinds[in.Kind].Name }

// ownEnd returns why the tenure of this member ends in a step, or without one, and tells that the others.
func (g *group) ownEnd(in process.Input) (because view.Because) {
	switch {
	case g.ending != nil && g.ending.Cause != view.Lapsed:
		because = *g.ending
	case g.ending != nil, g.lease <= g.member.boot():
		because = g.withLength(g.lapsed("no majority has renewed the lease"))
	case in.What == process.Received:
		because = view.Because{Cause: view.Superseded, Detail: fmt.Sprintf("member %d has a higher term", g.member.peers[in.Port].id)}
	}
	g.ending = nil
	g.tellEnd(because)
	return because
}

// ofLeader reports whether an event is a message of the leader that this member follows.
func (g *group) ofLeader(in process.Input) bool {
	return in.What == process.Received && g.decision.Role == network.Follower && in.Port == election.To(g.decision.Leader)
}

// standstills are how long this process and its machine have stood still since the start.
type standstills struct{ delayed, suspended time.Duration }

// standstill returns what has kept this member from its work since the lease was renewed last, if that is long enough to end a lease.
func (g *group) standstill(whose string) (because view.Because, found bool) {
	much := cmp.Or(g.handle.lasts()/2, g.member.config.Suspicion)
	suspended, delayed := g.loop.suspended-g.renewed.suspended, g.loop.delayed-g.renewed.delayed
	switch {
	case suspended >= much:
		return view.Because{Cause: view.Suspended, Detail: fmt.Sprintf("%s machine was suspended for %s", whose, delays.InSeconds(suspended))}, true
	case delayed >= much:
		return view.Because{Cause: view.Delayed, Detail: fmt.Sprintf("%s process stood still, or had too little of the processor, for %s", whose, delays.InSeconds(delayed))}, true
	}
	return view.Because{}, false
}

// lapsed returns why nothing has renewed the lease of this member, or nothing in time.
func (g *group) lapsed(what string) view.Because {
	if because, found := g.standstill("its"); found {
		return because
	}
	if s := g.loop.saving; g.pending != nil && s != nil && g.member.now()-s.begun >= g.handle.lasts()/2 {
		return view.Because{Cause: view.Disk, Detail: "a write to its disk has lasted for " + delays.InSeconds(g.member.now()-s.begun)}
	}
	boot, missing := g.member.boot(), []string(nil)
	for _, id := range g.votersNow().Members {
		rank, known := g.member.Rank(id)
		if id == g.member.config.ID || !known || int(rank) > len(g.voters.Granted) {
			continue
		}
		switch ends := process.Moment(0, g.voters.Granted[rank-1].Left(election.Ticks{}), g.member.config.Unit); {
		case ends == 0:
			missing = append(missing, fmt.Sprintf("member %d has not answered in this term", id))
		case ends-boot < g.handle.lasts()/2:
			missing = append(missing, fmt.Sprintf("member %d has not answered for %s", id, delays.InSeconds(boot-ends+g.handle.lasts())))
		}
	}
	return view.Because{Cause: view.Lapsed, Detail: what + "; " + cmp.Or(strings.Join(missing, ", "), "all have answered late")}
}

// renewedLate logs that a renewal was late, once in a while.
func (g *group) renewedLate() {
	now := g.member.now()
	if g.toldLate != 0 && now-g.toldLate < delays.Seldom {
		return
	}
	g.toldLate = now
	g.handle.log.Warn("the lease was renewed late", "left", (g.handle.until - g.member.boot()).Round(time.Millisecond), "because", g.lapsed("a majority has answered late").String())
}

// lostLeader returns why the leader of a decision is known no more, as far as this member knows.
func (g *group) lostLeader(before network.Decision, in process.Input) view.Because {
	p := g.member.peerOf(g.Name(before.Leader))
	received := in.What == process.Received
	if p == nil {
		return view.Because{}
	}
	if because, found := g.evidence(p, before.Term, view.Because{}); found {
		return because
	}
	switch {
	case received && g.decision.Role != network.Undecided:
		return view.Because{Cause: view.Superseded, Detail: fmt.Sprintf("member %d leads in term %d", g.Name(g.decision.Leader), g.decision.Term)}
	case received && in.Port == p.port() && g.kind(in) == "release":
		return view.Because{Cause: view.Released, Detail: "it told no reason"}
	case received && in.Port == p.port():
		return view.Because{Cause: view.Unknown, Detail: fmt.Sprintf("member %d tells that its lead has ended, and not why", p.id)}
	case received:
		return view.Because{Cause: view.Unknown, Detail: fmt.Sprintf("member %d has a higher term, and what became of member %d is not known", g.member.peers[in.Port].id, p.id)}
	}
	because, found := g.standstill("this")
	switch {
	case found:
	case p.health == suspect:
		because = view.Because{Cause: view.Lost, Detail: fmt.Sprintf("it is not reachable for %s: %s", delays.InSeconds(g.member.now()-p.lostAt), p.lost)}
	default:
		because = view.Because{Cause: view.Silent, Detail: fmt.Sprintf("its last message came %s ago, and its connection stands", delays.InSeconds(g.member.now()-p.heardAt))}
	}
	return g.withLength(because)
}

// withLength adds the length of the lease that has ended: a short one bears less.
func (g *group) withLength(because view.Because) view.Because {
	if length := g.handle.Length(); length != 0 {
		because.Detail += fmt.Sprintf("; the lease was for %d ms", length.Round(time.Millisecond).Milliseconds())
	}
	return because
}

// evidence returns why the lead of a peer in a term has ended, if it has told that or is proven dead; otherwise what was thought before.
func (g *group) evidence(p *peer, term election.Term, before view.Because) (because view.Because, found bool) {
	switch end := p.ends[g.handle.key]; {
	case p.died != nil && p.dead >= p.incarnation:
		return view.Because{Cause: view.Crashed, Detail: "its death is proven"}, true
	case end.term == term && term != 0:
		return end.because, true
	}
	return before, false
}

// The end of a tenure is told in a frame of the kind publishes with the term 0, in which nothing is published: the members of earlier versions
// show it nowhere.

// ended is why a tenure of a peer has ended, as it has told.
type ended struct {
	term    election.Term
	because view.Because
}

// tellEnd tells the others why the tenure of this member ends. The message that ends it follows.
func (g *group) tellEnd(because view.Because) {
	if g.decision.Term == 0 {
		return
	}
	g.member.recorder.Told(g.handle.name, g.member.config.ID, g.decision.Term, because)
	text := because.String()
	text = text[:min(len(text), MaxValue-termSize)]
	terms := binary.LittleEndian.AppendUint64(make([]byte, termSize), uint64(g.decision.Term))
	for p := range g.member.others() {
		p.send(transport.AppendFrame(nil, publishes, g.handle.key[:], terms, []byte(text)), 0)
	}
}

// hearEnd takes why a tenure of a peer has ended.
func (p *peer) hearEnd(k key, payload []byte) {
	if len(payload) < termSize {
		return // a value in no term
	}
	if p.ends == nil {
		p.ends = map[key]ended{}
	}
	p.ends[k] = ended{election.Term(binary.LittleEndian.Uint64(payload)), view.ParseBecause(strings.ToValidUTF8(string(payload[termSize:]), ""))}
}
