package rig_test

import (
	"context"
	"errors"
	"io"
	"net"
	"os"
	"testing"
	"time"

	"ringleader.example/ringleader/internal/serve/rig"
)

// limit ends a test that would wait for ever.
const limit = 60 * time.Second

// linked returns both ends of a connection over a link.
func linked(t *testing.T) (l *rig.Link, from, to net.Conn) {
	t.Helper()
	there, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer there.Close()
	if l, err = rig.NewLink(there.Addr().String()); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(l.Close)
	if from, err = net.Dial("tcp", l.Address()); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { from.Close() })
	if to, err = there.Accept(); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { to.Close() })
	from.SetDeadline(time.Now().Add(limit))
	to.SetDeadline(time.Now().Add(limit))
	return l, from, to
}

func send(t *testing.T, c net.Conn, text string) {
	t.Helper()
	if _, err := c.Write([]byte(text)); err != nil {
		t.Fatal(err)
	}
}

// cut returns a way that is cut, and what tells that the link has a piece of data, which it would pass on now.
func cut() (rig.Way, <-chan struct{}) {
	has := make(chan struct{}, 1)
	return rig.Way{Cut: true, Delay: func() time.Duration {
		select {
		case has <- struct{}{}:
		default:
		}
		return 0
	}}, has
}

// silent checks that nothing arrives for a while after the link has something.
func silent(t *testing.T, has <-chan struct{}, c net.Conn) {
	t.Helper()
	<-has
	c.SetReadDeadline(time.Now().Add(50 * time.Millisecond))
	got := make([]byte, 9)
	if n, err := c.Read(got); err == nil {
		t.Errorf("%q arrives on a link that is cut", got[:n])
	}
	c.SetReadDeadline(time.Now().Add(limit))
}

// On a link that is cut nothing is lost, as with TCP, and nothing arrives.
func TestALinkHoldsBackWhatIsSentWhileItIsCut(t *testing.T) {
	const delayed = 30 * time.Millisecond
	l, from, to := linked(t)
	there, has := cut()
	l.Set(there, rig.Way{Cut: true})
	send(t, from, "held back")
	silent(t, has, to)
	l.Set(rig.Way{Delay: func() time.Duration { return delayed }}, rig.Way{})
	second := time.Now() // before it is sent: this goroutine may wait for a core afterwards
	send(t, from, "!")
	from.(*net.TCPConn).CloseWrite()
	all, err := io.ReadAll(to)
	if err != nil || string(all) != "held back!" || time.Since(second) < delayed {
		t.Errorf("%q arrives after %v, %v", all, time.Since(second), err)
	}
}

func TestALinkCanBeCutInOneDirection(t *testing.T) {
	l, from, to := linked(t)
	shut, has := cut()
	for _, c := range []struct {
		there, back rig.Way
		open, shut  [2]net.Conn
	}{
		{rig.Way{}, shut, [2]net.Conn{from, to}, [2]net.Conn{to, from}},
		{shut, rig.Way{}, [2]net.Conn{to, from}, [2]net.Conn{from, to}},
	} {
		l.Set(c.there, c.back)
		send(t, c.shut[0], "held back")
		send(t, c.open[0], "arrives")
		got := make([]byte, 7)
		if _, err := io.ReadFull(c.open[1], got); err != nil || string(got) != "arrives" {
			t.Errorf("%q, %v", got, err)
		}
		silent(t, has, c.shut[1])
		l.Set(rig.Way{}, rig.Way{})
		held := make([]byte, 9)
		if _, err := io.ReadFull(c.shut[1], held); err != nil || string(held) != "held back" {
			t.Errorf("%q, %v", held, err)
		}
	}
}

func TestAResetEndsTheConnectionsOfALink(t *testing.T) {
	l, from, to := linked(t)
	send(t, from, "x")
	if _, err := io.ReadFull(to, make([]byte, 1)); err != nil {
		t.Fatal(err)
	}
	l.Reset()
	for _, c := range []net.Conn{from, to} {
		if _, err := c.Read(make([]byte, 1)); err == nil || errors.Is(err, os.ErrDeadlineExceeded) {
			t.Errorf("the connection goes on: %v", err)
		}
	}
}

func TestALinkIsIdleWhenItsConnectionsHaveEnded(t *testing.T) {
	l, from, to := linked(t)
	send(t, from, "x") // what arrives was dialled over the link
	if _, err := to.Read(make([]byte, 1)); err != nil {
		t.Fatal(err)
	}
	soon, stop := context.WithTimeout(t.Context(), 50*time.Millisecond)
	defer stop()
	if err := l.Idle(soon); !errors.Is(err, context.DeadlineExceeded) {
		t.Errorf("a link with a connection is idle: %v", err)
	}
	ctx, stop := context.WithTimeout(t.Context(), limit)
	defer stop()
	from.Close()
	if err := l.Idle(ctx); err != nil {
		t.Errorf("a link without connections is not idle: %v", err)
	}
}
