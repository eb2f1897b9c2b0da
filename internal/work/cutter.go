package work

import (
	"sort"
	"sync"
	"time"
)

// PieceTime is the time that a piece should take: a runner's work for a piece is small beside it, and what a crash
// loses is, too.
const PieceTime = time.Second

// growth limits by which factor a piece may be larger than those that were measured.
const growth = 8

// crumbs is how many times smaller than a full piece the last pieces may be.
const crumbs = 50

// Cutter cuts the missing units of a job into pieces that take about [PieceTime]. It is safe for several goroutines.
type Cutter struct {
	task    Task
	results *Results
	workers int

	mutex   sync.Mutex
	missing []Piece // not cut yet
	left    float64 // their weight
	largest float64 // weight of a measured piece
	speed   float64 // weight that one worker does in a second; 0 if nothing was measured
	began   time.Time
	units   uint64  // done in this run
	weight  float64 // … and theirs
	open    float64 // the weight of pieces that were cut and are not done
	busy    int     // the number of them
}

// NewCutter returns a cutter for that many workers.
func NewCutter(t Task, r *Results, workers int) *Cutter {
	c := &Cutter{task: t, results: r, workers: max(1, workers), missing: r.Missing(), began: time.Now()}
	for _, p := range c.missing {
		c.left += c.weigh(p)
	}
	return c
}

func (c *Cutter) weigh(p Piece) float64 {
	if t, weighted := c.task.(Weighted); weighted {
		return t.Weight(p)
	}
	return float64(p.Len())
}

// Next returns the next piece, or false if there is none.
func (c *Cutter) Next() (p Piece, ok bool) {
	c.mutex.Lock()
	defer c.mutex.Unlock()
	for len(c.missing) > 0 && !c.results.Needs(c.missing[0]) {
		c.left -= c.weigh(c.missing[0])
		c.missing = c.missing[1:]
	}
	if len(c.missing) == 0 {
		return Piece{}, false
	}
	p = c.missing[0]
	weight, most := c.room(), uint64(1<<40)
	if t, coarse := c.task.(Coarse); coarse {
		most = t.Most()
	}
	more := sort.Search(int(min(p.Len(), most)-1), func(i int) bool { return c.weigh(Piece{p.From, p.From + uint64(i) + 2}) > weight })
	p.To = p.From + 1 + uint64(more)
	if c.missing[0].From = p.To; p.To == c.missing[0].To {
		c.missing = c.missing[1:]
	}
	c.left -= c.weigh(p)
	c.open += c.weigh(p)
	c.busy++
	return p, true
}

// room returns the weight of the next piece: what takes PieceTime, but less at the beginning, where nothing is
// measured, and at the end, so that all workers end together.
func (c *Cutter) room() float64 {
	if c.speed == 0 {
		return 0 // one unit
	}
	full := c.speed * PieceTime.Seconds()
	return min(full, growth*c.largest, max(c.left/float64(2*c.workers), full/crumbs))
}

// Done notes that a piece has been computed in that time.
func (c *Cutter) Done(p Piece, took time.Duration) {
	c.mutex.Lock()
	defer c.mutex.Unlock()
	weight := c.weigh(p)
	c.open -= weight
	c.busy--
	c.units += p.Len()
	c.weight += weight
	c.largest = max(c.largest, weight)
	speed := weight / max(took.Seconds(), 1e-7)
	if c.speed == 0 {
		c.speed = speed
	}
	c.speed += (speed - c.speed) / 4
}

// Progress returns how far the job is.
func (c *Cutter) Progress() Progress {
	computed, missing := c.results.Count()
	c.mutex.Lock()
	defer c.mutex.Unlock()
	took := time.Since(c.began).Seconds()
	p := Progress{Done: computed, Units: computed + missing, Rate: float64(c.units) / took, Workers: c.busy, Left: -1}
	if c.weight > 0 {
		p.Left = time.Duration(took * (c.left + c.open) / c.weight * float64(time.Second))
	}
	return p
}
