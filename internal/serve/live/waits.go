package live

import (
	"fmt"
	"slices"
	"time"

	"ringleader.example/ringleader/election"
	"ringleader.example/ringleader/internal/core/process"
	"ringleader.example/ringleader/network"
	"ringleader.example/ringleader/transport"
)

// An election needs quick disks and members that answer. What is slow is noted for as long as no leader is known: a member that has answered
// late once is likely to do so again, and the next claim waits for it, too.

// slowFlush is what no flush should take that votes wait for.
const slowFlush = 100 * time.Millisecond

// episode is a time without a known leader.
type episode struct {
	begun time.Duration              // 0: a leader is known
	asked map[question]time.Duration // when the first question was asked that is not answered
	slow  map[uint64]delay           // by a member that answers: the longest time that it took, if that is much
	flush delay                      // the longest flush of this member
	told  map[string]bool            // what was logged
}

// delay is how long something took, and when. It counts for a while only: what was slow may be quick again.
type delay struct{ took, at time.Duration }

// delayLasts is for how long a delay counts.
const delayLasts = 15 * time.Second

// last returns the longer one of a delay and what took that long just now.
func (d delay) last(took, now time.Duration) delay {
	if took > d.took || now-d.at > delayLasts {
		return delay{took, now}
	}
	return d
}

// length returns how long it took; 0: it counts no more.
func (d delay) length(now time.Duration) time.Duration {
	if now-d.at > delayLasts {
		return 0
	}
	return d.took
}

// question is what a member was asked: whether it is free, or for its vote.
type question struct {
	member uint64
	claim  bool
}

// asks notes a message that wants an answer.
func (g *group) asks(s process.Frame) {
	kind, p := g.member.program.Kinds[s.Kind].Name, g.member.peers[s.Port]
	if at, now := g.renewals[p.id], g.member.now(); kind == "renew" && (at == 0 || now-at >= g.member.config.Suspicion) {
		if g.renewals == nil {
			g.renewals = map[uint64]time.Duration{}
		}
		g.renewals[p.id] = now // an answer that has not come by now is lost
	}
	if g.episode.begun == 0 || kind != "claim" && kind != "election" {
		return
	}
	if q := (question{p.id, kind == "claim"}); g.episode.asked[q] == 0 {
		g.episode.asked[q] = g.member.now()
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
	q, kind := question{member: g.member.peers[in.Port].id}, g.kind(in)
	if at := g.renewals[q.member]; at != 0 && kind == "grant" {
		delete(g.renewals, q.member)
		if took := g.member.now() - at; g.decision.Role == network.Leader {
			g.member.counts.add(func(c *Counts) { c.RoundTrips.add(took) })
		}
	}
	if g.episode.begun == 0 {
		return
	}
	if q.claim = kind == "grant" || kind == "nack"; !q.claim && kind != "answer" {
		return
	}
	if at := g.episode.asked[q]; at != 0 {
		delete(g.episode.asked, q)
		if now := g.member.now(); now-at >= g.slowAnswer() {
			g.episode.slow[q.member] = g.episode.slow[q.member].last(now-at, now)
		}
	}
}

// slowAnswer is what no answer should take.
func (g *group) slowAnswer() time.Duration { return g.member.config.Suspicion / 2 }

// flushed notes how long a flush has taken.
func (g *group) flushed(took time.Duration) {
	g.episode.flush = g.episode.flush.last(took, g.member.now())
}

// elects begins or ends an episode.
func (g *group) elects(begins bool) {
	switch {
	case begins == (g.episode.begun != 0):
		return
	case begins:
		g.episode = episode{begun: g.member.now(), asked: map[question]time.Duration{}, slow: map[uint64]delay{}, told: map[string]bool{}}
	default:
		g.episode = episode{}
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
	if e.begun == 0 || g.decision.Role != network.Undecided || !g.started {
		return
	}
	var waits []string
	var flush time.Duration
	if s := g.loop.saving; s != nil && slices.Contains(s.groups, g) && now-s.begun >= slowFlush {
		flush = max(e.flush.length(now), now-s.begun)
		waits = append(waits, fmt.Sprintf("the disk of this member is slow: a flush has lasted for %s so far", inSeconds(now-s.begun)))
	} else if flush = e.flush.length(now); flush >= slowFlush {
		waits = append(waits, fmt.Sprintf("the disk of this member is slow: a flush took %s", inSeconds(flush)))
	}
	var silent, slow []uint64
	for _, id := range g.votersNow().Members {
		p := g.member.peerOf(id)
		if p == nil {
			continue
		}
		since := now - min(g.since(question{id, false}, now), g.since(question{id, true}, now))
		switch took := e.slow[id].length(now); {
		case p.health != reachable:
			silent = append(silent, id)
		case since >= g.slowAnswer():
			slow = append(slow, id)
			waits = append(waits, fmt.Sprintf("member %d is connected, and has not answered for %s", id, inSeconds(since)))
		case took > 0:
			slow = append(slow, id)
			waits = append(waits, fmt.Sprintf("member %d is slow, or its disk: an answer took %s", id, inSeconds(took)))
		}
	}
	g.showWaits(waits)
	state := fmt.Sprint(flush >= slowFlush, silent, slow)
	if now-e.begun < g.member.config.Suspicion || len(waits)+len(silent) == 0 || e.told[state] {
		return
	}
	e.told[state] = true
	g.handle.log.Warn("no leader is known", "since", (now - e.begun).Round(time.Millisecond), "flush", flush.Round(time.Millisecond), "slow", slow, "not_reachable", silent)
}

// since returns since when a question waits for its answer; now: none does.
func (g *group) since(q question, now time.Duration) time.Duration {
	if at := g.episode.asked[q]; at != 0 {
		return at
	}
	return now
}

// Waits returns what an election without a leader waits for, for people, as far as this member sees that.
func (g *Group) Waits() []string {
	g.mu.Lock()
	defer g.mu.Unlock()
	return g.waits
}
