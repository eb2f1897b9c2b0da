package live

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	"os"
	"slices"
	"strings"
	"sync"
	"syscall"
	"testing"
	"testing/synctest"
	"time"

	"ringleader.example/ringleader/election"
	"ringleader.example/ringleader/internal/core/framing"
	"ringleader.example/ringleader/internal/serve/view"
	"ringleader.example/ringleader/transport"
)

// In these tests member 1 is real, and the test is member 2.

// introduce connects to member 1 and is accepted, without the confirmation.
func (c *cluster) introduce(incarnation uint64) net.Conn {
	c.t.Helper()
	conn, v := c.present(incarnation)
	if v.Code != transport.Accepted {
		c.t.Fatal(v)
	}
	return conn
}

// present connects to member 1, which gives a verdict.
func (c *cluster) present(incarnation uint64) (net.Conn, transport.Verdict) {
	c.t.Helper()
	conn, err := c.network.Dialer("me:1")(context.Background(), "", at(1))
	if err != nil {
		c.t.Fatal(err)
	}
	h := c.hello(incarnation)
	write(c.t, conn, h.Encode())
	conn.SetReadDeadline(time.Now().Add(suspicion))
	v, err := readAnswer(conn)
	if err != nil {
		c.t.Fatal(err)
	}
	return conn, v
}

// message returns the frame of a message without content, to the group without a name.
func message(kind uint8) []byte {
	return framing.Append(nil, kind, func(dst []byte) []byte {
		digest := transport.DigestOf("%q", "")
		return append(dst, digest[:keySize]...)
	})
}

// call returns a confirmed connection to member 1.
func (c *cluster) call(incarnation uint64) net.Conn {
	c.t.Helper()
	conn := c.introduce(incarnation)
	write(c.t, conn, transport.HeartbeatFrame)
	synctest.Wait()
	return conn
}

// accept accepts a connection that member 1 dials.
func (c *cluster) accept(l net.Listener) net.Conn {
	c.t.Helper()
	conn, err := l.Accept()
	if err != nil {
		c.t.Fatal(err)
	}
	c.welcome(conn)
	return conn
}

// welcome accepts member 1 on a connection that it has dialed.
func (c *cluster) welcome(conn net.Conn) {
	c.t.Helper()
	write(c.t, conn, c.answer(transport.Verdict{}))
	if _, err := io.ReadFull(conn, make([]byte, transport.HelloSize+len(transport.HeartbeatFrame))); err != nil {
		c.t.Fatal(err)
	}
	synctest.Wait()
}

// dialed starts member 1, and returns the first connection that it dials. It got no answer yet.
func (c *cluster) dialed() net.Conn {
	c.t.Helper()
	peer := c.network.Listen(at(2))
	c.t.Cleanup(func() { peer.Close() })
	c.start(1)
	conn, err := peer.Accept()
	if err != nil {
		c.t.Fatal(err)
	}
	c.t.Cleanup(func() { conn.Close() })
	return conn
}

// hello returns member 2's Hello to member 1.
func (c *cluster) hello(incarnation uint64) transport.Hello {
	return transport.Hello{
		Group: c.group, From: 2, To: 1, Incarnation: incarnation,
		Timing: transport.Timing{Heartbeat: beat, Suspicion: suspicion, Delay: time.Millisecond},
	}
}

// answer returns member 2's answer to member 1.
func (c *cluster) answer(v transport.Verdict) []byte {
	h := c.hello(1)
	return append(h.Encode(), v.Encode()...)
}

// readAnswer reads a member's answer.
func readAnswer(r io.Reader) (transport.Verdict, error) {
	if _, err := transport.ReadHello(r); err != nil {
		return transport.Verdict{}, err
	}
	return transport.ReadVerdict(r)
}

func write(t *testing.T, conn net.Conn, b []byte) {
	t.Helper()
	if _, err := conn.Write(b); err != nil {
		t.Fatal(err)
	}
}

// heartbeats keeps a connection alive until the caller stops it.
func heartbeats(conn net.Conn) (stop func()) {
	ctx, cancel := context.WithCancel(context.Background())
	var group sync.WaitGroup
	group.Go(func() {
		for ctx.Err() == nil {
			conn.Write(transport.HeartbeatFrame)
			select {
			case <-time.After(beat):
			case <-ctx.Done():
			}
		}
	})
	return func() {
		cancel()
		conn.Close()
		group.Wait()
	}
}

