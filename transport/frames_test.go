package transport_test

import (
	"context"
	"errors"
	"net"
	"slices"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"ringleader.example/ringleader/transport"
	"ringleader.example/ringleader/transport/transporttest"
)

// counted notes the writes on a connection.
type counted struct {
	net.Conn
	mu     sync.Mutex
	writes [][]byte
}

func (c *counted) Write(b []byte) (int, error) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.writes = append(c.writes, slices.Clone(b))
	return c.Conn.Write(b)
}

// since returns the writes after the first n.
func (c *counted) since(n int) [][]byte {
	synctest.Wait()
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.writes[n:]
}

// pair connects member 1 to member 2, and notes what 1 writes.
func pair(t *testing.T, n lan) (one, two *host, out transport.Outgoing, wire *counted) {
	t.Helper()
	two = n.host(2, nil)
	tcp := n.tcp(1, nil)
	dial := tcp.Dial
	tcp.Dial = func(ctx context.Context, network, address string) (net.Conn, error) {
		conn, err := dial(ctx, network, address)
		wire = &counted{Conn: conn}
		return wire, err
	}
	one = open(t, tcp.Open, config(1))
	out, err := one.dials(t, 2)
	if err != nil {
		t.Fatal(err)
	}
	return one, two, out, wire
}

func frame(kind uint8, text string) []byte { return transport.AppendFrame(nil, kind, []byte(text)) }

func TestWhatIsQueuedLeavesInOneWrite(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		n := newLAN(t)
		two := n.host(2, nil)
		defer two.t.Close()
		var wire *counted
		tcp := n.tcp(1, nil)
		dial := tcp.Dial
		tcp.Dial = func(ctx context.Context, network, address string) (net.Conn, error) {
			conn, err := dial(ctx, network, address)
			wire = &counted{Conn: conn}
			return wire, err
		}
		one := open(t, tcp.Open, config(1))
		defer one.t.Close()
		out := one.t.Dial(1, time.Second)
		out.Send(frame(1, "a"), 0)
		out.Send(frame(2, "b"), 7)
		out.Send(frame(3, "c"), 0)
		out.Send(frame(4, "d"), 7)
		out.Send(frame(0x10, "e"), 0)
		<-time.After(time.Second)
		got := noted(two, func() []string { return two.messages })
		if want := []string{"1 from 1: a", "3 from 1: c", "4 from 1: d", "16 from 1: e"}; !slices.Equal(got, want) {
			t.Errorf("%q arrived, not %q", got, want)
		}
		if writes := wire.since(2); len(writes) != 1 { // after the Hello and its confirmation
			t.Errorf("they left in %d writes", len(writes))
		}
	})
}

func TestAnAttemptToConnectThatFailsLosesWhatWasQueuedBeforeIt(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		n := newLAN(t)
		one := n.host(1, nil)
		defer one.t.Close()
		n.Separate(1, at(2))
		out := one.t.Dial(1, time.Second)
		out.Send(frame(1, "a"), 0)
		out.Send(frame(1, "b"), 7)
		<-time.After(time.Second + suspicion/2)
		out.Send(frame(1, "c"), 0)
		out.Send(frame(1, "d"), 8)
		<-time.After(suspicion)
		two := n.host(2, nil)
		defer two.t.Close()
		n.Separate(0, at(2))
		<-time.After(transport.MostPause)
		if got := noted(two, func() []string { return two.messages }); !slices.Equal(got, []string{"1 from 1: c", "1 from 1: d"}) {
			t.Errorf("%q arrived", got)
		}
	})
}

