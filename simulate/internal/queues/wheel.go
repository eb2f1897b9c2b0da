package queues

import (
	"slices"

	"ringleader.example/ringleader/election"
	"ringleader.example/ringleader/internal/core/process"
)

// Wheel is a calendar of messages that arrive within a bounded time. A bucket is at most as wide as the shortest
// delay, so that nothing is added to the bucket that is read: it is sorted once, when its time comes. Within a moment
// messages keep the order in which they were added; in a synchronous run that of ports.
//
// A heap costs a cache miss for every level of every message; a bucket is read sequentially. If a bucket is in order
// already, it is read page by page, and a page that has been read is the next one for writing.
type Wheel struct {
	width   uint64 // of a bucket, in ticks
	base    election.Ticks
	first   int // the bucket that begins at base
	count   int // messages in buckets
	buckets []bucket
	full    Turns    // which of them are not empty
	pages   []*page  // they never move, so that many of them leave no smaller copies behind
	after   []uint32 // by page: the next one of its bucket, or of the blank ones
	blank   uint32   // a page; 0: none
	byPort  bool     // within a moment, ports matter
	due     []Posted // the messages that are read: a bucket, sorted, or a page of it that is in order
	read    int      // how many of them have been read
	open    bucket   // the pages from the one that is read on, if they are in order
	byTime  []uint32 // the number of messages of a bucket that are due at each of its moments
}

type page [letterPage]Posted

// Letter is a message on a link.
type Letter struct {
	Link    uint32 // as in [process.Sent]
	Message process.Message
}

// On returns the directed link that the message left on.
func (l *Letter) On() uint32 { return l.Link >> 4 }

// Kind returns the kind of the message.
func (l *Letter) Kind() election.Kind { return election.Kind(l.Link & 15) }

// Posted is a message in a bucket.
type Posted struct {
	Letter
	Number uint32 // in the record
	Port   election.Port
	offset uint8 // its arrival, after the begin of its bucket
	Lost   bool  // it will not arrive
}

// bucket is a list of pages, of which the last is not full.
type bucket struct {
	first, last uint32
	onLast      int
}

const (
	letterPage = 64
	mostWidth  = 1 << 8  // as many as there are offsets
	MostDelay  = 1 << 16 // a wheel for longer ones would have too many buckets
)

// NewWheel returns a wheel for delays from least to most ticks.
func NewWheel(least, most uint64, byPort bool) *Wheel {
	width := min(least, mostWidth)
	return &Wheel{
		width: width, buckets: make([]bucket, (most+width)/width+1), byTime: make([]uint32, width), byPort: byPort,
		pages: make([]*page, 1), after: make([]uint32, 1), // page 0 is none
		full: NewTurns(int((most+width)/width + 1)),
	}
}

// Add adds a message that arrives at a time, later than now by at least the least delay.
func (w *Wheel) Add(now, at election.Ticks, m *Posted) {
	if gone := now.Sub(w.base); w.count == 0 && w.read == len(w.due) {
		w.base = now
	} else if gone.Lo >= w.width { // the buckets between are empty
		steps := int(gone.Lo / w.width)
		w.base = w.base.Add(election.Units(uint64(steps) * w.width))
		w.first = (w.first + steps) % len(w.buckets)
	}
	offset := at.Sub(w.base).Lo
	steps := int(offset / w.width)
	m.offset = uint8(offset % w.width)
	w.count++
	number := w.first + steps
	if number >= len(w.buckets) {
		number -= len(w.buckets)
	}
	b := &w.buckets[number]
	if b.last == 0 || b.onLast == letterPage {
		page := w.fresh()
		if b.last == 0 {
			b.first = page
			w.full.Set(number)
		} else {
			w.after[b.last] = page
		}
		b.last, b.onLast = page, 0
	}
	w.pages[b.last][b.onLast] = *m
	b.onLast++
}

// fresh returns a page to write on.
func (w *Wheel) fresh() uint32 {
	if w.blank == 0 {
		block := make([]page, 1+len(w.pages)/8) // few are made, and few too many
		for i := range block {
			w.pages = append(w.pages, &block[i])
			w.after = append(w.after, w.blank)
			w.blank = uint32(len(w.pages) - 1)
		}
	}
	page := w.blank
	w.blank = w.after[page]
	w.after[page] = 0
	return page
}

// Waiting reports whether any message will arrive.
func (w *Wheel) Waiting() bool {
	if w.read == len(w.due) && w.open.first != 0 {
		w.turn()
	}
	return w.read < len(w.due) || w.count > 0
}

