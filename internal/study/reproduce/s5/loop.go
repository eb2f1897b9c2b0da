package s5

import (
	"slices"

	"ringleader.example/ringleader/election"
)

// slip is a place where the loop of S5 section 3 runs as printed, not as intended.
type slip uint8

// The slips.
const (
	none        slip = iota
	ownIdentity      // send <i, h_m, w+1>, where <j, h_m, w+1> is meant
	oneVariable      // the triple that waits is M, as in the list of variables, so that the triple read replaces it
	winnerOnly       // "j elected" ends the loop of the winner only
	assumed          // what a unit without a message brings is smaller than +∞, as every number
)

// looped is the result of the loop.
type looped struct {
	leaders        []uint64
	byPhase        []uint64 // messages, but "j elected"
	announced      uint64
	elected, quiet uint64
	ended          int // how many have left the loop
}

// triple is <j, h_m, w>; "election started" and "j elected" are others.
type triple struct {
	kind    byte // 's', 'i' or 'e'
	j       uint64
	m, w    int
	nothing bool // there was no message; this is assumed
}

// looper is the state of a processor.
type looper struct {
	i             uint64
	awake, stands bool
	running, over bool // in the loop; has left it
	bestid        uint64
	count         int64
	waiting       *triple
	out           *triple
}

// infinite is +∞.
const infinite = 1 << 62

// loop goes through S5's pseudo-code, a unit of time after the other for all processors, until nothing more can
// happen, or for so many units.
func loop(a *awakening, h []uint64, s slip, until uint64) looped {
	n := len(a.IDs)
	all, incoming := make([]looper, n), make([]*triple, n)
	o := looped{byPhase: make([]uint64, len(h)+1)}
	for unit := uint64(0); unit < until; unit++ {
		ahead := false
		for q := range all {
			p, m := &all[q], incoming[q]
			p.i, p.out = a.IDs[q], nil
			if m != nil {
				o.quiet = unit
			}
			if p.unit(m, h, s, slices.Contains(a.unwilling, q)) {
				o.leaders, o.elected = append(o.leaders, p.i), unit
			}
			wakes := election.Ticks{}
			if a.wake != nil {
				wakes = a.wake[q]
			}
			ahead = p.wake(wakes, election.Units(unit)) || ahead
		}
		for q := range all {
			incoming[(q+1)%n] = all[q].out
			o.count(all[q].out)
		}
		if !ahead {
			break
		}
	}
	for q := range all {
		if all[q].over {
			o.ended++
		}
	}
	return o
}

// count counts a message, if there is one.
func (o *looped) count(m *triple) {
	switch {
	case m == nil:
	case m.kind == 'e':
		o.announced++
	default:
		o.byPhase[min(m.m, len(o.byPhase)-1)]++
	}
}

// unit makes a processor's step in a unit, with the message that it reads, or without one. It reports whether its own
// identity has returned.
func (p *looper) unit(m *triple, h []uint64, s slip, unwilling bool) (returned bool) {
	switch {
	case p.over:
	case !p.running && m != nil:
		p.enter(h, unwilling)
	case p.running:
		if m == nil {
			m = &triple{kind: 'i', j: p.bestid + 1, m: 1, w: 1, nothing: true}
			if s == assumed && p.bestid == infinite {
				m.j = infinite - 1
			}
		}
		returned = m.kind == 'i' && m.j == p.i && !m.nothing
		p.read(*m, h, s)
	}
	return returned
}

// wake lets a processor wake by itself if it is time. It reports whether anything can still happen there.
func (p *looper) wake(at, now election.Ticks) (ahead bool) {
	switch {
	case p.awake:
	case at == now:
		p.awake, p.stands, p.out = true, true, &triple{kind: 's'}
	case at != election.Forever:
		return true
	}
	return p.out != nil || p.waiting != nil && p.count > 0
}

// enter begins phase 1 when "election started" is read.
func (p *looper) enter(h []uint64, unwilling bool) {
	if !p.awake {
		p.awake, p.stands, p.out = true, !unwilling, &triple{kind: 's'}
	}
	p.running, p.bestid = true, infinite
	if p.stands {
		p.waiting, p.count, p.bestid = &triple{kind: 'i', j: p.i, m: 1, w: 1}, int64(2*p.i*h[0]), p.i
	}
}

// read makes the loop's step in a unit with the message that it reads.
func (p *looper) read(m triple, h []uint64, s slip) {
	if m.kind == 'e' {
		if m.j != p.i {
			p.out = &m
		}
		p.over = m.j == p.i || s != winnerOnly
		return
	}
	if m.j == p.i && !m.nothing {
		p.out = &triple{kind: 'e', j: m.j}
	}
	switch {
	case m.j < p.bestid:
		p.bestid, p.waiting = m.j, nil
		if m.w < int(h[m.m-1]) || m.m == len(h) {
			next := triple{kind: 'i', j: m.j, m: m.m, w: m.w + 1}
			if s == ownIdentity {
				next.j = p.i
			}
			p.out = &next
		} else {
			p.waiting, p.count = &triple{kind: 'i', j: m.j, m: m.m + 1, w: m.w + 1}, int64(2*m.j*(h[m.m]-h[m.m-1]))
		}
	case m.j > p.bestid:
		if s == oneVariable && p.waiting != nil {
			p.waiting = &m
			p.waiting.nothing = false
		}
		if p.count--; p.count == 0 && p.waiting != nil {
			p.out, p.waiting = p.waiting, nil
		}
	}
}
