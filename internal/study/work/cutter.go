package work

import (
	"sort"
	"sync"
	"time"
)

// mostPieces is how many pieces a second a job makes at most: gathering and storing as many takes less than a core.
const mostPieces = 500

// PieceTime returns the time that a piece should take: a second, so that a runner's work for a piece is small beside it, and what
// a crash loses is, too. Where more workers are than pieces may come in a second, it is longer.
func PieceTime(workers int) time.Duration {
	return max(time.Second, time.Duration(workers)*time.Second/mostPieces)
}

// growth limits by which factor a piece may be larger than those that were measured.
const growth = 8

// crumbs is how many times smaller than a full piece the last pieces may be.
const crumbs = 50

// Cutter cuts the missing units of a job into pieces that take about their [PieceTime]. It is safe for several goroutines.
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
	c := &Cutter{task: t, results: r, workers: max(1, workers), began: time.Now()}
	c.recount(r.Missing())
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

// Suit makes the pieces suit that many workers from now on.
func (c *Cutter) Suit(workers int) {
	c.mutex.Lock()
	defer c.mutex.Unlock()
	c.workers = max(1, workers)
}

// Claim notes that a piece has been cut elsewhere: its units are not cut again.
func (c *Cutter) Claim(p Piece) {
	c.mutex.Lock()
	defer c.mutex.Unlock()
	var rest []Piece
	for _, m := range c.missing {
		before, after := Piece{m.From, min(m.To, p.From)}, Piece{max(m.From, p.To), m.To}
		if p.To <= m.From || m.To <= p.From {
			before, after = m, Piece{}
		}
		for _, part := range []Piece{before, after} {
			if part.From < part.To {
				rest = append(rest, part)
			}
		}
	}
	c.recount(rest)
	c.open += c.weigh(p)
	c.busy++
}

// Recut takes a piece back that was cut and will not be done as it is: those of its units that are missing are cut again.
func (c *Cutter) Recut(p Piece) {
	c.mutex.Lock()
	defer c.mutex.Unlock()
	var all Ranges
	for _, m := range c.missing {
		all.Add(m)
	}
	for _, m := range c.results.Missing() {
		all.Add(Piece{max(m.From, p.From), min(m.To, p.To)})
	}
	c.recount(all.ranges)
	c.open -= c.weigh(p)
	c.busy--
}

// recount sets the units that are not cut.
func (c *Cutter) recount(missing []Piece) {
	c.missing, c.left = missing, 0
	for _, p := range missing {
		c.left += c.weigh(p)
	}
}

// room returns the weight of the next piece: what takes PieceTime, but less at the beginning, where nothing is
// measured, and at the end, so that all workers end together.
func (c *Cutter) room() float64 {
	if c.speed == 0 {
		return 0 // one unit
	}
	full := c.speed * PieceTime(c.workers).Seconds()
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
	took := max(time.Since(c.began).Seconds(), 1e-9)
	p := Progress{Done: computed, Units: computed + missing, Rate: float64(c.units) / took, Workers: c.busy, Left: -1}
	if c.weight > 0 {
		p.Left = time.Duration(took * (c.left + c.open) / c.weight * float64(time.Second))
	}
	return p
}
