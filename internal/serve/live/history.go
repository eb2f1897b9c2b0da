package live

import (
	"fmt"

	"ringleader.example/ringleader/election"
	"ringleader.example/ringleader/internal/serve/kept"
	"ringleader.example/ringleader/storage"
	"ringleader.example/ringleader/transport"
)

// A term has one leader, if each member keeps what it has promised. A store that was restored from a backup has forgotten that, and then a term
// may have a second leader, whose fencing token is not new. So each member remembers the leader of the highest term that it has followed, or has
// led itself, durably with the state of the algorithm, and tells the others. Whoever hears of two leaders of that term says so. An old store
// is found only by that: as long as all members that followed the first leader are away, nothing shows it. No step waits for that to be
// durable: no promise depends on it, and a new leader would wait for its disk once more.

// reigns notes the leaders among the effects of a step. It reports whether one has a higher term than all before.
func (g *group) reigns(effects []election.Effect) (higher bool) {
	for _, e := range effects {
		r := kept.Reign{Term: e.Term, Leader: g.member.config.ID}
		switch e.Op {
		case election.Lead:
		case election.Follow:
			r.Leader = g.Name(e.ID)
		default:
			continue
		}
		if r.Term > g.reign.Term {
			g.reign, higher = r, true
		} else {
			g.compareReigns(r)
		}
	}
	return higher
}

// compareReigns says it if a term has another leader than the one that this member knows.
func (g *group) compareReigns(r kept.Reign) {
	if r.Term == 0 || r.Term != g.reign.Term || r.Leader == g.reign.Leader {
		return
	}
	known, name := g.reign, r.Leader
	if name == g.member.config.ID {
		name = known.Leader
	}
	text := fmt.Sprintf("term %d has had two leaders, %d and %d: the store of a member is an old copy, and the token of this term is not unique", r.Term, min(known.Leader, r.Leader), max(known.Leader, r.Leader))
	if g.rivals[name] == text {
		return
	}
	if g.rivals == nil {
		g.rivals = map[uint64]string{}
	}
	g.rivals[name] = text
	g.handle.log.Error("a term has had two leaders", "term", r.Term, "one", known.Leader, "other", r.Leader)
	for p := range g.member.others() {
		g.tellReign(p)
	}
	g.show()
}

// tellReign tells a peer the leader of the highest term, if there is one.
func (g *group) tellReign(p *peer) {
	if g.kept != nil && g.reign.Term > 0 {
		p.send(transport.AppendFrame(nil, reigned, g.handle.key[:], g.reign.Append(nil)), 0)
	}
}

// hearReign takes what a peer has told.
func (l *loop) hearReign(k key, payload []byte) error {
	if len(payload) != kept.ReignSize {
		return transport.ErrFrame
	}
	if g := l.byKey[k]; g != nil {
		g.compareReigns(kept.DecodeReign(payload))
	}
	return nil
}

// written is the schema of a record that begins with the reign.
func (g *group) written() transport.Digest {
	schema := g.schema()
	return transport.DigestOf("%x, and a reign", schema[:])
}

// durable returns the record of the group, which is to be saved.
func (g *group) durable() storage.Record {
	g.dirty = false
	schema := g.written()
	return storage.Record{Name: kept.GroupPrefix + g.handle.name, Data: append(g.reign.Append(schema[:]), g.kept...)}
}