func isOpen(conn net.Conn) bool {
	conn.SetReadDeadline(time.Now().Add(1))
	_, err := conn.Read(make([]byte, 1))
	return errors.Is(err, os.ErrDeadlineExceeded)
}

// isLeft reports whether the other end has closed a connection, without reading what it had written.
func isLeft(conn net.Conn) bool {
	conn.SetWriteDeadline(time.Now().Add(1))
	_, err := conn.Write([]byte{0})
	return err != nil && !errors.Is(err, os.ErrDeadlineExceeded)
}

func reaches2(s view.State) bool { return s.Reachable[1] }

func misses2(s view.State) bool { return !s.Reachable[1] }

func TestSilenceIsSuspectedAtTheTimeout(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		c := newCluster(t, new(log).witness(), 2)
		defer c.stopAll()
		c.start(1)
		begun := time.Now()
		defer c.call(1).Close()
		c.until(1, "reaches 2", reaches2)
		if took := c.until(1, "misses 2", misses2); took != suspicion {
			t.Errorf("silence was suspected after %v, not %v", took, suspicion)
		}
		if s, _ := c.members[1].Group.State(); s.Since != begun {
			t.Errorf("it knows no leader since %v, not %v", s.Since, begun)
		}
	})
}

// A process that was stopped for longer than the timeout must not mistake unread data for silence.
func TestAMemberThatWasStoppedReadsWhatCameMeanwhile(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var l log
		c := newCluster(t, l.witness(), 2)
		defer c.stopAll()
		c.start(1)
		conn := c.call(1)
		c.network.Stop(at(1), true)
		<-time.After(suspicion / 2)
		write(t, conn, message(0))
		<-time.After(suspicion/2 + transport.LastWords + 1)
		c.network.Stop(at(1), false)
		defer heartbeats(conn)()
		settle()
		if got, want := l.sofar(), []string{"start", "message 0 of 2"}; !slices.Equal(got, want) {
			t.Errorf("%q; want %q", got, want)
		}
	})
}

func TestAMemberThatWasStoppedSuspectsASilentPeerSoon(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		c := newCluster(t, new(log).witness(), 2)
		defer c.stopAll()
		c.start(1)
		defer c.call(1).Close()
		c.network.Stop(at(1), true)
		settle()
		c.network.Stop(at(1), false)
		if took := c.until(1, "misses 2", misses2); took != transport.LastWords {
			t.Errorf("silence was suspected %v after the stop, not %v", took, transport.LastWords)
		}
	})
}

// A process that was stopped finds connections whose dialers have left them.
func TestAConnectionStandsOnceItIsConfirmed(t *testing.T) {
	for _, test := range []struct {
		name    string
		confirm func(net.Conn)
		stands  bool
	}{
		{"a heartbeat", func(conn net.Conn) { conn.Write(transport.HeartbeatFrame) }, true},
		{"nothing", func(net.Conn) {}, false},
		{"the end", func(conn net.Conn) { conn.Close() }, false},
		{"a message", func(conn net.Conn) { conn.Write(message(0)) }, false},
	} {
		synctest.Test(t, func(t *testing.T) {
			c := newCluster(t, new(log).witness(), 2)
			defer c.stopAll()
			c.start(1)
			conn := c.introduce(1)
			defer conn.Close()
			test.confirm(conn)
			synctest.Wait()
			if s, _ := c.members[1].Group.State(); reaches2(s) != test.stands {
				t.Errorf("after the hello came %s: the connection stands: %v", test.name, reaches2(s))
			}
		})
	}
}

