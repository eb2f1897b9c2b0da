package queues

// Tiles is the state of the schedule tile, message by message: parts of a ring that fit into a cache.
type Tiles struct {
	size   int
	Now    int        // the current tile
	Queues []Queue    // by tile: the links that lead into it, once for each message, in the order of sending
	Asleep [][]uint32 // by tile: the processes that start when its turn comes
}

// Queue is a list of links of which the first are done.
type Queue struct {
	Links []uint32
	Done  int
}

// TileSize returns the number of processes of a tile: as many as fit into a cache, or an eighth of a small ring.
func TileSize(n int) int { return min(1<<13, (n+7)/8) }

// NewTiles returns the tiles of a ring.
func NewTiles(n int) *Tiles {
	size := TileSize(n)
	count := (n + size - 1) / size
	return &Tiles{size: size, Queues: make([]Queue, count), Asleep: make([][]uint32, count)}
}

// Sleep lets a process start when the turn of its tile comes.
func (t *Tiles) Sleep(p int) { t.Asleep[p/t.size] = append(t.Asleep[p/t.size], uint32(p)) }

// Push puts a link that leads to a process at the end of the queue of its tile.
func (t *Tiles) Push(to int, link uint32) {
	q := &t.Queues[to/t.size]
	if q.Done == len(q.Links) {
		q.Links, q.Done = q.Links[:0], 0
	}
	q.Links = append(q.Links, link)
}
