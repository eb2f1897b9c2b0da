package loops

import (
	"ringleader.example/ringleader/election"
)

// tiled runs the schedule tile on a large ring: round by round in a tile, which is the order of sending.
type tiled[S, M any] struct {
	run   *Run
	typed *typed[S, M]
	size  int
	inbox [][]election.Sent[M] // by tile: messages from other tiles
}

func (r ring[S, M]) Tiled(size int) {
	t := r.typed
	tiles := &tiled[S, M]{run: t.run, typed: t, size: size, inbox: make([][]election.Sent[M], (t.run.size()+size-1)/size)}
	tiles.play()
}

func (t *tiled[S, M]) play() {
	starts := make([]bool, t.run.size())
	for p := range t.run.initiators {
		starts[p] = true
	}
	spare := make([]election.Sent[M], 0, 2*t.size)
	t.typed.collect.Swap(make([]election.Sent[M], 0, 2*t.size))
	quiet := 0 // consecutive tiles without messages
	for tile := 0; quiet < len(t.inbox) && t.run.Outcome.Complete; tile = (tile + 1) % len(t.inbox) {
		low := tile * t.size
		high := min(low+t.size, t.run.size())
		for p := low; p < high && starts != nil; p++ {
			if starts[p] {
				t.typed.a.Start(&t.typed.states[p], t.typed.begin(p))
			}
		}
		if high == t.run.size() {
			starts = nil
		}
		quiet++
		if len(t.inbox[tile])+len(t.typed.collect.Sent()) > 0 {
			quiet = 0
		}
		t.deliver(t.inbox[tile], low, high) // counted in the tile that it left
		t.inbox[tile] = t.inbox[tile][:0]
		for len(t.typed.collect.Sent()) > 0 && t.run.Outcome.Complete {
			in := t.typed.collect.Swap(spare)
			t.deliver(in, low, high)
			if t.run.Phases {
				t.typed.phases(in)
			}
			for i := range in {
				t.run.Sent[in[i].Link&15]++
			}
			t.run.countDeliveries(len(in))
			spare = in
		}
	}
	t.run.finish()
	size := sizeOf(election.Sent[M]{})
	t.run.Bytes += (cap(spare) + cap(t.typed.collect.Sent())) * size
	for _, in := range t.inbox {
		t.run.Bytes += cap(in) * size
	}
	t.run.Bytes += t.run.size() // the flags of initiators
}

// deliver delivers the messages for processes of the tile from low to below high, and hands on the rest.
func (t *tiled[S, M]) deliver(in []election.Sent[M], low, high int) {
	receive, states, collect, out := t.typed.a.Receive, t.typed.states, t.typed.collect, t.typed.collect.Out()
	oriented, n := t.run.Network.Oriented(), uint32(t.run.size())
	for i := range in {
		m := &in[i]
		direction := m.Link >> 4 & 1
		to, port := m.Link>>5+1-2*direction, election.Port(1-direction)
		if to >= n {
			to = (to + n) % n
		}
		if !oriented {
			var p int
			p, port = t.run.Network.End(m.On())
			to = uint32(p)
		}
		if int(to) < low || int(to) >= high {
			next := &t.inbox[int(to)/t.size]
			*next = append(*next, *m)
			continue
		}
		collect.At(2 * to)
		receive(&states[to], port, m.Kind(), m.M, out)
	}
	if len(collect.Effects()) > 0 {
		t.typed.decisions()
	}
}