func TestAConnectionWithoutMessagesShowsAtEachHeartbeatThatItLives(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		c := newCluster(t, new(log).witness(), 2)
		defer c.stopAll()
		peer := c.network.Listen(at(2))
		defer peer.Close()
		c.start(1)
		conn := c.accept(peer)
		defer conn.Close()
		for i := range 3 {
			begun := time.Now()
			conn.SetReadDeadline(begun.Add(suspicion))
			frame := make([]byte, len(transport.HeartbeatFrame))
			if _, err := io.ReadFull(conn, frame); err != nil || !bytes.Equal(frame, transport.HeartbeatFrame) {
				t.Fatal(frame, err)
			}
			if took := time.Since(begun); took != beat {
				t.Errorf("heartbeat %d came after %v, not %v", i, took, beat)
			}
		}
	})
}

func TestAConnectionThatIsReplacedIsClosed(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		c := newCluster(t, new(log).witness(), 3)
		defer c.stopAll()
		c.network.Separate(1, at(3)) // so that 1 waits for it before it starts, and reads nothing
		c.start(1)
		first, second := c.call(1), c.call(1)
		defer first.Close()
		defer second.Close()
		if isOpen(first) || !isOpen(second) {
			t.Errorf("before the start the first is open: %v, the second: %v", isOpen(first), isOpen(second))
		}
	})
	synctest.Test(t, func(t *testing.T) {
		var l log
		c := newCluster(t, l.witness(), 2)
		defer c.stopAll()
		c.start(1)
		conns := []net.Conn{c.call(1), c.call(1), c.call(1)}
		open := func() (open []bool) {
			for _, conn := range conns {
				open = append(open, isOpen(conn))
			}
			return open
		}
		write(t, conns[0], message(0))
		write(t, conns[2], message(1))
		if got, want := open(), []bool{true, false, true}; !slices.Equal(got, want) {
			t.Errorf("while the first is read to its end, open are %v; want %v", got, want)
		}
		<-time.After(transport.LastWords)
		synctest.Wait()
		if got, want := open(), []bool{false, false, true}; !slices.Equal(got, want) {
			t.Errorf("then open are %v; want %v", got, want)
		}
		want := []string{"start", "message 0 of 2", "suspect 2", "trust 2", "message 1 of 2"}
		if got := l.sofar(); !slices.Equal(got, want) {
			t.Errorf("%q; want %q", got, want)
		}
		for _, conn := range conns {
			conn.Close()
		}
	})
}

func TestOneLifeOfAPeerIsHeardAtATime(t *testing.T) {
	for _, started := range []bool{false, true} {
		synctest.Test(t, func(t *testing.T) {
			c := newCluster(t, new(log).witness(), 3)
			defer c.stopAll()
			if !started {
				c.network.Separate(1, at(3)) // so that 1 waits for it before it starts
			}
			c.start(1)
			// Two come at once. The one that confirms first stands, the other must leave.
			late, first := c.introduce(2), c.call(1)
			defer late.Close()
			defer first.Close()
			write(t, late, transport.HeartbeatFrame)
			synctest.Wait()
			if !isOpen(first) || isOpen(late) {
				t.Errorf("started %v: the first is open: %v, the second: %v", started, isOpen(first), isOpen(late))
			}
			next, v := c.present(3)
			next.Close()
			if v.Code != transport.RefusedDuplicate || !strings.HasPrefix(v.Reason, "another live process has id 2") {
				t.Errorf("started %v: to one more it answers %+v", started, v)
			}
		})
	}
}

func TestADialerWaitsForAnAnswerUntilTheTimeout(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		c := newCluster(t, new(log).witness(), 2)
		defer c.stopAll()
		peer := c.network.Listen(at(2))
		defer peer.Close()
		c.start(1)
		for range 3 {
			conn, err := peer.Accept()
			if err != nil {
				t.Fatal(err)
			}
			begun := time.Now()
			conn.SetReadDeadline(begun.Add(2 * transport.MostHandshake))
			if _, err := io.Copy(io.Discard, conn); err != nil || time.Since(begun) != transport.MostHandshake {
				t.Errorf("it left after %v, not %v, with %v", time.Since(begun), transport.MostHandshake, err)
			}
			conn.Close()
		}
	})
	synctest.Test(t, func(t *testing.T) { // nor does it wait for the network
		var l log
		c := newCluster(t, sends(&l), 2)
		defer c.stopAll()
		c.network.Separate(1, at(2))
		c.start(1)
		<-time.After(suspicion / 2)
		c.members[1].Group.Command(election.Command{Order: election.Resign})
		<-time.After(2*suspicion + transport.LeastPause*3/2)
		if got, want := l.sofar(), []string{"start", "command", "suspect 2"}; !slices.Equal(got, want) {
			t.Errorf("%q; want %q", got, want)
		}
	})
}

