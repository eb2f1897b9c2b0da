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
	count   int // messages in buckets
	buckets []bucket
	full    turns       // which of them are not empty
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
		full: newTurns(int((most+width)/width + 1)),
	}
}

// add adds a message that arrives at a time, later than now by the least delay or more.
func (w *wheel[M]) add(now, at election.Ticks, m posted[M]) {
	if gone := now.Sub(w.base); w.count == 0 && w.read == len(w.due) {
		w.base = now
	} else if gone.Lo >= w.width { // what lies between is empty
		steps := int(gone.Lo / w.width)
		w.base = w.base.Add(election.Units(uint64(steps) * w.width))
		w.first = (w.first + steps) % len(w.buckets)
	}
	offset := at.Sub(w.base).Lo
	steps := int(offset / w.width)
	m.offset = uint16(offset % w.width)
	w.count++
	number := w.first + steps
	if number >= len(w.buckets) {
		number -= len(w.buckets)
	}
	b := &w.buckets[number]
	if b.last == 0 || b.onLast == letterPage {
		page := w.page()
		if b.last == 0 {
			b.first = page
			w.full.set(number)
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
	return w.base.Add(election.Units(uint64(w.near()) * w.width)), true
}

// near is how far from the first bucket the first is that is not empty.
func (w *wheel[M]) near() int {
	near := w.full.from(w.first) - w.first
	if near < 0 {
		near += len(w.buckets)
	}
	return near
}

// open turns to the next bucket that is not empty, if the one that is read is at its end. No message may
// be added any more that arrives before it begins.
func (w *wheel[M]) open(byPort bool) {
	if w.read < len(w.due) {
		return
	}
	near := w.near()
	w.base = w.base.Add(election.Units(uint64(near) * w.width))
	w.first = (w.first + near) % len(w.buckets)
	b := w.buckets[w.first]
	w.buckets[w.first] = bucket{}
	w.full.clear(w.first)
	w.sort(b)
	w.count -= len(w.due)
	w.after[b.last], w.blank = w.blank, b.first
	if byPort {
		slices.SortStableFunc(w.due, func(m, n posted[M]) int { return int(m.port) - int(n.port) })
	}
}

// sort makes due of a bucket. Within a moment, the order of adding is kept.
func (w *wheel[M]) sort(b bucket) {
	w.due, w.read = w.due[:0], 0
	if few := b.first == b.last && b.onLast <= 16; few || w.width == 1 {
		for m := range w.of(b) {
			w.due = append(w.due, *m)
			for i := len(w.due) - 1; i > 0 && w.due[i].offset < w.due[i-1].offset; i-- {
				w.due[i], w.due[i-1] = w.due[i-1], w.due[i]
			}
		}
		return
	}
	clear(w.byTime)
	total := 0
	for m := range w.of(b) {
		w.byTime[m.offset]++
		total++
	}
	before := uint32(0)
	for offset, count := range w.byTime {
		w.byTime[offset] = before
		before += count
	}
	w.due = slices.Grow(w.due, total)[:total]
	for m := range w.of(b) {
		w.due[w.byTime[m.offset]] = *m
		w.byTime[m.offset]++
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

// bytes is what the wheel takes, whose messages take so much each.
func (w *wheel[M]) bytes(size int) int {
	return (cap(w.letters)+cap(w.due))*size + 4*cap(w.after) + 12*len(w.buckets)
}
