package live

import (
	"errors"
	"fmt"
	"time"

	"ringleader.example/ringleader/election"
	"ringleader.example/ringleader/internal/codec"
	"ringleader.example/ringleader/internal/process"
)

// peer is another member. What changes belongs to the loop.
type peer struct {
	position int
	id       uint64
	address  string

	health      health
	incarnation uint64    // of the life that was last heard of; 0 if none was
	in          *incoming // the connection that is read
	next        *incoming // the one to be read after it
	out         *sender
	whole       time.Time     // since when both directions stand; zero if they do not
	standing    bool          // whether out has connected
	rest        time.Duration // before we connect again, had we to part now
	restUntil   time.Time
	resolved    bool      // whether the first attempt to connect has had an outcome
	duplicate   time.Time // since when it refuses us for another process with our identifier
	refusal     string    // the last that was logged
}

func (p *peer) port() election.Port { return election.Port(p.position) }

type health uint8

const (
	unknown health = iota // nothing was heard of it, and nothing lost
	reachable
	suspect
)

// verdict is the loop's part of the answer to a hello: is that identifier taken?
func (l *loop) verdict(p *peer, h hello) verdict {
	for _, in := range []*incoming{p.in, p.next} {
		if in != nil && in.incarnation != h.Incarnation {
			return verdict{refusedDuplicate, fmt.Sprintf("another live process has id %d: member %d is connected with it", h.From, l.config.ID)}
		}
	}
	return verdict{}
}

// arrived takes a connection that stands. The one before it comes to its end first.
func (l *loop) arrived(in *incoming) error {
	p := in.peer
	if l.verdict(p, hello{Incarnation: in.incarnation}).code != accepted { // by now
		in.admit <- false
		return nil
	}
	if p.next != nil {
		p.next.admit <- false
	}
	p.next = in
	if p.in != nil {
		p.in.drain()
	}
	return l.admit(p)
}

// admit lets the next connection be read, if there is one and nothing stands against it.
func (l *loop) admit(p *peer) error {
	if !l.started || p.in != nil || p.next == nil {
		return nil
	}
	p.in, p.next = p.next, nil
	p.in.admit <- true
	sameLife := p.incarnation == 0 || p.incarnation == p.in.incarnation
	wrong := p.health == suspect && sameLife
	p.health, p.incarnation = reachable, p.in.incarnation
	nudge(p.out.heard)
	p.mend()
	l.log.Info("member is reachable", "peer", p.id, "incarnation", p.incarnation, "suspicion was wrong", wrong)
	l.show()
	if wrong {
		return l.step(process.Input{What: process.Trusted, Port: p.port()})
	}
	return nil
}

func (l *loop) message(e message) error {
	p := e.in.peer
	if e.in != p.in {
		return nil
	}
	err := errFrame
	if isMessage(e.kind, &l.declaration) {
		err = l.step(process.Input{What: process.Received, Port: p.port(), Kind: election.Kind(e.kind), Message: e.payload})
	}
	if errors.Is(err, codec.ErrDecode) || errors.Is(err, errFrame) {
		l.log.Warn("member sent a malformed message", "peer", p.id, "error", err)
		e.in.conn.Close()
		return nil
	}
	return err
}

// ended takes the end of a connection; ours to that peer ends with it.
func (l *loop) ended(e ended) error {
	p := e.in.peer
	p.in = nil
	l.redial(p)
	l.log.Info("member is not reachable", "peer", p.id, "error", e.err)
	if err := l.suspect(p); err != nil {
		return err
	}
	return l.admit(p)
}

// part ends both connections with a peer: messages were lost. The suspicion comes when all is read that
// has arrived.
func (l *loop) part(p *peer) error {
	if p.in != nil {
		p.out.cancel()
		p.in.drain()
		return nil
	}
	l.redial(p)
	return l.suspect(p)
}

// mend notes that one direction stands now; perhaps it is the second.
func (p *peer) mend() {
	if p.in != nil && p.standing {
		p.whole = time.Now()
	}
}

// redial begins anew to send to a peer; what was queued is forgotten. If it can be sent to but not heard, say,
// it parts from us whenever it has something to say; so we rest twice as long each time, until the pair was
// whole for a while.
func (l *loop) redial(p *peer) {
	if !p.whole.IsZero() && time.Since(p.whole) > l.config.Suspicion {
		p.rest = 0
	}
	if p.standing {
		p.rest = min(max(2*p.rest, leastPause), mostRest)
		p.restUntil = time.Now().Add(jitter(p.rest))
	}
	p.standing, p.whole = false, time.Time{}
	p.out.cancel()
	p.out = newSender(l.Member, p, time.Until(p.restUntil))
}

// suspect tells the algorithm that a peer seems to have crashed, unless it knows.
func (l *loop) suspect(p *peer) error {
	if p.health == suspect || !l.started { // before the start nothing was lost
		return nil
	}
	p.health = suspect
	l.show()
	return l.step(process.Input{What: process.Suspected, Port: p.port()})
}

func (l *loop) dialed(e dialed) error {
	p := e.from.peer
	if e.from != p.out {
		return nil
	}
	p.resolved = true
	if e.err == nil {
		p.standing = true
		p.mend()
	}
	var no *refusal
	if errors.As(e.err, &no) && no.reason != p.refusal {
		p.refusal = no.reason
		l.log.Warn("member refuses us", "peer", p.id, "reason", no.reason)
	}
	switch now := time.Now(); {
	case no == nil || no.code != refusedDuplicate:
		p.duplicate = time.Time{}
	case p.duplicate.IsZero():
		p.duplicate = now // it may be our own former life, whose end was not noticed yet
	case now.Sub(p.duplicate) > 2*l.config.Suspicion:
		return fmt.Errorf("%w: %s", ErrDuplicate, no.reason)
	}
	switch {
	case !e.lost:
		return nil
	case p.in != nil:
		return l.part(p)
	}
	return l.suspect(p) // the sender goes on: what was queued since the attempt began may arrive
}
