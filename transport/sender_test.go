package transport

import (
	"context"
	"testing"
)

func TestWhatFollowsALostMessageIsLostToo(t *testing.T) {
	s := &sender{kick: make(chan struct{}, 1)}
	s.ctx, s.cancel = context.WithCancel(t.Context())
	for range QueueLength + 1 {
		s.Send([]byte{1}, 0)
	}
	s.queue.Take() // there is room again
	s.Send([]byte{2}, 0)
	s.Send([]byte{2}, 7)
	for left := QueueLength - 1; ; left-- {
		switch frame, _ := s.queue.Take(); {
		case frame == nil && left == 0:
			return
		case frame == nil || frame[0] != 1:
			t.Fatalf("%v is left with %d to come, though one before it was lost", frame, left)
		}
	}
}
