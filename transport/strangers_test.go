package transport

import (
	"fmt"
	"net"
	"testing"
)

// from is a connection of which only the other end, and whether it was closed, is known.
type from struct {
	net.Conn
	address net.UnixAddr
	closed  bool
}

func (f *from) RemoteAddr() net.Addr { return &f.address }

func (f *from) Close() error {
	f.closed = true
	return nil
}

func connection(format string, args ...any) *from {
	return &from{address: net.UnixAddr{Name: fmt.Sprintf(format, args...)}}
}

func TestAFloodClosesItsOwnConnections(t *testing.T) {
	for _, test := range []struct {
		name    string
		flood   func(i int) *from
		waiting string // where a connection comes from that was there before
		closed  bool
	}{
		{"one host", func(i int) *from { return connection("10.0.0.66:%d", i) }, "10.0.0.67:1", false},
		{"one host of IPv6", func(i int) *from { return connection("[2001:db8::66]:%d", i) }, "[2001:db8::67]:1", false},
		{"many hosts, before a member", func(i int) *from { return connection("10.0.1.%d:1", i) }, "10.0.0.2:5", false},
		{"many hosts, before another", func(i int) *from { return connection("10.0.1.%d:1", i) }, "10.0.0.67:1", true},
		{"the host of a member", func(i int) *from { return connection("10.0.0.3:%d", i) }, "10.0.0.2:5", false},
		{"the host of a member, before another", func(i int) *from { return connection("10.0.0.3:%d", i) }, "10.0.0.67:1", true},
		{"two hosts", func(i int) *from { return connection("10.0.0.%d:1", 66+i%2) }, "10.0.0.2:5", false},
	} {
		var s strangers
		s.isMember("10.0.0.2:7001")
		s.isMember("10.0.0.3:7001")
		waiting := connection("%s", test.waiting)
		s.enter(waiting)
		var flood []*from
		for i := range 3 * MostStrangers {
			conn := test.flood(i)
			s.enter(conn)
			flood = append(flood, conn)
		}
		open := 0
		for _, conn := range append(flood, waiting) {
			if !conn.closed {
				open++
			}
		}
		if waiting.closed != test.closed || open != MostStrangers || !flood[0].closed || flood[len(flood)-1].closed {
			t.Errorf("%s: what waited is closed: %v; %d are open; the oldest of the flood is closed: %v, the last: %v",
				test.name, waiting.closed, open, flood[0].closed, flood[len(flood)-1].closed)
		}
		for _, conn := range flood {
			s.leave(conn)
		}
		if s.leave(waiting); len(s.conns) > 0 {
			t.Errorf("%s: all have left, and %d are there", test.name, len(s.conns))
		}
	}
}
