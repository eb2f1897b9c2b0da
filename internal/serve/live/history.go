package live

import (
	"encoding/binary"
	"fmt"

	"ringleader.example/ringleader/election"
	"ringleader.example/ringleader/storage"
	"ringleader.example/ringleader/transport"
)

// A term has one leader, if each member keeps what it has promised. A store that was restored from a backup has forgotten that, and then a term
// may have a second leader, whose fencing token is not new. So each member remembers the leader of the highest term that it has followed, or has
// led itself, durably with the state of the algorithm, and tells the others. Whoever hears of two leaders of that term says so. An old store
// is found only by that: as long as all members that followed the first leader are away, nothing shows it.

// reign is the leader of a term, by its identifier. The term 0 is none.
type reign struct {
	term   election.Term
	leader uint64
}

const reignSize = termSize + 8

func (r reign) append(dst []byte) []byte {
	return binary.LittleEndian.AppendUint64(binary.LittleEndian.AppendUint64(dst, uint64(r.term)), r.leader)
}

func decodeReign(b []byte) reign {
	return reign{election.Term(binary.LittleEndian.Uint64(b)), binary.LittleEndian.Uint64(b[termSize:])}
}

// reigns notes the leaders among the effects of a step. It reports whether one has a higher term than all before.
func (g *group) reigns(effects []election.Effect) (higher bool) {
	for _, e := range effects {
		r := reign{e.Term, g.member.config.ID}
		switch e.Op {
		case election.Lead:
		case election.Follow:
			r.leader = g.Name(e.ID)
		default:
			continue
		}
		if r.term > g.reign.term {
			g.reign, higher = r, true
		} else {
			g.compareReigns(r)
		}
	}
	return higher
}

// compareReigns says it if a term has another leader than the one that this member knows.
func (g *group) compareReigns(r reign) {
	if r.term == 0 || r.term != g.reign.term || r.leader == g.reign.leader {
		return
	}
	known, name := g.reign, r.leader
	if name == g.member.config.ID {
		name = known.leader
	}
	text := fmt.Sprintf("term %d has had two leaders, %d and %d: the store of a member is an old copy, and the token of this term is not unique", r.term, min(known.leader, r.leader), max(known.leader, r.leader))
	if g.rivals[name] == text {
		return
	}
	if g.rivals == nil {
		g.rivals = map[uint64]string{}
	}
	g.rivals[name] = text
	g.handle.log.Error("a term has had two leaders", "term", r.term, "one", known.leader, "other", r.leader)
	for _, p := range g.member.peers {
		if p != nil {
			g.tellReign(p)
		}
	}
	g.show()
}

// tellReign tells a peer the leader of the highest term, as far as that is durable.
func (g *group) tellReign(p *peer) {
	if g.kept == nil || g.durableReign.term == 0 {
		return
	}
	p.send(transport.AppendFrame(nil, reigned, g.handle.key[:], g.durableReign.append(nil)), 0)
}

// hearReign takes what a peer has told.
func (l *loop) hearReign(k key, payload []byte) error {
	if len(payload) != reignSize {
		return transport.ErrFrame
	}
	if g := l.byKey[k]; g != nil {
		g.compareReigns(decodeReign(payload))
	}
	return nil
}

// written is the schema of a record that begins with the reign.
func (g *group) written() transport.Digest {
	schema := g.schema()
	return transport.DigestOf("%x, and a reign", schema[:])
}

// durable returns the record of the group.
func (g *group) durable() storage.Record {
	schema := g.written()
	return storage.Record{Name: groupRecord + g.handle.name, Data: append(g.reign.append(schema[:]), g.kept...)}
}