// A machine without a free processor accepts connections, and takes long to answer. An attempt that was given up would have to be made again.
func TestAHandshakeThatIsSlowGoesOnAndLosesNothing(t *testing.T) {
	for _, heard := range []bool{false, true} {
		synctest.Test(t, func(t *testing.T) {
			var l log
			c := newCluster(t, sends(&l), 2)
			defer c.stopAll()
			conn := c.dialed()
			want := []string{"start", "command", "suspect 2"}
			if heard {
				in := c.call(1)
				defer heartbeats(in)()
				want = want[:2]
			}
			<-time.After(suspicion / 2) // it has started
			c.members[1].Group.Command(election.Command{Order: election.Resign})
			<-time.After(3 * suspicion)
			if got := l.sofar(); !slices.Equal(got, want) {
				t.Errorf("heard %v: %q; want %q", heard, got, want)
			}
			conn.SetReadDeadline(time.Now().Add(suspicion))
			c.welcome(conn)
			frames := transport.NewFrameReader(conn)
			for kind := uint8(announces); kind != 0; { // the message of a witness has the kind 0
				var err error
				if kind, _, err = transport.ReadFrame(frames); err != nil {
					t.Fatalf("heard %v: the message does not arrive: %v", heard, err)
				}
			}
		})
	}
}

func TestADialerThatIsRefusedClosesItsConnection(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		c := newCluster(t, new(log).witness(), 2)
		defer c.stopAll()
		conn := c.dialed()
		write(t, conn, c.answer(transport.Verdict{Code: transport.Refused, Reason: "go away"}))
		begun := time.Now()
		conn.SetReadDeadline(begun.Add(suspicion))
		if _, err := io.Copy(io.Discard, conn); err != nil || time.Since(begun) != 0 {
			t.Errorf("it left after %v, with %v", time.Since(begun), err)
		}
	})
}

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

func (p pipes) Addr() net.Addr { return &net.UnixAddr{Name: "a pipe"} }

// A pipe holds nothing: a write to it waits until it is read.
func TestAnUnknownDialerThatDoesNotReadTheVerdictIsLeft(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		c := newCluster(t, new(log).witness(), 2)
		defer c.stopAll()
		config, listener := c.config(1, at(1)), make(pipes)
		config.Transport = c.open(listener, at(1))
		m, err := JoinProgram(context.Background(), c.algorithm, config)
		if err != nil {
			t.Fatal(err)
		}
		c.members[1] = m
		far, near := net.Pipe()
		defer far.Close()
		listener <- near
		write(t, far, (&transport.Hello{From: 2, To: 1, Incarnation: 1}).Encode())
		<-time.After(transport.MostHandshake)
		synctest.Wait()
		if !isLeft(far) {
			t.Error("it still waits")
		}
	})
}

func TestBothConnectionsOfAPairEndTogether(t *testing.T) {
	for _, test := range []struct {
		name string
		cut  func(out, in net.Conn)
		soon time.Duration // until 2 is missed
	}{
		{"what it reads", func(_, in net.Conn) { in.Close() }, 0},
		{"what it writes to", func(out, _ net.Conn) { out.Close() }, transport.LastWords},
		{"what it writes to, by a word that is no frame", func(out, _ net.Conn) { out.Write([]byte{0, 0}) }, transport.LastWords},
	} {
		synctest.Test(t, func(t *testing.T) {
			c := newCluster(t, new(log).witness(), 2)
			defer c.stopAll()
			peer := c.network.Listen(at(2))
			defer peer.Close()
			c.start(1)
			out, in := c.accept(peer), c.call(1)
			defer out.Close()
			defer heartbeats(in)()
			<-time.After(beat * 3 / 2) // between two heartbeats
			test.cut(out, in)
			if took := c.until(1, "misses 2", misses2); took != test.soon {
				t.Errorf("%s ended, and 2 was missed after %v, not %v", test.name, took, test.soon)
			}
			synctest.Wait()
			if !isLeft(out) || !isLeft(in) {
				t.Errorf("%s ended, but it left what it writes to: %v, what it reads: %v", test.name, isLeft(out), isLeft(in))
			}
		})
	}
}

