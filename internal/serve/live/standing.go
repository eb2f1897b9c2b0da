package live

import (
	"time"

	"ringleader.example/ringleader/election"
	"ringleader.example/ringleader/internal/core/process"
	"ringleader.example/ringleader/internal/serve/view"
	"ringleader.example/ringleader/transport"
)

// maxReason is how much of the reason of a standing the others get, in bytes.
const maxReason = transport.MaxOpaque - keySize - view.StandingSize

// standsFor is the event that the host changes its standing.
type standsFor struct {
	group    *Group
	standing view.Standing
	because  view.Because
}

// Known returns what the last State had, with how the members stand for election and which vote. It reads no clock.
func (g *Group) Known() view.State {
	g.mu.Lock()
	defer g.mu.Unlock()
	return g.state
}

// Stand changes how this member stands for election. A leader that may lead no more stops its work and hands over, for a cause.
func (g *Group) Stand(s view.Standing, because view.Because) { g.member.post(standsFor{g, s, because}) }

// stand takes a standing of the host.
func (l *loop) stand(e standsFor) error {
	g := l.byKey[e.group.key]
	if g == nil || g.handle != e.group {
		return nil
	}
	if before := g.own(); e.standing != before {
		g.standing = &e.standing
		if e.standing.Weight != before.Weight || e.standing.Unable != before.Unable {
			l.member.recorder.Stands(g.handle.name, l.member.config.ID, e.standing)
		}
		for p := range l.member.others() {
			g.tellStanding(p)
		}
		g.show()
	}
	weight := g.own().Weighs()
	g.wanted = e.because
	if g.started {
		return g.take(process.Input{What: process.Commanded, Command: election.Command{Order: election.Weigh, Number: uint64(weight)}})
	}
	g.instance.Prioritize(l.member.position, weight) // before its first message
	g.machine = l.member.program.NewMachine(g.instance, l.member.position, g.choose, g)
	if g.kept == nil {
		return nil
	}
	return g.machine.Restore(g.kept)
}

// tellStanding tells a peer the standing of this member, once that has been another one than in the configuration.
func (g *group) tellStanding(p *peer) {
	if s := g.standing; s != nil {
		p.send(transport.AppendFrame(nil, stands, g.handle.key[:], s.Append(nil, maxReason)), 0)
	}
}

// hearStanding takes the standing of a peer.
func (l *loop) hearStanding(p *peer, k key, payload []byte) error {
	s, err := view.DecodeStanding(payload)
	if g := l.byKey[k]; g != nil && err == nil {
		if p.standings == nil {
			p.standings = map[key]view.Standing{}
		}
		before := p.standings[k]
		p.standings[k] = s
		if s.Weight != before.Weight || s.Unable != before.Unable {
			l.member.recorder.Stands(g.handle.name, p.id, s)
		}
		g.show()
	}
	return err
}

// standingOf returns the standing of a member, as far as it is known.
func (g *group) standingOf(id uint64) view.Standing {
	if p := g.member.peerOf(id); p != nil {
		if s, told := p.standings[g.handle.key]; told {
			return s
		}
	} else if g.standing != nil {
		return *g.standing
	}
	if g.priorities == nil {
		return view.Standing{}
	}
	return view.Standing{Weight: g.priority(id)}
}

// own returns the standing of this member.
func (g *group) own() view.Standing { return g.standingOf(g.member.config.ID) }

// muted are messages that are not sent.
type muted struct {
	kinds uint32        // a bit for each kind; 0: none are
	until time.Duration // on the clock of timers; process.Never: for ever
}

// Mute drops messages of some kinds that this member sends in the group, from now on for that long, or for ever with
// [process.Never]. 0 ends that. For the algorithm they are lost.
func (g *Group) Mute(d time.Duration, kinds ...election.Kind) {
	m := muted{until: process.Never}
	for _, kind := range kinds {
		m.kinds |= 1 << kind
	}
	if d != process.Never {
		m.until = g.member.now() + d
	}
	g.mu.Lock()
	defer g.mu.Unlock()
	g.muted = m
}

// Muted returns for how long messages are dropped still; 0: none are.
func (g *Group) Muted() time.Duration {
	g.mu.Lock()
	defer g.mu.Unlock()
	switch {
	case g.muted.kinds == 0:
		return 0
	case g.muted.until == process.Never:
		return process.Never
	}
	return max(0, g.muted.until-g.member.now())
}

// drops reports whether messages of a kind are dropped.
func (g *Group) drops(kind election.Kind) bool {
	g.mu.Lock()
	defer g.mu.Unlock()
	return g.muted.kinds&(1<<kind) != 0 && g.member.now() < g.muted.until
}
