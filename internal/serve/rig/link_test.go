package rig

import (
	"context"
	"errors"
	"io"
	"net"
	"testing"
	"testing/synctest"
	"time"
)

// memory is a listener to which connections are handed.
type memory struct {
	net.Listener
	conns  chan net.Conn
	closed chan struct{}
}

func (m *memory) Accept() (net.Conn, error) {
	select {
	case c := <-m.conns:
		return c, nil
	case <-m.closed:
		return nil, net.ErrClosed
	}
}

func (m *memory) Close() error {
	close(m.closed)
	return nil
}

// linked tests both ends of a connection over a link, in a bubble: there, synctest.Wait tells that the link has done all that it does
// without more time or data.
func linked(t *testing.T, test func(t *testing.T, l *Link, from, to net.Conn)) {
	t.Helper()
	synctest.Test(t, func(t *testing.T) {
		listener := &memory{conns: make(chan net.Conn, 1), closed: make(chan struct{})}
		dialed := make(chan net.Conn, 1)
		l := newLink(listener, func() (net.Conn, error) {
			near, far := net.Pipe()
			dialed <- far
			return near, nil
		})
		defer l.Close()
		from, near := net.Pipe()
		listener.conns <- near
		to := <-dialed
		defer from.Close()
		defer to.Close()
		test(t, l, from, to)
	})
}

func send(t *testing.T, c net.Conn, text string) {
	t.Helper()
	if _, err := c.Write([]byte(text)); err != nil {
		t.Fatal(err)
	}
}

// receive expects a text that is on its way.
func receive(t *testing.T, c net.Conn, want string) {
	t.Helper()
	got := make([]byte, len(want))
	if _, err := io.ReadFull(c, got); err != nil || string(got) != want {
		t.Errorf("%q arrives, %v; want %q", got, err, want)
	}
}

// silent checks that nothing arrives, however long one waits.
func silent(t *testing.T, c net.Conn) {
	t.Helper()
	c.SetReadDeadline(time.Now().Add(24 * time.Hour))
	got := make([]byte, 9)
	if n, err := c.Read(got); err == nil {
		t.Errorf("%q arrives on a link that is cut", got[:n])
	}
	c.SetReadDeadline(time.Time{})
}

// On a link that is cut nothing is lost, as with TCP, and nothing arrives.
func TestALinkHoldsBackWhatIsSentWhileItIsCut(t *testing.T) {
	linked(t, func(t *testing.T, l *Link, from, to net.Conn) {
		const delayed = 30 * time.Millisecond
		l.Set(Way{Cut: true}, Way{Cut: true})
		send(t, from, "held back")
		silent(t, to)
		l.Set(Way{Delay: func() time.Duration { return delayed }}, Way{})
		receive(t, to, "held back")
		sent := time.Now()
		send(t, from, "!")
		from.Close()
		rest, err := io.ReadAll(to)
		if err != nil || string(rest) != "!" || time.Since(sent) != delayed {
			t.Errorf("%q arrives after %v, %v", rest, time.Since(sent), err)
		}
	})
}

func TestALinkCanBeCutInOneDirection(t *testing.T) {
	linked(t, func(t *testing.T, l *Link, from, to net.Conn) {
		for _, c := range []struct {
			there, back Way
			open, shut  [2]net.Conn
		}{
			{Way{}, Way{Cut: true}, [2]net.Conn{from, to}, [2]net.Conn{to, from}},
			{Way{Cut: true}, Way{}, [2]net.Conn{to, from}, [2]net.Conn{from, to}},
		} {
			l.Set(c.there, c.back)
			send(t, c.shut[0], "held back")
			send(t, c.open[0], "arrives")
			receive(t, c.open[1], "arrives")
			silent(t, c.shut[1])
			l.Set(Way{}, Way{})
			receive(t, c.shut[1], "held back")
		}
	})
}

func TestAResetEndsTheConnectionsOfALink(t *testing.T) {
	linked(t, func(t *testing.T, l *Link, from, to net.Conn) {
		send(t, from, "x")
		receive(t, to, "x")
		l.Reset()
		for _, c := range []net.Conn{from, to} {
			if n, err := c.Read(make([]byte, 1)); !errors.Is(err, io.EOF) {
				t.Errorf("the connection goes on: %d bytes, %v", n, err)
			}
		}
	})
}

func TestALinkIsIdleWhenItsConnectionsHaveEnded(t *testing.T) {
	linked(t, func(t *testing.T, l *Link, from, to net.Conn) {
		ctx, stop := context.WithTimeout(t.Context(), 24*time.Hour)
		defer stop()
		if err := l.Idle(ctx); !errors.Is(err, context.DeadlineExceeded) {
			t.Errorf("a link with a connection is idle: %v", err)
		}
		from.Close()
		if err := l.Idle(t.Context()); err != nil {
			t.Errorf("a link without connections is not idle: %v", err)
		}
	})
}

// A link over TCP carries both directions.
func TestALinkIsOfTCP(t *testing.T) {
	there, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer there.Close()
	l, err := NewLink(there.Addr().String())
	if err != nil {
		t.Fatal(err)
	}
	defer l.Close()
	from, err := net.Dial("tcp", l.Address())
	if err != nil {
		t.Fatal(err)
	}
	defer from.Close()
	to, err := there.Accept()
	if err != nil {
		t.Fatal(err)
	}
	defer to.Close()
	send(t, from, "there")
	receive(t, to, "there")
	send(t, to, "back")
	receive(t, from, "back")
}