func TestAStandingConnectionIsNotUnknown(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		c := newCluster(t, new(log).witness(), 2)
		defer c.stopAll()
		c.start(1)
		conn := c.call(1)
		defer conn.Close()
		for range transport.MostStrangers + 1 {
			stranger, err := c.network.Dialer("stranger:1")(context.Background(), "", at(1))
			if err != nil {
				t.Fatal(err)
			}
			defer stranger.Close()
			synctest.Wait()
		}
		if !isOpen(conn) {
			t.Error("strangers have pushed it out")
		}
	})
}

// The host of member 2 is known only from a connection to it; before, its name may have led elsewhere.
func TestAMemberThatTakesLongToPresentItselfComesInDuringAFlood(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		c := newCluster(t, new(log).witness(), 2)
		defer c.stopAll()
		c.addresses[1].Address = "name:1"
		c.network.Alias("name:1", at(2))
		peer := c.network.Listen(at(2))
		defer peer.Close()
		c.start(1)
		defer c.accept(peer).Close()
		connect := func(from string) net.Conn {
			conn, err := c.network.Dialer(from)(context.Background(), "", at(1))
			if err != nil {
				t.Fatal(err)
			}
			synctest.Wait()
			return conn
		}
		conn := connect("member2:5")
		defer conn.Close()
		for i := range 2 * transport.MostStrangers {
			defer connect(fmt.Sprintf("host%d:1", i)).Close()
		}
		h := c.hello(1)
		write(t, conn, h.Encode())
		if v, err := readAnswer(conn); v.Code != transport.Accepted || err != nil {
			t.Errorf("%+v, %v", v, err)
		}
	})
}

func TestAMemberStartsWithoutThoseThatDoNotAnswer(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var l log
		c := newCluster(t, sends(&l), 2)
		defer c.stopAll()
		c.network.Separate(1, at(2))
		c.start(1)
		<-time.After(firstConnections - 1)
		c.members[1].Group.Command(election.Command{Order: election.Resign}) // too early
		synctest.Wait()
		if got := l.sofar(); len(got) > 0 {
			t.Errorf("%q while it waits for the first connections", got)
		}
		<-time.After(1)
		synctest.Wait()
		if got, want := l.sofar(), []string{"start"}; !slices.Equal(got, want) {
			t.Errorf("%q; want %q", got, want)
		}
	})
}

// exhausted is a listener without file descriptors for a while.
type exhausted struct {
	net.Listener
	failures int
}

func (e *exhausted) Accept() (net.Conn, error) {
	if e.failures > 0 {
		e.failures--
		return nil, syscall.EMFILE
	}
	return e.Listener.Accept()
}

func TestAMemberThatCannotAcceptForAWhileTriesAgain(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		c := newCluster(t, new(log).witness(), 2)
		defer c.stopAll()
		config := c.config(1, at(1))
		config.Transport = c.open(&exhausted{c.network.Listen(at(1)), 3}, at(1))
		m, err := JoinProgram(context.Background(), c.algorithm, config)
		if err != nil {
			t.Fatal(err)
		}
		c.members[1] = m
		begun := time.Now()
		c.call(1).Close()
		if took := time.Since(begun); took != 3*transport.LeastPause {
			t.Errorf("it accepts after %v, not %v", took, 3*transport.LeastPause)
		}
	})
}

func TestAMemberWhoseListenerIsClosedStops(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		c := newCluster(t, new(log).witness(), 1)
		defer c.stopAll()
		config, listener := c.config(1, at(1)), c.network.Listen(at(1))
		config.Transport = c.open(listener, at(1))
		m, err := JoinProgram(context.Background(), c.algorithm, config)
		if err != nil {
			t.Fatal(err)
		}
		c.members[1] = m
		listener.Close()
		synctest.Wait()
		if err := c.members[1].Err(); !errors.Is(err, net.ErrClosed) {
			t.Errorf("it has stopped with %v", err)
		}
	})
}
