package simulate

import (
	"reflect"

	"ringleader.example/ringleader/election"
)

// tiles are what the schedule tile works on: stretches of a ring that fit into a cache, for message by
// message.
type tiles struct {
	size   int
	now    int        // the tile whose turn it is
	queues []queue    // by tile: the links that lead into it, once for each message, in the order of sending
	asleep [][]uint32 // by tile: who starts when its turn comes
}

// queue is links of which the first are done with.
type queue struct {
	links []uint32
	done  int
}

// tileSize is how many processes make a tile: what fits into a cache, or an eighth of a small ring.
func tileSize(n int) int { return min(1<<13, (n+7)/8) }

func newTiles(n int) *tiles {
	size := tileSize(n)
	count := (n + size - 1) / size
	return &tiles{size: size, queues: make([]queue, count), asleep: make([][]uint32, count)}
}

func (t *tiles) sleep(p int) { t.asleep[p/t.size] = append(t.asleep[p/t.size], uint32(p)) }

func (t *tiles) push(to int, link uint32) {
	q := &t.queues[to/t.size]
	if q.done == len(q.links) {
		q.links, q.done = q.links[:0], 0
	}
	q.links = append(q.links, link)
}

// inTiles lets the processes of a tile start when its turn comes, delivers what comes there, the oldest
// message first, and goes on to the next tile when all is quiet. If processes start at any time, one does
// when its tile is quiet.
func (l *links[S, M]) inTiles() (started bool) {
	for t := l.tiles; ; t.now = (t.now + 1) % len(t.queues) {
		q, asleep := &t.queues[t.now], &t.asleep[t.now]
		waiting := q.done < len(q.links)
		switch {
		case len(*asleep) > 0 && (!l.o.AnyTime || !waiting):
			p := (*asleep)[0]
			*asleep = (*asleep)[1:]
			l.begins(int(p))
			return true
		case waiting:
			link := q.links[q.done]
			q.done++
			l.deliver(link, l.queues[link].head)
			return false
		}
	}
}

// tiled runs the schedule tile on a large ring: in a tile round by round, which is the order of sending.
type tiled[S, M any] struct {
	*run[S, M]
	size  int
	inbox [][]election.Sent[M] // by tile: what comes from the others
}

func newTiled[S, M any](r *run[S, M]) *tiled[S, M] {
	size := tileSize(r.p.Size())
	return &tiled[S, M]{run: r, size: size, inbox: make([][]election.Sent[M], (r.p.Size()+size-1)/size)}
}

func (t *tiled[S, M]) play() {
	starts := make([]bool, t.p.Size())
	for p := range t.initiators {
		starts[p] = true
	}
	spare := make([]election.Sent[M], 0, 2*t.size)
	t.collect.Swap(make([]election.Sent[M], 0, 2*t.size))
	quiet := 0 // tiles in a row
	for tile := 0; quiet < len(t.inbox) && t.result.Complete; tile = (tile + 1) % len(t.inbox) {
		low := tile * t.size
		high := min(low+t.size, t.p.Size())
		for p := low; p < high && starts != nil; p++ {
			if starts[p] {
				t.a.Start(&t.states[p], t.begin(p))
			}
		}
		if high == t.p.Size() {
			starts = nil
		}
		quiet++
		if len(t.inbox[tile])+len(t.collect.Sent()) > 0 {
			quiet = 0
		}
		t.deliver(t.inbox[tile], low, high) // it was counted in the tile that it left
		t.inbox[tile] = t.inbox[tile][:0]
		for len(t.collect.Sent()) > 0 && t.result.Complete {
			in := t.collect.Swap(spare)
			t.deliver(in, low, high)
			if t.a.Phase != nil {
				t.phases(in)
			}
			for i := range in {
				t.sent[in[i].Link&15]++
			}
			t.reckon(len(in))
			spare = in
		}
	}
	size := int(reflect.TypeFor[election.Sent[M]]().Size())
	t.result.Bytes += (cap(spare) + cap(t.collect.Sent())) * size
	for _, in := range t.inbox {
		t.result.Bytes += cap(in) * size
	}
	t.result.Bytes += t.p.Size() // who starts
}

// deliver delivers what is for processes of the tile from low to below high, and hands on the rest.
func (t *tiled[S, M]) deliver(in []election.Sent[M], low, high int) {
	receive, states, collect, out := t.a.Receive, t.states, t.collect, t.collect.Out()
	oriented, n := t.net.Oriented(), uint32(t.p.Size())
	for i := range in {
		m := &in[i]
		direction := m.Link >> 4 & 1
		to, port := m.Link>>5+1-2*direction, election.Port(1-direction)
		if to >= n {
			to = (to + n) % n
		}
		if !oriented {
			var p int
			p, port = t.net.End(m.On())
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
	if len(collect.Rare()) > 0 {
		t.decisions()
	}
}