func TestAHeartbeatIsDueOnlyIfNoFrameHasLeftSinceTheLastOne(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		one, two, out, wire := pair(t, newLAN(t))
		defer one.t.Close()
		defer two.t.Close()
		before := len(wire.since(0))
		a := frame(1, "a")
		for _, step := range []struct {
			name          string
			sends, seldom bool
			want          [][]byte // writes
		}{
			{"nothing was sent", false, false, [][]byte{transport.HeartbeatFrame}},
			{"a frame was sent", true, false, [][]byte{a}},
			{"nothing was sent since", false, false, [][]byte{transport.HeartbeatFrame}},
			{"a frame was sent, and the next call takes longer", true, true, [][]byte{a, transport.SeldomFrame}},
			{"a frame was sent, and all is as before", true, true, [][]byte{a}},
			{"nothing was sent since, and all is as before", false, true, [][]byte{transport.SeldomFrame}},
			{"a frame was sent, and the next call does not take longer any more", true, false, [][]byte{a, transport.HeartbeatFrame}},
		} {
			if step.sends {
				out.Send(a, 0)
				synctest.Wait()
			}
			out.Beat(step.seldom)
			writes := wire.since(before)
			before += len(writes)
			if !slices.EqualFunc(writes, step.want, slices.Equal[[]byte]) {
				t.Errorf("%s: %v, not %v", step.name, writes, step.want)
			}
		}
	})
}

// A peer is suspected after its silence. Seldom heartbeats make that longer, until there is another one. Frames make no difference.
func TestSeldomHeartbeatsAreExpectedSeldom(t *testing.T) {
	const more = 3 * suspicion
	for _, test := range []struct {
		name  string
		beats []bool
		sends bool
		after time.Duration
	}{
		{"the usual heartbeats", []bool{false}, false, suspicion},
		{"seldom ones", []bool{true}, false, more},
		{"seldom ones and a frame", []bool{true}, true, more},
		{"seldom ones, and then the usual ones", []bool{true, false}, false, suspicion},
	} {
		for _, over := range []string{"TCP", "an exchange"} {
			synctest.Test(t, func(t *testing.T) {
				var two *host
				var out transport.Outgoing
				if over == "TCP" {
					var one *host
					one, two, out, _ = pair(t, newLAN(t))
					defer one.t.Close()
					defer two.t.Close()
				} else {
					_, two, out = exchanged(t, transporttest.NewExchange())
				}
				for _, seldom := range test.beats {
					out.Beat(seldom)
					synctest.Wait()
				}
				if test.sends {
					out.Send(frame(1, "a"), 0)
				}
				ended := func() int { return noted(two, func() int { return len(two.ended) }) }
				<-time.After(test.after - beat)
				if ended() > 0 {
					t.Errorf("over %s, %s: suspected too soon", over, test.name)
				}
				<-time.After(2 * beat)
				if ended() == 0 {
					t.Errorf("over %s, %s: not suspected after %v", over, test.name, test.after)
				}
			})
		}
	}
}

func TestTheFramesOfAConnectionAreOfKnownKindsAndSizes(t *testing.T) {
	for _, test := range []struct {
		name  string
		frame []byte
		taken bool
	}{
		{"the longest message", transport.AppendFrame(nil, 15, make([]byte, transport.MaxPayload)), true},
		{"a longer one", transport.AppendFrame(nil, 15, make([]byte, transport.MaxPayload+1)), false},
		{"the longest opaque frame", transport.AppendFrame(nil, 0x1f, make([]byte, transport.MaxOpaque)), true},
		{"a longer one", transport.AppendFrame(nil, 0x10, make([]byte, transport.MaxOpaque+1)), false},
		{"an unknown kind", transport.AppendFrame(nil, 0x20), false},
		{"one without a kind", []byte{0, 0}, false},
	} {
		synctest.Test(t, func(t *testing.T) {
			one, two, out, _ := pair(t, newLAN(t))
			defer one.t.Close()
			defer two.t.Close()
			out.Send(test.frame, 0)
			ended := noted(two, func() []error { return two.ended })
			if len(two.messages) == 1 != test.taken || len(ended) == 0 != test.taken || !test.taken && !errors.Is(ended[0], transport.ErrFrame) {
				t.Errorf("%s: %d are taken, %v", test.name, len(two.messages), ended)
			}
		})
	}
}
