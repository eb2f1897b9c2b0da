package simulate

// tiles is the state of the schedule tile, message by message: parts of a ring that fit into a cache.
type tiles struct {
	size   int
	now    int        // the current tile
	queues []queue    // by tile: the links that lead into it, once for each message, in the order of sending
	asleep [][]uint32 // by tile: the processes that start when its turn comes
}

// queue is a list of links of which the first are done.
type queue struct {
	links []uint32
	done  int
}

// tileSize returns the number of processes of a tile: as many as fit into a cache, or an eighth of a small ring.
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

// inTiles starts the processes of a tile when its turn comes, delivers the messages there, the oldest first, and goes
// on to the next tile at quiescence. If processes start at any time, one starts when its tile is quiescent.
func (l *links) inTiles() (started bool) {
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
