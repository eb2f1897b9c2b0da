package transport

import (
	"context"
	"testing"
)

func TestWhatFollowsALostMessageIsLostToo(t *testing.T) {
	s := &sender{queue: make(chan []byte, 2), kick: make(chan struct{}, 1)}
	s.ctx, s.cancel = context.WithCancel(t.Context())
	for frame := range byte(3) {
		s.Send([]byte{frame})
	}
	<-s.queue // there is room again
	s.Send([]byte{3})
	if frame := <-s.queue; frame[0] != 1 || len(s.queue) > 0 {
		t.Errorf("after 0 comes %d, and then %d more, though 2 was lost", frame[0], len(s.queue))
	}
}
