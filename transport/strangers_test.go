package transport

import (
	"context"
	"fmt"
	"io"
	"log/slog"
	"net"
	"sync/atomic"
	"syscall"
	"testing"
	"testing/synctest"
	"time"
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
		s.enter(waiting, hostOf(waiting.address.Name))
		var flood []*from
		for i := range 3 * MostStrangers {
			conn := test.flood(i)
			s.enter(conn, hostOf(conn.address.Name))
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

// pipes is a listener for connections that a test makes.
type pipes chan net.Conn

func (p pipes) Accept() (net.Conn, error) {
	conn, ok := <-p
	if !ok {
		return nil, net.ErrClosed
	}
	return conn, nil
}

func (p pipes) Close() error {
	close(p)
	return nil
}

func (p pipes) Addr() net.Addr { return &net.UnixAddr{Name: "127.0.0.1:1"} }

// busy is TLS on a processor that has no time for it.
type busy struct {
	TLS
	begun   atomic.Int32
	release chan struct{}
}

func (b *busy) bind(string, *slog.Logger) error { return nil }
func (b *busy) Problem() string                 { return "" }

func (b *busy) server(net.Conn) (net.Conn, string, error) {
	b.begun.Add(1)
	<-b.release
	return nil, "", io.EOF
}

// exhausted is a listener without file descriptors for a while.
type exhausted struct {
	pipes
	failures int
}

func (e *exhausted) Accept() (net.Conn, error) {
	if e.failures > 0 {
		e.failures--
		return nil, syscall.EMFILE
	}
	return e.pipes.Accept()
}

func TestAttemptsToAcceptThatFailTakeNoPlace(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		security, listener := &busy{release: make(chan struct{})}, &exhausted{make(pipes), 2 * mostWelcomes}
		end, err := TCP{TLS: security, Listener: listener}.Open(Config{
			Members: []Member{{ID: 1}}, Timing: Timing{Heartbeat: time.Second, Suspicion: time.Minute}, Log: slog.New(slog.DiscardHandler),
		})
		if err != nil {
			t.Fatal(err)
		}
		end.Serve()
		far, near := net.Pipe()
		select {
		case listener.pipes <- near:
		case <-time.After(time.Hour):
			t.Error("it accepts nothing any more")
		}
		far.Close()
		end.Close()
	})
}

func TestAFloodThatIsFasterThanTheProcessorWaitsInTheSystem(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		const flood = 2 * mostWelcomes
		security, listener := &busy{release: make(chan struct{})}, make(pipes)
		end, err := TCP{TLS: security, Listener: listener}.Open(Config{
			Members: []Member{{ID: 1}}, Timing: Timing{Heartbeat: time.Second, Suspicion: time.Minute}, Log: slog.New(slog.DiscardHandler),
		})
		if err != nil {
			t.Fatal(err)
		}
		end.Serve()
		go func() {
			for range flood {
				far, near := net.Pipe()
				listener <- near
				far.Write(append([]byte{tlsHandshake}, make([]byte, len(magic)-1)...))
			}
		}()
		synctest.Wait()
		if begun := security.begun.Load(); begun != mostWelcomes {
			t.Errorf("%d handshakes are under way", begun)
		}
		close(security.release)
		synctest.Wait()
		if begun := security.begun.Load(); begun != flood {
			t.Errorf("later, %d have begun", begun)
		}
		end.Close()
	})
}

// While a member that closes waits for its last words, its listener is closed already: that is no failure.
func TestAMemberThatClosesHasNotFailedToListen(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		dialed := make(chan struct{})
		end, err := TCP{Listener: make(pipes), Insecure: true, Dial: func(context.Context, string, string) (net.Conn, error) {
			close(dialed)
			<-time.After(time.Minute) // whatever the context says
			return nil, net.ErrClosed
		}}.Open(Config{
			Members: []Member{{ID: 1}, {ID: 2, Address: "127.0.0.1:2"}}, Timing: Timing{Heartbeat: time.Second, Suspicion: time.Hour}, Log: slog.New(slog.DiscardHandler),
			Post: func(event any) {
				if failed, is := event.(Failed); is {
					t.Error(failed.Err)
				}
			},
		})
		if err != nil {
			t.Fatal(err)
		}
		end.Serve()
		end.Dial(1, 0)
		<-dialed
		end.Close()
	})
}
