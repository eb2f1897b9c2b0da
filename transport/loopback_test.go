package transport_test

import (
	"encoding/binary"
	"fmt"
	"net"
	"testing"
	"time"

	"ringleader.example/ringleader/transport"
)

// sockets are two members with sockets of the operating system, which reset what the transport in memory only closes, and take no more than there is room for.
type sockets struct {
	one, two transport.Transport
	dialed   chan error
	arrived  chan transport.Message // none is taken
	broken   chan error
}

// newSockets starts the members. Those that are secure use TLS.
func newSockets(t *testing.T, ca *authority, secure [2]bool) *sockets {
	t.Helper()
	s := &sockets{dialed: make(chan error, 1), arrived: make(chan transport.Message), broken: make(chan error, 1)}
	var members []transport.Member
	var listeners []net.Listener
	for id := range uint64(2) {
		l, err := net.Listen("tcp", "127.0.0.1:0")
		if err != nil {
			t.Fatal(err)
		}
		listeners, members = append(listeners, l), append(members, transport.Member{ID: id + 1, Address: l.Addr().String()})
	}
	for i, end := range []*transport.Transport{&s.one, &s.two} {
		c := config(uint64(i + 1))
		c.Members, c.Timing.Suspicion = members, time.Minute
		c.Post = func(event any) { s.post(t, event) }
		o := transport.TCP{Listener: listeners[i]}
		if secure[i] {
			o.TLS = ca.member(t, uint64(i+1))
		}
		var err error
		if *end, err = o.Open(c); err != nil {
			t.Fatal(err)
		}
		(*end).Serve()
		t.Cleanup((*end).Close)
	}
	return s
}

func (s *sockets) post(t *testing.T, event any) {
	switch e := event.(type) {
	case transport.Asked:
		e.Answer <- transport.Verdict{}
	case transport.Arrived:
		e.In.Admit(true)
	case transport.Message:
		select {
		case s.arrived <- e:
		case <-t.Context().Done():
		}
	case transport.Dialed:
		select {
		case s.dialed <- e.Err:
		default: // a later attempt
		}
	case transport.Broken:
		select {
		case s.broken <- e.Err:
		case <-t.Context().Done():
		}
	}
}

// connect connects the first member to the second.
func (s *sockets) connect(t *testing.T) transport.Outgoing {
	t.Helper()
	out := s.one.Dial(1, 0)
	if err := <-s.dialed; err != nil {
		t.Fatal(err)
	}
	return out
}

func TestConnectionsOfTheSystemKeepTheReason(t *testing.T) {
	ca := newAuthority(t)
	for _, test := range []struct {
		secure [2]bool
		want   string
	}{
		{[2]bool{false, false}, ""},
		{[2]bool{true, true}, ""},
		{[2]bool{true, false}, "it does not use TLS, and this member does"},
		{[2]bool{false, true}, "refused: member 2 takes only connections with TLS"},
	} {
		s := newSockets(t, ca, test.secure)
		out := s.one.Dial(1, 0)
		if err := <-s.dialed; text(err) != test.want {
			t.Errorf("TLS %v: %v", test.secure, err)
		} else if err == nil {
			out.Send(frame(3, "abc"), 0)
			if got := <-s.arrived; got.Kind != 3 || string(got.Payload) != "abc" {
				t.Errorf("TLS %v: %d: %s", test.secure, got.Kind, got.Payload)
			}
		}
	}
}

// The member itself writes to a socket. It never waits for a peer that does not read, and no frame is lost or passes another one: not in what the system has
// taken, nor in what it had no room for, nor in the queue.
func TestAMemberDoesNotWaitForAPeerThatDoesNotRead(t *testing.T) {
	ca := newAuthority(t)
	for _, secure := range []bool{false, true} {
		t.Run(fmt.Sprintf("TLS %v", secure), func(t *testing.T) {
			s := newSockets(t, ca, [2]bool{secure, secure})
			out := s.connect(t)
			const frames, length = transport.QueueLength / 2, 3000 // more than a socket has room for, and not more than the queue has
			next := uint32(0)
			take := func() {
				var m transport.Message
				select {
				case m = <-s.arrived:
				case err := <-s.broken:
					t.Fatalf("after %d frames the connection breaks: %v", next, err)
				}
				if got := binary.BigEndian.Uint32(m.Payload); got != next || len(m.Payload) != length {
					t.Fatalf("frame %d of %d bytes arrives in place of frame %d", got, len(m.Payload), next)
				}
				next++
				m.In.Taken()
			}
			for round := range uint32(3) {
				for i := range uint32(frames) {
					payload := make([]byte, length)
					binary.BigEndian.PutUint32(payload, round*frames+i)
					out.Send(transport.AppendFrame(nil, 3, payload), 0)
				}
				for range frames {
					take()
				}
			}
			out.Close()
			if err := <-s.broken; err == nil {
				t.Error("the end of a connection has no reason")
			}
		})
	}
}

func TestWhatWaitsForAPeerHasALimit(t *testing.T) {
	s := newSockets(t, newAuthority(t), [2]bool{true, true})
	out := s.connect(t)
	payload := make([]byte, 3000)
	for range 10 * transport.QueueLength {
		out.Send(transport.AppendFrame(nil, 3, payload), 0)
	}
	select { // another goroutine tells it, which may get no processor before all are sent
	case <-s.broken:
	case <-time.After(2 * time.Minute):
		t.Error("120 MB wait")
	}
}

func TestAConnectionBreaksAtTheFirstWriteThatFails(t *testing.T) {
	s := newSockets(t, newAuthority(t), [2]bool{true, true})
	out := s.connect(t)
	s.two.Close()
	for {
		out.Send(frame(3, "abc"), 0)
		select {
		case err := <-s.broken:
			if err == nil {
				t.Error("no reason")
			}
			return
		default:
		}
	}
}