// Soonest returns a time before which nothing arrives, if anything will.
func (w *Wheel) Soonest() election.Ticks {
	if w.read < len(w.due) {
		return w.base.Add(election.Units(uint64(w.due[w.read].offset)))
	}
	return w.base.Add(election.Units(uint64(w.near()) * w.width))
}

// near returns the distance from the first bucket to the first that is not empty.
func (w *Wheel) near() int {
	near := w.full.From(w.first) - w.first
	if near < 0 {
		near += len(w.buckets)
	}
	return near
}

// Next advances to the next bucket that is not empty, if the current one has been read. No message may be added any
// more that arrives before it begins.
func (w *Wheel) Next() {
	if w.read < len(w.due) {
		return
	}
	near := w.near()
	w.base = w.base.Add(election.Units(uint64(near) * w.width))
	w.first = (w.first + near) % len(w.buckets)
	b := w.buckets[w.first]
	w.buckets[w.first] = bucket{}
	w.full.Clear(w.first)
	if w.inOrder() {
		w.open = b
		w.show()
		return
	}
	w.sort(b)
	w.count -= len(w.due)
	w.after[b.last], w.blank = w.blank, b.first
	if w.byPort {
		slices.SortStableFunc(w.due, func(m, n Posted) int { return int(m.Port) - int(n.Port) })
	}
}

// inOrder reports whether buckets can be read without sorting.
func (w *Wheel) inOrder() bool { return w.width == 1 && !w.byPort }

// show makes the first page of the open bucket due.
func (w *Wheel) show() {
	w.due, w.read = w.pages[w.open.first][:w.open.onPage(w.open.first)], 0
	w.count -= len(w.due)
}

// turn turns the page that has been read, and clears it.
func (w *Wheel) turn() {
	done := w.open.first
	w.open.first = w.after[done]
	w.after[done], w.blank = w.blank, done
	if w.open.first != 0 {
		w.show()
	}
}

// onPage returns the number of messages on a page of the bucket.
func (b *bucket) onPage(page uint32) int {
	if page == b.last {
		return b.onLast
	}
	return letterPage
}

// sort makes the messages of a bucket due. Within a moment, the order of adding is kept.
func (w *Wheel) sort(b bucket) {
	total := 0
	for page := range w.of(b) {
		total += len(page)
	}
	w.due, w.read = slices.Grow(w.due[:0], total), 0
	if total > 16 && w.width > 1 {
		w.sortMany(b, total)
		return
	}
	for page := range w.of(b) {
		w.due = append(w.due, page...)
	}
	for i := range w.due {
		for ; i > 0 && w.due[i].offset < w.due[i-1].offset; i-- {
			w.due[i], w.due[i-1] = w.due[i-1], w.due[i]
		}
	}
}

// sortMany is sort for many messages: it counts how many are due at each moment.
func (w *Wheel) sortMany(b bucket, total int) {
	clear(w.byTime)
	for page := range w.of(b) {
		for i := range page {
			w.byTime[page[i].offset]++
		}
	}
	before := uint32(0)
	for offset, count := range w.byTime {
		w.byTime[offset] = before
		before += count
	}
	w.due = w.due[:total]
	for page := range w.of(b) {
		for i := range page {
			m := &page[i]
			w.due[w.byTime[m.offset]] = *m
			w.byTime[m.offset]++
		}
	}
}

// of yields the pages of a bucket, in the order in which they were written.
func (w *Wheel) of(b bucket) func(yield func([]Posted) bool) {
	return func(yield func([]Posted) bool) {
		for page := b.first; page != 0; page = w.after[page] {
			if !yield(w.pages[page][:b.onPage(page)]) {
				return
			}
		}
	}
}

// Ready reports whether a message of the current bucket is unread.
func (w *Wheel) Ready() bool { return w.read < len(w.due) }

// Head returns the port of the next message of the current bucket.
func (w *Wheel) Head() election.Port { return w.due[w.read].Port }

// Take takes the next message of the current bucket.
func (w *Wheel) Take() (at election.Ticks, m *Posted) {
	m = &w.due[w.read]
	w.read++
	return w.base.Add(election.Units(uint64(m.offset))), m
}

// Bytes returns the memory of the wheel, for messages of that size.
func (w *Wheel) Bytes(size int) int {
	all := len(w.pages)*letterPage*size + 8*cap(w.pages) + 4*cap(w.after) + 16*len(w.buckets)
	if !w.inOrder() { // otherwise due is a page
		all += cap(w.due) * size
	}
	return all
}
