package transport

import (
	"container/list"
	"sync"
)

// The limits of a [Queue].
const (
	// QueueLength is the number of frames without a slot that may wait for a connection, or for a slow peer.
	QueueLength = 1 << 12

	// QueueBytes limits the memory of all frames that wait for one connection: their bytes, and placeBytes for each.
	QueueBytes = 8 << 20

	placeBytes = 128 // of a frame's place in a queue, in memory: a list element, and an entry of a map
)

// Queue holds the frames that wait for one connection. Each implementation of [Outgoing] needs one. Frames leave in the
// order in which they were sent. A frame with a slot replaces the waiting frame of that slot, and waits at the end:
// what is sent before it leaves before it. The zero value is an empty queue. Its methods may be called by any
// goroutine.
type Queue struct {
	mu      sync.Mutex
	waiting list.List                // of queued
	slots   map[uint64]*list.Element // the waiting frames with a slot
	bytes   int
	last    uint64 // the number of the newest frame
}

type queued struct {
	number uint64
	slot   uint64
	frame  []byte
}

// Put appends a frame; slot 0 is none. It reports whether there is room: if not, it drops the frame, and the connection
// must end, so that no later frame arrives without it. The caller does not change the frame any more.
func (q *Queue) Put(frame []byte, slot uint64) bool {
	q.mu.Lock()
	defer q.mu.Unlock()
	if old := q.slots[slot]; old != nil {
		q.remove(old)
	}
	ordered := q.waiting.Len() - len(q.slots)
	if slot == 0 && ordered >= QueueLength || q.bytes+len(frame)+placeBytes > QueueBytes {
		return false
	}
	q.last++
	q.bytes += len(frame) + placeBytes
	e := q.waiting.PushBack(queued{q.last, slot, frame})
	if slot != 0 {
		if q.slots == nil {
			q.slots = map[uint64]*list.Element{}
		}
		q.slots[slot] = e
	}
	return true
}

func (q *Queue) remove(e *list.Element) queued {
	f := q.waiting.Remove(e).(queued)
	q.bytes -= len(f.frame) + placeBytes
	delete(q.slots, f.slot)
	return f
}

// Take removes the first frame. It returns nil if there is none.
func (q *Queue) Take() (frame []byte, slot uint64) {
	q.mu.Lock()
	defer q.mu.Unlock()
	if e := q.waiting.Front(); e != nil {
		f := q.remove(e)
		return f.frame, f.slot
	}
	return nil, 0
}

// Empty reports whether no frame waits.
func (q *Queue) Empty() bool {
	q.mu.Lock()
	defer q.mu.Unlock()
	return q.waiting.Len() == 0
}

// Last returns the number of the newest frame that was put. Numbers begin with 1 and increase.
func (q *Queue) Last() uint64 {
	q.mu.Lock()
	defer q.mu.Unlock()
	return q.last
}

// Drop removes the frames up to a number, and reports whether there were any.
func (q *Queue) Drop(upTo uint64) bool {
	q.mu.Lock()
	defer q.mu.Unlock()
	dropped := false
	for e := q.waiting.Front(); e != nil && e.Value.(queued).number <= upTo; e = q.waiting.Front() {
		q.remove(e)
		dropped = true
	}
	return dropped
}
