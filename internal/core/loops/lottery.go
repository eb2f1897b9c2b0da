package loops

import (
	"ringleader.example/ringleader/election"
	"ringleader.example/ringleader/internal/core/random"
)

// lottery runs the schedule random on a large ring with FIFO links. Its cost is cache misses at links, messages and
// states at random places. So the first message of a link is in the link's own record, and the code from one draw to
// the next is short, so that misses overlap.
type lottery[S, M any] struct {
	run   *Run
	typed *typed[S, M]
	links []record[M]
	shift uint32   // the shift from a link's number to its record's: unidirectional rings have half as many
	busy  []uint32 // the records of links that are not empty
	cells []behind[M]
	free  uint32 // a list of free cells
}

// record is a link: its first message, and a list of those behind it.
type record[M any] struct {
	first     election.Sent[M] // its Link is empty if there is none
	next, end uint32
}

const empty = ^uint32(0)

type behind[M any] struct {
	sent election.Sent[M]
	next uint32
}

func newLottery[S, M any](t *typed[S, M]) *lottery[S, M] {
	r := t.run
	l := &lottery[S, M]{run: r, typed: t, cells: make([]behind[M], 1)}
	if r.Declaration.OneWay {
		l.shift = 1
	}
	l.links = make([]record[M], r.Network.Links()>>l.shift)
	for i := range l.links {
		l.links[i].first.Link = empty
	}
	l.busy = make([]uint32, 0, len(l.links))
	return l
}

func (r ring[S, M]) Lottery() { newLottery(r.typed).play() }

func (l *lottery[S, M]) play() {
	for p := range l.run.initiators {
		l.typed.a.Start(&l.typed.states[p], l.typed.begin(p))
		l.send()
		l.typed.decisions()
		l.typed.collect.Reset()
	}
	picks, some := random.New(l.run.Seed, random.Schedule), looksUp
	if l.run.Limited {
		some = int(min(uint64(some), l.run.Limit)) + 1
	}
	for len(l.busy) > 0 && l.run.Outcome.Complete {
		l.run.countDeliveries(l.draws(picks, some))
	}
	l.run.finish()
	cell, link := sizeOf(behind[M]{}), sizeOf(record[M]{})
	l.run.Bytes += cap(l.cells)*cell + len(l.links)*link + 4*cap(l.busy)
}

// draws draws links repeatedly, as links.random does. It returns the number of deliveries.
func (l *lottery[S, M]) draws(picks *random.Source, most int) (deliveries int) {
	receive, collect, states := l.typed.a.Receive, l.typed.collect, l.typed.states
	oriented, n, shift := l.run.Network.Oriented(), uint32(len(states)), l.shift
	for ; len(l.busy) > 0 && deliveries < most; deliveries++ {
		at := picks.Below(uint64(len(l.busy)))
		number := l.busy[at]
		// The end of the link is computed from its number, so that a processor need not wait for the link's record
		// before it loads the state.
		direction, from := uint32(0), number
		if shift == 0 {
			direction, from = number&1, number>>1
		}
		to, port := from+1-2*direction, election.Port(1-direction)
		if to >= n {
			to = (to + n) % n
		}
		if !oriented {
			p, q := l.run.Network.End(number)
			to, port = uint32(p), q
		}
		link, state := &l.links[number], &states[to]
		m := link.first
		if c := link.next; c != 0 {
			cell := &l.cells[c]
			link.first, link.next = cell.sent, cell.next
			cell.next, l.free = l.free, c
		} else {
			last := len(l.busy) - 1
			l.busy[at], l.busy = l.busy[last], l.busy[:last]
			link.first.Link = empty
		}
		collect.At(2 * to)
		receive(state, port, m.Kind(), m.M, collect.Out())
		l.send()
		if len(collect.Effects()) > 0 {
			l.typed.decisions()
		}
		collect.Reset()
	}
	return deliveries
}

// send puts the messages of a step on their links.
func (l *lottery[S, M]) send() {
	phase := l.typed.phase()
	for i := range l.typed.collect.Sent() {
		s := &l.typed.collect.Sent()[i]
		kind := s.Kind()
		l.run.Sent[kind]++
		if phase != nil && l.run.elects>>kind&1 != 0 {
			l.run.phase(phase(kind, s.M))
		}
		number := s.On() >> l.shift
		link := &l.links[number]
		if link.first.Link == empty {
			link.first = *s
			l.busy = append(l.busy, number)
			continue
		}
		c := l.free
		if c != 0 {
			l.free = l.cells[c].next
		} else {
			c = uint32(len(l.cells))
			l.cells = append(l.cells, behind[M]{})
		}
		l.cells[c] = behind[M]{*s, 0}
		if link.next == 0 {
			link.next = c
		} else {
			l.cells[link.end].next = c
		}
		link.end = c
	}
}
