package live

import (
	"ringleader.example/ringleader/election"
	"ringleader.example/ringleader/internal/core/framing"
	"ringleader.example/ringleader/internal/core/process"
	"ringleader.example/ringleader/internal/serve/record"
	"ringleader.example/ringleader/transport"
)

// A warden draws a secret for each life of its member, and gives the member only the hash of it, which the member's
// Hello carries. When the life and all its work have ended, the warden discloses the secret. Any member can check that,
// and pass it on; no other process could have known it before.

// remembered is the number of lives of a peer whose hashes are remembered: the last ones.
const remembered = 4

// remember notes what will prove the death of a life.
func (p *peer) remember(h transport.Hello) {
	if h.Death == [32]byte{} {
		return
	}
	if p.deaths == nil {
		p.deaths = map[uint64][32]byte{}
	}
	p.deaths[h.Incarnation] = h.Death
	for len(p.deaths) > remembered {
		oldest := h.Incarnation
		for incarnation := range p.deaths {
			oldest = min(oldest, incarnation)
		}
		delete(p.deaths, oldest)
	}
}

// neighbours is the number of peers to which a proof of death is passed on at once. The others get it with the next heartbeat: the
// warden tells all itself, and their election is not to wait for as many messages as there are pairs of members.
const neighbours = 2

// died takes a proof of death. It reports whether the proof is valid. What is new is passed on.
func (l *loop) died(proof transport.Proof) (valid bool, err error) {
	p := l.member.peerOf(proof.Member)
	if p == nil {
		return false, nil
	}
	dead := uint64(0)
	for incarnation, hash := range p.deaths {
		if proof.Proves(hash) {
			dead = max(dead, incarnation) // a process may join again, and all its lives have ended
		}
	}
	switch {
	case dead == 0:
		return false, nil
	case p.died != nil && dead <= p.dead:
		return true, nil
	}
	p.died, p.dead = &proof, dead
	l.member.log.Info("a life of a member is proven dead", "peer", p.id, "incarnation", dead)
	l.member.recorder.Entry("", &record.Proof{Peer: p.id, Incarnation: p.dead})
	l.proven = append(l.proven, p)
	l.passOn(p, neighbours)
	return true, l.each(process.Input{
		What:    process.Commanded,
		Command: election.Command{Order: election.Died, Member: election.ID(p.position + 1), Number: dead},
	})
}

// passOn sends the proof of a peer's death to some others, from the position after our own on.
func (l *loop) passOn(p *peer, most int) {
	frame := proofFrame(p.died)
	for i := range l.member.peers {
		other := l.member.peers[(l.member.position+1+i)%len(l.member.peers)]
		if other == nil || other == p || other.health != reachable {
			continue
		}
		if most--; most < 0 {
			return
		}
		other.send(frame, 0)
	}
}

// introduce sends a peer that was just connected what it may not know: our address book, our groups, and proofs of death.
func (l *loop) introduce(p *peer) {
	l.tellBook(p)
	for _, g := range l.groups {
		if g.limits != "" {
			g.announce(p)
		}
	}
	for other := range l.member.others() {
		if other != p && other.died != nil {
			p.send(proofFrame(other.died), 0)
		}
	}
}

func proofFrame(p *transport.Proof) []byte {
	return framing.Append(nil, proves, func(dst []byte) []byte { return append(dst, p.Encode()...) })
}
