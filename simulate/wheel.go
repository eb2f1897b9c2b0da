package simulate

import (
	"slices"

	"ringleader.example/ringleader/election"
)

// wheel is a calendar of messages that arrive within a bounded time. A bucket is as wide as the shortest
// delay at most, so that nothing is added to the one that is read: it is sorted once, when its time comes.
// Within a moment messages keep the order in which they were added; in a synchronous run that of ports.
//
// A heap costs a cache miss for every level of every message; a bucket is read from front to end.
type wheel[M any] struct {
	width   uint64 // of a bucket, in ticks
	base    election.Ticks
	first   int // the bucket that begins at base
	near    int // how far from there is the first that is not empty; less than 0: not known
	count   int // messages in buckets
	buckets []bucket
	letters []posted[M] // page by page
	after   []uint32    // by page: the next one of its bucket, or of those that are blank
	blank   uint32      // a page; 0: none
	due     []posted[M] // the bucket that is read
	read    int         // how much of it
	byTime  []uint32    // how many of a bucket are due at each of its moments
}

// posted is a message in a bucket.
type posted[M any] struct {
	election.Sent[M]
	number uint32 // in the record
	offset uint16 // when it arrives, after the begin of its bucket
	port   election.Port
	lost   bool // it will not arrive
}

// bucket is a list of pages, of which the last is not full.
type bucket struct {
	first, last uint32
	onLast      int
}

const (
	letterPage = 64
	mostWidth  = 256
	mostDelay  = 1 << 16 // a wheel for longer ones would have too many buckets
)

// newWheel is a wheel for delays from least to most ticks.
func newWheel[M any](least, most uint64) *wheel[M] {
	width := min(least, mostWidth)
	return &wheel[M]{
		width: width, buckets: make([]bucket, (most+width)/width+1), byTime: make([]uint32, width),
		letters: make([]posted[M], letterPage), after: make([]uint32, 1), // page 0 is none
	}
}

// add adds a message that arrives at a time, later than now by the least delay or more.
func (w *wheel[M]) add(now, at election.Ticks, m posted[M]) {
	if gone := now.Sub(w.base); w.count == 0 && w.read == len(w.due) {
		w.base, w.near = now, -1
	} else if gone.Lo >= w.width { // what lies between is empty
		steps := int(gone.Lo / w.width)
		w.base = w.base.Add(election.Units(uint64(steps) * w.width))
		w.first = (w.first + steps) % len(w.buckets)
		w.near -= steps
	}
	offset := at.Sub(w.base).Lo
	steps := int(offset / w.width)
	m.offset = uint16(offset % w.width)
	if w.near >= 0 && steps < w.near {
		w.near = steps
	}
	w.count++
	b := &w.buckets[(w.first+steps)%len(w.buckets)]
	if b.last == 0 || b.onLast == letterPage {
		page := w.page()
		if b.last == 0 {
			b.first = page
		} else {
			w.after[b.last] = page
		}
		b.last, b.onLast = page, 0
	}
	w.letters[int(b.last)*letterPage+b.onLast] = m
	b.onLast++
}

// page is a page to write on.
func (w *wheel[M]) page() uint32 {
	if page := w.blank; page != 0 {
		w.blank = w.after[page]
		w.after[page] = 0
		return page
	}
	w.letters = slices.Grow(w.letters, letterPage)
	w.letters = w.letters[:len(w.letters)+letterPage]
	w.after = append(w.after, 0)
	return uint32(len(w.after) - 1)
}

// soonest is a time before which nothing arrives, and whether anything will.
func (w *wheel[M]) soonest() (election.Ticks, bool) {
	if w.read < len(w.due) {
		return w.base.Add(election.Units(uint64(w.due[w.read].offset))), true
	}
	if w.count == 0 {
		return election.Ticks{}, false
	}
	if w.near < 0 {
		w.near = 0
		for w.buckets[(w.first+w.near)%len(w.buckets)].last == 0 {
			w.near++
		}
	}
	return w.base.Add(election.Units(uint64(w.near) * w.width)), true
}

// open turns to the next bucket that is not empty, if the one that is read is at its end. No message may
// be added any more that arrives before it begins.
func (w *wheel[M]) open(byPort bool) {
	if w.read < len(w.due) {
		return
	}
	w.base, _ = w.soonest()
	w.first = (w.first + w.near) % len(w.buckets)
	w.near = -1
	b := w.buckets[w.first]
	w.buckets[w.first] = bucket{}
	total := 0
	clear(w.byTime)
	for m := range w.of(b) {
		w.byTime[m.offset]++
		total++
	}
	w.count -= total
	w.due, w.read = slices.Grow(w.due[:0], total)[:total], 0
	before := uint32(0)
	for offset, count := range w.byTime {
		w.byTime[offset] = before
		before += count
	}
	for m := range w.of(b) {
		w.due[w.byTime[m.offset]] = *m
		w.byTime[m.offset]++
	}
	w.after[b.last], w.blank = w.blank, b.first
	if byPort {
		slices.SortStableFunc(w.due, func(m, n posted[M]) int { return int(m.port) - int(n.port) })
	}
}

// of are the messages of a bucket, in the order in which they were added.
func (w *wheel[M]) of(b bucket) func(yield func(*posted[M]) bool) {
	return func(yield func(*posted[M]) bool) {
		for page := b.first; page != 0; page = w.after[page] {
			size := letterPage
			if page == b.last {
				size = b.onLast
			}
			for i := range size {
				if !yield(&w.letters[int(page)*letterPage+i]) {
					return
				}
			}
		}
	}
}

// take takes the next message of the bucket that is read.
func (w *wheel[M]) take() (at election.Ticks, m *posted[M]) {
	m = &w.due[w.read]
	w.read++
	return w.base.Add(election.Units(uint64(m.offset))), m
}

func (w *wheel[M]) bytes(size int) int {
	return (cap(w.letters)+cap(w.due))*size + 4*cap(w.after) + 12*len(w.buckets)
}
