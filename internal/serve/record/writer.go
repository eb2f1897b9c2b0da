package record

import (
	"encoding/json"
	"errors"
	"sync"
	"sync/atomic"
	"time"
)

// errRemoved reports that what was written is there no more. The writer begins a new segment then.
var errRemoved = errors.New("the record was removed")

// Sink takes the segments of a [Writer]. Only one goroutine calls it.
type Sink interface {
	Begin(segment uint64) error           // what is written from now on belongs to this segment
	WriteAt(block []byte, at int64) error // at the end of the segment, or over its last block
	Close() error
}

// Held is how long the last entries may be in memory of the machine only: see [Head.Tail].
const Held = 10 * time.Second

// Options are the limits of a [Writer]. Zeros are the defaults.
type Options struct {
	Segment int             // how many bytes a segment has at most, but for a last block; 128 KiB
	Buffer  int             // how many bytes may wait until they are written; 1 MiB
	First   uint64          // the number of the first segment; 1
	Stopped func(err error) // is called, once, when the sink has failed: nothing is recorded any more
	Removed func()          // is called when the record was removed while it was written: it begins anew
	Pause   time.Duration   // steps that are as predicted wait for the first one that is so much later; 50 ms. What else there is does not wait

	// Shared lets the last entries be in memory that outlives the process, where the machine has it. Then steps that are as predicted wait for ten seconds, and what else there is for one.
	Shared bool

	directory string // of the record; empty: it is in none
}

const (
	// mostBlock is the payload with which a block is closed.
	mostBlock = 2 << 10

	defaultSegment = 128 << 10
	defaultBuffer  = 1 << 20
	defaultPause   = 50 * time.Millisecond

	// rest is how long what waits does so at most, if nothing else happens.
	rest = time.Second

	// restShared is likewise, where the end of the process loses nothing. What is notable waits for so long as newsShared.
	restShared = Held
	newsShared = time.Second
)

// Writer writes a record. Its methods may be called by any goroutine. None of them waits for the sink: what does not fit into the buffer is
// counted, and a [Gap] says so.
type Writer struct {
	options Options
	sink    Sink
	head    func() Head
	wake    chan struct{} // there is something to write now
	stop    chan struct{}
	stopped chan struct{}
	synced  *sync.Cond    // on mu: everything is written, or nothing will be
	overdue *time.Timer   // writes what waits if nothing else happens
	epoch   atomic.Uint64 // grows when a group loses its snapshot

	mu      sync.Mutex
	encoder *encoder
	groups  map[string]bool // those with a snapshot in this segment
	segment uint64
	size    int           // of the closed blocks of the segment
	block   []byte        // the one that grows, with room for its head; empty: none does
	number  int           // of it
	grown   bool          // it has grown since it was written
	since   time.Duration // the monotonic reading of the first entry since then
	news    bool          // an entry since then is notable
	newsAt  time.Duration // likewise of that
	closed  []chunk
	waits   int // bytes in closed
	full    bool
	lost    Gap
	end     bool // Close was called
	failed  bool
	writes  bool // some chunks are being written

	tail        *tail // nil: there is none
	incarnation uint64
	sequence    int // of the blocks

	gone bool // what was written last was removed; only the goroutine that writes looks
}

// chunk is what is to be written.
type chunk struct {
	segment uint64 // begins with this chunk; 0: it goes on
	at      int64
	bytes   []byte
}

// NewWriter returns a writer, which owns the sink. Head returns what each segment begins with, but for its number and version. It is called by
// methods of the writer, in the goroutine of their caller.
func NewWriter(sink Sink, head func() Head, o Options) *Writer {
	preset := func(n *int, value int) {
		if *n == 0 {
			*n = value
		}
	}
	preset(&o.Segment, defaultSegment)
	preset(&o.Buffer, defaultBuffer)
	if o.First == 0 {
		o.First = 1
	}
	if o.Pause == 0 {
		o.Pause = defaultPause
	}
	w := &Writer{
		options: o, sink: sink, head: head, segment: o.First - 1,
		wake: make(chan struct{}, 1), stop: make(chan struct{}), stopped: make(chan struct{}),
	}
	w.synced = sync.NewCond(&w.mu)
	w.epoch.Store(1)
	if o.Shared {
		w.tail = newTail(o.directory)
	}
	if w.tail != nil {
		w.options.Pause = restShared
	}
	w.overdue = time.AfterFunc(rest, w.now)
	go w.write()
	return w
}

