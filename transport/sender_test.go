package transport

import (
	"context"
	"errors"
	"net"
	"os"
	"testing"
	"time"
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

// patient notes what is written and for how long a write may take.
type patient struct {
	net.Conn
	written  []byte
	deadline time.Time
}

func (p *patient) SetWriteDeadline(at time.Time) error {
	p.deadline = at
	return nil
}

func (p *patient) Write(b []byte) (int, error) {
	if time.Until(p.deadline) <= 0 {
		return 0, os.ErrDeadlineExceeded
	}
	p.written = append(p.written, b...)
	return len(b), nil
}

func TestTheEndOfAWaitForAPeerEndsNoLaterWrite(t *testing.T) {
	p := &patient{}
	s := &sender{tcp: &tcp{Config: Config{Timing: Timing{Suspicion: time.Hour}}}, raw: &prompt{Conn: p, rest: []byte("rest")}}
	if err := s.drain(); err != nil || string(p.written) != "rest" || s.raw.rests() {
		t.Errorf("%q is written: %v", p.written, err)
	}
	if !p.deadline.IsZero() {
		t.Errorf("a write that comes after %v fails", p.deadline)
	}
}

// failing is a connection whose writes fail.
type failing struct{ net.Conn }

func (failing) Write([]byte) (int, error) { return 0, net.ErrClosed }

func TestAWriteThatFailsBreaksTheConnection(t *testing.T) {
	s := &sender{kick: make(chan struct{}, 1), conn: failing{}, raw: &prompt{}}
	if !s.hand([]byte{1}) || len(s.kick) != 1 {
		t.Error("the goroutine does not hear of it")
	}
	if err := s.flush(failing{}); !errors.Is(err, net.ErrClosed) {
		t.Errorf("the connection goes on: %v", err)
	}
	if s.hand([]byte{2}) {
		t.Error("a frame is written after one that is lost")
	}
}

func TestAFrameWaitsBehindTheQueue(t *testing.T) {
	p := &patient{deadline: time.Now().Add(time.Hour)}
	s := &sender{kick: make(chan struct{}, 1), conn: p, raw: &prompt{}}
	s.queue.Put([]byte("first"), 0)
	if s.hand([]byte("second")) {
		t.Errorf("%q is written, and another frame waits", p.written)
	}
}
