package stopandgo_test

import (
	"testing"

	"ringleader.example/ringleader/election"
	"ringleader.example/ringleader/network"
	"ringleader.example/ringleader/simulate"
)

// ring is a case: identifiers, wake-up times, and the processors that do not participate if a message wakes them.
type ring struct {
	ids       []uint64
	wakes     []int // -1: only by a message; nil: all at 0
	unwilling []int
}

func (r ring) options(parameters map[string]string) simulate.Options {
	o := simulate.Options{Setup: network.On(r.ids...)}
	o.Setup.Unwilling, o.Setup.Parameters = r.unwilling, parameters
	for _, at := range r.wakes {
		if at < 0 {
			o.Wake = append(o.Wake, election.Forever)
		} else {
			o.Wake = append(o.Wake, election.Units(uint64(at)))
		}
	}
	return o
}

// outcome is the result of an election.
type outcome struct {
	leader         uint64
	byPhase        []uint64
	announced      uint64
	elected, quiet uint64
}

// longest is the number of units after which the oracle gives up.
const longest = 20_000

const infinite = 1 << 63

type message struct {
	kind byte // 's' election started, 'i' identity, 'e' elected
	j    uint64
	m, w uint64
}

type processor struct {
	awake, spontaneous, unwilling bool
	bestid, count                 uint64
	waiting                       *message
}

// units is an election in progress.
type units struct {
	ring
	t          testing.TB
	h          []uint64
	processors []processor
	outgoing   []*message // by receiver
	unit       uint64
	ended      bool
	o          outcome
}

// unitByUnit is a direct oracle: S5's loop as printed, one unit of time after the other, for all processors. An
// election that does not end has no leader.
func unitByUnit(t testing.TB, r ring, h []uint64) outcome {
	t.Helper()
	n := len(r.ids)
	u := &units{ring: r, t: t, h: h, processors: make([]processor, n), o: outcome{byPhase: []uint64{0}}}
	for _, q := range r.unwilling {
		u.processors[q].unwilling = true
	}
	for incoming := make([]*message, n); u.unit < longest; u.unit++ {
		u.outgoing = make([]*message, n)
		for q := range u.processors {
			begins := u.read(q, incoming[q])
			if u.ended {
				return u.o
			}
			if !begins {
				u.wake(q)
				u.passOn(q)
			}
		}
		incoming = u.outgoing
	}
	return u.o
}

func (u *units) send(q int, m message) {
	to := (q + 1) % len(u.ids)
	if u.outgoing[to] != nil {
		u.t.Fatalf("unit %d: %d sends twice", u.unit, u.ids[q])
	}
	u.outgoing[to] = &m
	if m.kind == 'e' {
		u.o.announced++
		return
	}
	for uint64(len(u.o.byPhase)) <= m.m {
		u.o.byPhase = append(u.o.byPhase, 0)
	}
	u.o.byPhase[m.m]++
}

// read reads the message that has arrived. It reports whether a wait begins, which counts from the next unit.
func (u *units) read(q int, read *message) (begins bool) {
	p, i := &u.processors[q], u.ids[q]
	switch {
	case read == nil:
	case read.kind == 's':
		return u.started(q)
	case read.kind == 'e':
		if read.j == i {
			u.o.quiet, u.ended = u.unit, true
			return false
		}
		u.send(q, *read)
	case read.j == i:
		if u.o.leader != 0 {
			u.t.Fatalf("%d and %d are elected", u.o.leader, i)
		}
		u.o.leader, u.o.elected = i, u.unit
		u.send(q, message{kind: 'e', j: i})
	case read.j < p.bestid:
		p.bestid, p.waiting = read.j, nil
		m := read.m
		if read.w >= u.h[m-1] {
			p.waiting, p.count = &message{'i', read.j, m + 1, read.w + 1}, 2*read.j*(u.h[m]-u.h[m-1])
			return true
		}
		u.send(q, message{'i', read.j, m, read.w + 1})
	}
	return false
}

// started handles "election started".
func (u *units) started(q int) (begins bool) {
	p, i := &u.processors[q], u.ids[q]
	if !p.awake {
		p.awake = true
		u.send(q, message{kind: 's'})
	}
	p.bestid = infinite
	if p.unwilling && !p.spontaneous {
		return false
	}
	p.bestid, p.waiting, p.count = i, &message{'i', i, 1, 1}, 2*i*u.h[0]
	return true
}

// wake makes a processor initiate, if its time has come.
func (u *units) wake(q int) {
	p := &u.processors[q]
	due := u.wakes == nil && u.unit == 0 || u.wakes != nil && u.wakes[q] >= 0 && uint64(u.wakes[q]) == u.unit
	if due && !p.awake {
		p.awake, p.spontaneous = true, true
		u.send(q, message{kind: 's'})
	}
}

// passOn sends a processor's waiting message, if its time has come.
func (u *units) passOn(q int) {
	p := &u.processors[q]
	if p.waiting == nil {
		return
	}
	if p.count--; p.count == 0 {
		u.send(q, *p.waiting)
		p.waiting = nil
	}
}