// Wants reports whether the next step of a group needs a [Snapshot] before it. Last is for this method alone: it spares a group that has one the lookup.
func (w *Writer) Wants(group string, last *uint64) bool {
	if *last == w.epoch.Load() {
		return false
	}
	w.mu.Lock()
	defer w.mu.Unlock()
	w.full = w.full && (w.waits > 0 || w.writes)
	if w.groups[group] {
		*last = w.epoch.Load()
	}
	return !w.failed && !w.full && !w.groups[group]
}

// Checks reports whether the next step has to have a check.
func (w *Writer) Checks() bool {
	w.mu.Lock()
	defer w.mu.Unlock()
	return w.encoder == nil || w.encoder.due()
}

// Add records an entry. It keeps nothing of the body.
func (w *Writer) Add(at Clocks, group string, body Body) {
	w.mu.Lock()
	defer w.mu.Unlock()
	if w.failed || w.end {
		return
	}
	if _, step := body.(*Step); w.full && (step || w.waits > 0 || w.writes) { // a step needs a snapshot first
		if w.lost.Entries == 0 {
			w.lost.From = at
		}
		w.lost.Entries++
		return
	}
	if w.encoder == nil {
		w.fresh(at)
	}
	if w.lost.Entries > 0 {
		lost := w.lost
		w.lost = Gap{}
		w.add(at, "", &lost)
	}
	w.add(at, group, body)
	if w.full = w.waits > w.options.Buffer; w.full || w.size >= w.options.Segment || len(w.encoder.templates) >= maxClasses/2 {
		w.cut()
		w.leave()
	}
}

// leave ends the segment: the next entry begins another one, and each group wants a snapshot.
func (w *Writer) leave() {
	w.encoder, w.groups = nil, nil
	w.epoch.Add(1)
}

// fresh begins a segment.
func (w *Writer) fresh(at Clocks) {
	h := w.head()
	w.segment++
	h.Version, h.Segment = Version, w.segment
	if w.incarnation = h.Incarnation; w.tail != nil {
		h.Tail = w.tail.name
	}
	if h.Every < 1 {
		h.Every = 1
	}
	w.encoder, w.groups = newEncoder(&h), map[string]bool{}
	payload, err := json.Marshal(&h)
	if err != nil {
		panic(err) // it has plain values only
	}
	b := append(make([]byte, headSize, headSize+len(payload)), payload...)
	seal(b, blockHead)
	w.closed = append(w.closed, chunk{segment: w.segment, bytes: b})
	w.waits += len(b)
	w.now()
	w.sequence++
	w.tail.put(w.incarnation, w.segment, w.sequence, 0, blockHead, b[headSize:])
	w.size, w.number, w.block = len(b), 0, w.block[:0]
	w.open(at)
}

// open begins a block.
func (w *Writer) open(at Clocks) {
	w.number++
	w.sequence++
	w.block = w.encoder.begin(append(w.block[:0], make([]byte, headSize)...), w.number, at)
}

// cut closes the block that grows.
func (w *Writer) cut() {
	if len(w.block) == 0 {
		return
	}
	seal(w.block, blockEntries)
	w.closed = append(w.closed, chunk{at: int64(w.size), bytes: w.block})
	w.size += len(w.block)
	w.waits += len(w.block)
	w.block, w.grown = make([]byte, 0, min(cap(w.block), 2*mostBlock)), false
	w.now()
}

// add appends an entry to the block that grows.
func (w *Writer) add(at Clocks, group string, body Body) {
	if w.encoder.moves(at) {
		at.Monotonic, at.Boottime = w.clamp(at)
	}
	if len(w.block) == 0 {
		w.open(at)
	}
	predicted := false
	switch body := body.(type) {
	case *Step:
		w.block, predicted = w.encoder.step(w.block, at, group, body)
	default:
		switch body.(type) {
		case *Snapshot:
			w.groups[group] = true
		case *Group: // it has a new machine
			delete(w.groups, group)
			w.epoch.Add(1)
		}
		block, err := w.encoder.entry(w.block, at, group, body)
		if err != nil {
			panic(err) // bodies are plain values
		}
		w.block = block
	}
	if !w.grown {
		w.grown, w.since, w.news = true, at.Monotonic, false
		w.overdue.Reset(max(rest, w.options.Pause))
	}
	if _, late := body.(*Late); !predicted && !late && !w.news {
		w.news, w.newsAt = true, at.Monotonic
	}
	news := time.Duration(0)
	if w.tail.put(w.incarnation, w.segment, w.sequence, int64(w.size), blockEntries, w.block[headSize:]) {
		news = newsShared
	}
	if at.Monotonic-w.since >= w.options.Pause || w.news && at.Monotonic-w.newsAt >= news {
		w.now()
	}
	if len(w.block) >= mostBlock {
		w.cut()
	}
}

