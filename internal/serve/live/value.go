package live

import (
	"encoding/binary"

	"ringleader.example/ringleader/election"
	"ringleader.example/ringleader/network"
	"ringleader.example/ringleader/transport"
)

// MaxValue is the largest length of a value that a leader publishes, in bytes.
const MaxValue = transport.MaxOpaque - keySize - termSize

const termSize = 8

// published is the value that a leader has published in a term.
type published struct {
	term election.Term
	text string
}

// publishing is the event that the host publishes a value.
type publishing struct {
	group *Group
	value published
}

// Publish shows a value of at most MaxValue bytes to all members of the group, in State, for as long as this member leads in the
// term. It has no effect if it does not.
func (g *Group) Publish(term election.Term, value string) {
	g.member.post(publishing{g, published{term, value}})
}

// published takes a value that the host publishes.
func (l *loop) published(e publishing) {
	g := l.byKey[e.group.key]
	if g == nil || g.handle != e.group || g.decision.Role != network.Leader || g.decision.Term != e.value.term {
		return
	}
	g.value = e.value
	l.member.recorder.Published(g.handle.name, l.member.config.ID, e.value.term, e.value.text)
	for p := range l.member.others() {
		g.tellValue(p)
	}
	g.show()
}

// tellValue sends a peer the value of this term, if there is one.
func (g *group) tellValue(p *peer) {
	if g.decision.Role != network.Leader || g.value.term != g.decision.Term {
		return
	}
	term := binary.LittleEndian.AppendUint64(nil, uint64(g.value.term))
	p.send(transport.AppendFrame(nil, publishes, g.handle.key[:], term, []byte(g.value.text)), 0)
}

// hearValue takes a value from a peer. It may come before the peer is known to lead.
func (l *loop) hearValue(p *peer, k key, payload []byte) error {
	if len(payload) < termSize {
		return transport.ErrFrame
	}
	if g := l.byKey[k]; g != nil {
		if p.values == nil {
			p.values = map[key]published{}
		}
		term, text := election.Term(binary.LittleEndian.Uint64(payload)), payload[termSize:]
		if term == 0 {
			p.hearEnd(k, text)
			l.member.recorder.Told(g.handle.name, p.id, p.ends[k].term, p.ends[k].because)
			return nil
		}
		p.values[k] = published{term, string(text)}
		l.member.recorder.Published(g.handle.name, p.id, term, string(text))
		g.show()
	}
	return nil
}

// valueOf returns what a leader has published in a term.
func (g *group) valueOf(leader uint64, term election.Term) string {
	value := g.value
	if p := g.member.peerOf(leader); p != nil {
		value = p.values[g.handle.key]
	}
	if leader == 0 || value.term != term {
		return ""
	}
	return value.text
}
