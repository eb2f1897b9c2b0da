package transport_test

import (
	"fmt"
	"net"
	"testing"
	"time"

	"ringleader.example/ringleader/transport"
)

// Sockets of the operating system reset what the transport in memory only closes.
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
		dialed, arrived := make(chan error, 1), make(chan string, 1)
		var members []transport.Member
		var listeners []net.Listener
		for id := range uint64(2) {
			l, err := net.Listen("tcp", "127.0.0.1:0")
			if err != nil {
				t.Fatal(err)
			}
			listeners, members = append(listeners, l), append(members, transport.Member{ID: id + 1, Address: l.Addr().String()})
		}
		var ends []transport.Transport
		for i, l := range listeners {
			c := config(uint64(i + 1))
			c.Members, c.Timing.Suspicion = members, time.Minute
			c.Post = func(event any) {
				switch e := event.(type) {
				case transport.Asked:
					e.Answer <- transport.Verdict{}
				case transport.Arrived:
					e.In.Admit(true)
				case transport.Message:
					arrived <- fmt.Sprintf("%d: %s", e.Kind, e.Payload)
				case transport.Dialed:
					select {
					case dialed <- e.Err:
					default: // a later attempt
					}
				}
			}
			o := transport.TCP{Listener: l}
			if test.secure[i] {
				o.TLS = ca.member(t, uint64(i+1))
			}
			end, err := o.Open(c)
			if err != nil {
				t.Fatal(err)
			}
			end.Serve()
			ends = append(ends, end)
		}
		out := ends[0].Dial(1, 0)
		if err := <-dialed; text(err) != test.want {
			t.Errorf("TLS %v: %v", test.secure, err)
		} else if err == nil {
			out.Send(frame(3, "abc"), 0)
			if got := <-arrived; got != "3: abc" {
				t.Errorf("TLS %v: %s", test.secure, got)
			}
		}
		for _, end := range ends {
			end.Close()
		}
	}
}