// now lets what waits be written. A goroutine that were woken for each predicted step would cost an idle member more than all else that is recorded.
func (w *Writer) now() {
	select {
	case w.wake <- struct{}{}:
	default:
	}
}

// clamp returns a reading that was overtaken by another goroutine's. If a clock was set back by more than that, a new block begins.
func (w *Writer) clamp(at Clocks) (monotonic, boottime time.Duration) {
	last := w.encoder.clocks().Boottime
	if last-at.Boottime < time.Second {
		return at.Monotonic + last - at.Boottime, last
	}
	w.cut()
	w.open(at)
	return at.Monotonic, at.Boottime
}

// write writes what waits, until the end of the writer.
func (w *Writer) write() {
	defer close(w.stopped)
	var tidying sync.WaitGroup
	defer tidying.Wait()
	var block []byte
	tidies := w.options.Shared && w.options.directory != "" // after the first write: until then no file names the tail
	for ending := false; !ending; {
		select {
		case <-w.wake:
		case <-w.stop:
			ending = true
		}
		var err error
		if block, err = w.writeAll(block); err != nil {
			w.fail(err)
			return
		}
		if tidies {
			tidies = false
			tidying.Go(func() { removeAbandoned(w.options.directory, mostAbandoned) }) // on a busy machine with many of them it takes long
		}
	}
	if err := w.sink.Close(); err != nil {
		w.fail(err)
		return
	}
	w.mu.Lock()
	w.forget()
	w.mu.Unlock()
}

// forget removes the tail: the sink has all, or takes no more.
func (w *Writer) forget() {
	w.overdue.Stop()
	if w.tail != nil {
		w.tail.close()
		w.tail = nil
	}
}

// writeAll writes what waits at this moment.
func (w *Writer) writeAll(block []byte) (_ []byte, err error) {
	w.mu.Lock()
	chunks, at, grown := w.closed, int64(w.size), w.grown
	w.closed, w.grown, w.writes = nil, false, true
	if block = block[:0]; grown {
		block = append(block, w.block...)
		seal(block, blockEntries)
	}
	w.mu.Unlock()
	written := 0
	for _, c := range chunks {
		if err == nil && c.segment != 0 {
			err = w.sink.Begin(c.segment)
		}
		if err == nil {
			err = w.sink.WriteAt(c.bytes, c.at)
		}
		written += len(c.bytes)
	}
	if err == nil && grown {
		err = w.sink.WriteAt(block, at)
	}
	w.mu.Lock()
	w.waits -= written
	w.writes = false
	removed := errors.Is(err, errRemoved)
	if removed {
		w.anew()
		err = nil
	}
	w.failed = err != nil // at once, so that nothing is added after a Sync that saw it
	w.synced.Broadcast()
	w.mu.Unlock()
	if removed && !w.gone && w.options.Removed != nil {
		w.options.Removed()
	}
	if len(chunks) > 0 || grown {
		w.gone = removed
	}
	return block, err
}

// anew lets the next entry begin a segment. What waits refers to one that is gone.
func (w *Writer) anew() {
	w.closed, w.block, w.waits, w.grown = nil, nil, 0, false
	w.leave()
}

// fail ends the record. The tail stays: it has the last entries, which tell most of what came before.
func (w *Writer) fail(err error) {
	w.mu.Lock()
	w.failed = true
	w.closed, w.block, w.waits = nil, nil, 0
	w.overdue.Stop()
	w.synced.Broadcast()
	w.mu.Unlock()
	_ = w.sink.Close() // it has failed already
	if w.options.Stopped != nil {
		w.options.Stopped(err)
	}
}

// Sync waits until all that was added is written. It flushes nothing.
func (w *Writer) Sync() {
	w.now()
	w.mu.Lock()
	defer w.mu.Unlock()
	for !w.failed && !w.end && (w.grown || w.waits > 0 || w.writes) {
		w.synced.Wait()
	}
}

// Close writes the rest and closes the sink, but waits no longer than some time for a sink that hangs: its goroutine is left then.
func (w *Writer) Close(most time.Duration) {
	w.mu.Lock()
	first := !w.end
	w.end = true
	w.synced.Broadcast()
	w.mu.Unlock()
	if first {
		close(w.stop)
	}
	limit := time.NewTimer(most)
	defer limit.Stop()
	select {
	case <-w.stopped:
	case <-limit.C:
		return
	}
	w.mu.Lock()
	defer w.mu.Unlock()
	if w.tail != nil { // the sink has failed
		w.tail.leave()
		w.tail = nil
	}
}
