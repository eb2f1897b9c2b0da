package stopandgo_test

import (
	"testing"

	"ringleader.example/ringleader/election"
	"ringleader.example/ringleader/simulate"
)

// ring is a case: who stands where, when each wakes, and who participates if a message wakes it.
type ring struct {
	ids       []uint64
	wakes     []int // -1: only by a message; nil: all at 0
	unwilling []int
}

func (r ring) options(parameters map[string]string) simulate.Options {
	o := simulate.Options{Instance: election.On(r.ids...)}
	o.Instance.Unwilling, o.Instance.Parameters = r.unwilling, parameters
	for _, at := range r.wakes {
		if at < 0 {
			o.Wake = append(o.Wake, election.Forever)
		} else {
			o.Wake = append(o.Wake, election.Units(uint64(at)))
		}
	}
	return o
}

// outcome is what came of an election.
type outcome struct {
	leader         uint64
	byPhase        []uint64
	announced      uint64
	elected, quiet uint64
}

// longest is how many units the oracle goes on for.
const longest = 20_000

// unitByUnit is the dumb oracle: S5's loop as it is printed, a unit of time after the other, for all processors. An
// election that does not end has no leader.
func unitByUnit(t testing.TB, r ring, h []uint64) outcome {
	t.Helper()
	type message struct {
		kind byte // 's' election started, 'i' identity, 'e' elected
		j    uint64
		m, w uint64
	}
	type processor struct {
		awake, spontaneous, entered, done bool
		bestid, count                     uint64
		waiting                           *message
	}
	const infinite = 1 << 63
	n := len(r.ids)
	processors, incoming := make([]processor, n), make([]*message, n)
	unwilling := make([]bool, n)
	for _, q := range r.unwilling {
		unwilling[q] = true
	}
	o := outcome{byPhase: []uint64{0}}
	for unit := uint64(0); unit < longest; unit++ {
		outgoing := make([]*message, n)
		for q := range processors {
			p, i := &processors[q], r.ids[q]
			send := func(m message) {
				if outgoing[(q+1)%n] != nil {
					t.Fatalf("unit %d: %d sends twice", unit, i)
				}
				outgoing[(q+1)%n] = &m
				if m.kind == 'e' {
					o.announced++
					return
				}
				for uint64(len(o.byPhase)) <= m.m {
					o.byPhase = append(o.byPhase, 0)
				}
				o.byPhase[m.m]++
			}
			read := incoming[q]
			switch {
			case read == nil:
			case read.kind == 's':
				if !p.awake {
					p.awake = true
					send(message{kind: 's'})
				}
				p.entered, p.bestid = true, infinite
				if p.spontaneous || !unwilling[q] {
					p.bestid, p.waiting, p.count = i, &message{'i', i, 1, 1}, 2*i*h[0]
					continue
				}
			case read.kind == 'e':
				p.done = true
				if read.j == i {
					o.quiet = unit
					return o
				}
				send(*read)
			case read.j == i:
				if o.leader != 0 {
					t.Fatalf("%d and %d are elected", o.leader, i)
				}
				o.leader, o.elected = i, unit
				send(message{kind: 'e', j: i})
			case read.j < p.bestid:
				p.bestid, p.waiting = read.j, nil
				if m := read.m; read.w < h[m-1] {
					send(message{'i', read.j, m, read.w + 1})
				} else {
					p.waiting, p.count = &message{'i', read.j, m + 1, read.w + 1}, 2*read.j*(h[m]-h[m-1])
					continue
				}
			}
			if r.wakes == nil && unit == 0 || r.wakes != nil && uint64(r.wakes[q]) == unit && r.wakes[q] >= 0 {
				if !p.awake {
					p.awake, p.spontaneous = true, true
					send(message{kind: 's'})
				}
			}
			if p.waiting != nil {
				if p.count--; p.count == 0 {
					send(*p.waiting)
					p.waiting = nil
				}
			}
		}
		incoming = outgoing
	}
	return o
}
