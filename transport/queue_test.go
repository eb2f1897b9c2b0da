package transport

import (
	"fmt"
	"slices"
	"testing"
)

// put puts frames into a queue: a letter, and a slot.
func put(t *testing.T, q *Queue, frames ...string) {
	t.Helper()
	for _, f := range frames {
		if !q.Put([]byte{f[0]}, uint64(f[1]-'0')) {
			t.Fatalf("no room for %s", f)
		}
	}
}

// take empties a queue.
func take(q *Queue) (frames []string) {
	for frame, slot := q.Take(); frame != nil; frame, slot = q.Take() {
		frames = append(frames, fmt.Sprintf("%s%d", frame, slot))
	}
	return frames
}

func TestTheLatestFrameOfASlotWaitsAtTheEnd(t *testing.T) {
	for _, test := range []struct{ put, want []string }{
		{[]string{"a0", "b0", "c0"}, []string{"a0", "b0", "c0"}},
		{[]string{"a7", "b0", "c7"}, []string{"b0", "c7"}},
		{[]string{"a7", "b8", "c7", "d0", "e8"}, []string{"c7", "d0", "e8"}},
	} {
		var q Queue
		put(t, &q, test.put...)
		if got := take(&q); !slices.Equal(got, test.want) {
			t.Errorf("of %v came %v, not %v", test.put, got, test.want)
		}
		put(t, &q, "z7") // the slot is free again
		if got := take(&q); !slices.Equal(got, []string{"z7"}) || q.bytes != 0 || len(q.slots) != 0 {
			t.Errorf("after it was empty, %v, %d bytes, %d slots", got, q.bytes, len(q.slots))
		}
	}
}

func TestAQueueIsBounded(t *testing.T) {
	var q Queue
	for slot := range uint64(QueueLength / 2) { // which do not count
		q.Put(make([]byte, 100), 1+slot)
	}
	for i := range 2 * QueueLength {
		if ok := q.Put([]byte{1}, 0); ok != (i < QueueLength) {
			t.Fatalf("frame %d has room: %v", i, ok)
		}
	}
	slots := QueueLength / 2
	for q.Put(make([]byte, 100), uint64(1+slots)) {
		slots++
	}
	if slots < 4*QueueLength || q.bytes > QueueBytes {
		t.Errorf("%d slots and %d bytes", slots, q.bytes)
	}
	for slot := range uint64(slots) { // in place of the old ones
		if !q.Put(make([]byte, 100), 1+slot) {
			t.Fatalf("no room for a newer frame in slot %d", 1+slot)
		}
	}
	if q.Drop(q.Last()); q.bytes != 0 || q.waiting.Len() != 0 {
		t.Errorf("all is dropped, and %d bytes are left in %d frames", q.bytes, q.waiting.Len())
	}
}

func TestWhatIsDroppedWasPutBefore(t *testing.T) {
	var q Queue
	if q.Drop(q.Last()) {
		t.Error("an empty queue drops something")
	}
	put(t, &q, "a0", "b7")
	before := q.Last()
	put(t, &q, "c0", "d7") // d replaces b
	if !q.Drop(before) || q.Drop(before) {
		t.Error("a is not dropped once")
	}
	if got := take(&q); !slices.Equal(got, []string{"c0", "d7"}) {
		t.Errorf("%v is left", got)
	}
}
