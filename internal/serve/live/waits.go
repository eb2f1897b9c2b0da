package live

import (
	"fmt"
	"slices"
	"time"

	"ringleader.example/ringleader/election"
	"ringleader.example/ringleader/internal/core/process"
	"ringleader.example/ringleader/internal/serve/delays"
	"ringleader.example/ringleader/internal/serve/view"
	"ringleader.example/ringleader/network"
	"ringleader.example/ringleader/transport"
)

// asks notes a message that wants an answer.
func (g *group) asks(s process.Frame) {
	kind, p := g.member.program.Kinds[s.Kind].Name, g.member.peers[s.Port]
	if at, now := g.renewals[p.id], g.member.now(); kind == "renew" && (at == 0 || now-at >= g.member.config.Suspicion) {
		if g.renewals == nil {
			g.renewals = map[uint64]time.Duration{}
		}
		g.renewals[p.id] = now // an answer that has not come by now is lost
	}
	if kind == "claim" || kind == "election" {
		g.episode.Asked(p.id, kind == "claim", g.member.now())
	}
}

// tell sends a frame that follows the end of work, after which another member may lead, also on the connection that a peer has dialed, if
// the peer has not answered the renewals for longer than an answer takes. While nothing of the peer arrives, acknowledgements of what was
// sent before do not arrive either, and the system holds back what is sent on our own connection.
func (g *group) tell(p *peer, frame []byte) {
	at := g.renewals[p.id]
	if g.input.What != process.Commanded || g.input.Command.Order != election.Stopped || at == 0 || g.member.now()-at < transport.LastWords {
		return
	}
	if in, can := p.in.(transport.Teller); can {
		in.Tell(frame)
	}
}

// answered notes the answer of a member, when it arrives.
func (g *group) answered(in process.Input) {
	if in.What != process.Received || int(in.Port) == g.member.position {
		return
	}
	id, kind := g.member.peers[in.Port].id, g.kind(in)
	if at := g.renewals[id]; at != 0 && kind == "grant" {
		delete(g.renewals, id)
		if took := g.member.now() - at; g.decision.Role == network.Leader {
			g.member.counts.add(func(c *view.Counts) { c.RoundTrips.Add(took) })
		}
	}
	if claim := kind == "grant" || kind == "nack"; claim || kind == "answer" {
		g.episode.Answered(id, claim, g.member.now(), g.slowAnswer())
	}
}

// slowAnswer is what no answer should take.
func (g *group) slowAnswer() time.Duration { return g.member.config.Suspicion / 2 }

// elects begins or ends an episode.
func (g *group) elects(begins bool) {
	switch {
	case begins == g.episode.Runs():
		return
	case begins:
		g.episode = delays.Begin(g.member.now())
	default:
		g.episode = delays.Episode{}
	}
	g.showWaits(nil)
}

// showWaits shows what an election waits for.
func (g *group) showWaits(waits []string) {
	g.handle.mu.Lock()
	defer g.handle.mu.Unlock()
	g.handle.waits = waits
}

// look finds out what an election waits for, shows it, and logs each state once.
func (g *group) look(now time.Duration) {
	e := &g.episode
	if !e.Runs() || g.decision.Role != network.Undecided || !g.started {
		return
	}
	var waits []string
	var soFar time.Duration
	if s := g.loop.saving; s != nil && slices.Contains(s.groups, g) {
		soFar = now - s.begun
	}
	flush, wait := e.Flush(now, soFar)
	if wait != "" {
		waits = append(waits, wait)
	}
	var silent, slow []uint64
	for _, id := range g.votersNow().Members {
		p := g.member.peerOf(id)
		if p == nil {
			continue
		}
		if p.health != reachable {
			silent = append(silent, id)
		} else if wait := e.Member(id, now, g.slowAnswer()); wait != "" {
			slow, waits = append(slow, id), append(waits, wait)
		}
	}
	g.showWaits(waits)
	if e.Lasts(now) < g.member.config.Suspicion || len(waits)+len(silent) == 0 || !e.Once(fmt.Sprint(flush >= delays.SlowFlush, silent, slow)) {
		return
	}
	g.handle.log.Warn("no leader is known", "since", e.Lasts(now).Round(time.Millisecond), "flush", flush.Round(time.Millisecond), "slow", slow, "not_reachable", silent)
}

// Waits returns what an election without a leader waits for, for people, as far as this member sees that.
func (g *Group) Waits() []string {
	g.mu.Lock()
	defer g.mu.Unlock()
	return g.waits
}
