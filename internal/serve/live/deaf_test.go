package live

import (
	"context"
	"net"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"ringleader.example/ringleader/transport"
)

// cutIn is the cut of all that leads to a member. Nothing arrives, so that acknowledgements do not, either: after a while the system holds
// back what the member sends on connections on which it has sent before.
type cutIn struct{ deaf, held atomic.Bool }

// hearing is a connection of that member.
type hearing struct {
	net.Conn
	cut    *cutIn
	dialed bool // by this member, which has sent on it
}

func (h *hearing) Read(b []byte) (n int, err error) {
	for {
		if n, err = h.Conn.Read(b); err != nil || !h.cut.deaf.Load() {
			return n, err
		}
	}
}

func (h *hearing) Write(b []byte) (int, error) {
	if h.dialed && h.cut.held.Load() {
		return len(b), nil
	}
	return h.Conn.Write(b)
}

// ears is where the others dial that member.
type ears struct {
	net.Listener
	cut *cutIn
}

func (e *ears) Accept() (net.Conn, error) {
	conn, err := e.Listener.Accept()
	if err != nil {
		return nil, err
	}
	return &hearing{conn, e.cut, false}, nil
}

// open is the transport of a member of a network that a cut concerns.
func (c *cutIn) open(listener net.Listener, dial func(context.Context, string, string) (net.Conn, error)) transport.Open {
	return transport.TCP{Insecure: true, Listener: &ears{listener, c}, Dial: func(ctx context.Context, kind, to string) (net.Conn, error) {
		conn, err := dial(ctx, kind, to)
		if err != nil {
			return nil, err
		}
		return &hearing{conn, c, true}, nil
	}}.Open
}

// The lease runs from the last renewal that a majority answered, at latest until one length after the cut. The others extend their promises with each
// renewal that still arrives, so they would wait until long after that.
func TestALeaderThatNothingReachesIsReplacedWhenItsLeaseEnds(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		c, _ := leased(t, 3)
		defer c.stopAll()
		c.over = nil
		var cut cutIn
		c.opens = map[uint64]transport.Open{3: cut.open(c.network.Listen(at(3)), c.network.Dialer(at(3)))}
		c.start(1, 2, 3)
		c.follow(3)
		settle()
		begun := time.Now()
		cut.deaf.Store(true)
		<-time.After(lease / 2)
		cut.held.Store(true)
		c.until(2, "leads", leads)
		const election = 10 * time.Millisecond
		if took := time.Since(begun); took > lease+election {
			t.Errorf("it took %v, longer than a lease of %v and an election", took, lease)
		}
	})
}
