package live

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"net"
	"slices"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"ringleader.example/ringleader/algorithms/bully"
	"ringleader.example/ringleader/clock/clocktest"
	"ringleader.example/ringleader/election"
	"ringleader.example/ringleader/internal/serve/view"
	"ringleader.example/ringleader/transport"
)

// The peer's data of that time is in the connection, and its heartbeats never ceased.
func TestAStallThatIsShorterThanTheTimeoutDropsNoPeer(t *testing.T) {
	step := time.Millisecond
	if testing.Short() { // for races
		step = beat
	}
	for stall := suspicion - 2*beat; stall < suspicion+beat; stall += step {
		synctest.Test(t, func(t *testing.T) {
			var l log
			c := newCluster(t, l.witness(), 2)
			defer c.stopAll()
			c.start(1)
			defer heartbeats(c.call(1))()
			<-time.After(4*beat + 1)
			c.network.Stop(at(1), true)
			<-time.After(stall)
			c.network.Stop(at(1), false)
			settle()
			if got := l.sofar(); len(got) != 1 {
				t.Errorf("after a stall of %v: %q", stall, got)
			}
		})
	}
}

// Here the peer was really silent, and sends just before the suspicion; but this member is stopped, too.
func TestAStallDuringTheLastLookDropsNoPeer(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var l log
		c := newCluster(t, l.witness(), 2)
		defer c.stopAll()
		c.start(1)
		conn := c.call(1)
		<-time.After(suspicion - beat/2)
		c.network.Stop(at(1), true)
		<-time.After(beat / 4)
		defer heartbeats(conn)()
		<-time.After(beat / 2)
		c.network.Stop(at(1), false)
		settle()
		if got := l.sofar(); len(got) != 1 {
			t.Errorf("%q", got)
		}
	})
}

// Heartbeats, and the answer to a question, come from the loop, not from what runs beside it.
func TestAMemberWhoseLoopHangsShowsNoLife(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		a := new(log).witness()
		const hang = 10 * suspicion
		a.Start = func(_ *witness, out *election.Out[nothing]) { out.Lead(0) }
		a.Command = func(*witness, election.Command, *election.Out[nothing]) { <-time.After(hang) }
		c := newCluster(t, a, 2)
		defer c.stopAll()
		peer := c.network.Listen(at(2))
		defer peer.Close()
		c.start(1)
		conn := c.accept(peer)
		defer conn.Close()
		c.until(1, "leads", leads)
		m := c.members[1]
		m.Group.Command(election.Command{Order: election.Resign})
		<-time.After(suspicion)
		if s, _ := m.Group.State(); m.Stall() != 0 || !leads(s) {
			t.Errorf("after the timeout it has stalled for %v, and knows %+v", m.Stall(), s)
		}
		<-time.After(beat)
		if s, _ := m.Group.State(); m.Stall() < suspicion || leads(s) || s.Leader != 0 {
			t.Errorf("later it has stalled for %v, and knows %+v", m.Stall(), s)
		}
		<-time.After(hang - suspicion - 2*beat)
		conn.SetReadDeadline(time.Now().Add(1))
		shown, _ := io.ReadAll(conn)
		if len(shown) > len(transport.HeartbeatFrame) { // one may have been under way
			t.Errorf("while it hung it sent %v", shown)
		}
		<-time.After(2 * beat)
		if s, _ := m.Group.State(); m.Stall() != 0 || !leads(s) {
			t.Errorf("then it has stalled for %v, and knows %+v", m.Stall(), s)
		}
		conn.SetReadDeadline(time.Now().Add(1))
		if shown, _ := io.ReadAll(conn); len(shown) == 0 {
			t.Error("then it sends no heartbeats")
		}
	})
}

// hang is how long the loop of a leader may do nothing.
const hang = 30 * time.Millisecond

// pulse is what a member shows who watches it.
type pulse struct {
	mu     sync.Mutex
	beats  int
	most   time.Duration
	closed bool
}

func (p *pulse) Beat() {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.beats++
}

func (p *pulse) Watch(most time.Duration) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.most = most
}

func (p *pulse) Close() {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.closed = true
}

func (p *pulse) now() (beats int, most time.Duration) {
	p.mu.Lock()
	defer p.mu.Unlock()
	return p.beats, p.most
}

func TestALeaderIsWatchedWhileItLeads(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		c, _ := leased(t, 3)
		defer c.stopAll()
		c.pulses = map[uint64]*pulse{1: {}, 3: {}}
		c.start(1, 2, 3)
		c.until(3, "leads", leads)
		settle()
		before, most := c.pulses[3].now()
		if beats, follower := c.pulses[1].now(); most != hang || follower != 0 || beats != 0 {
			t.Errorf("the leader is watched for %v, and a follower for %v with %d beats", most, follower, beats)
		}
		<-time.After(10 * hang)
		if beats, _ := c.pulses[3].now(); beats-before < 10*5/2 { // the warden begins to look after half of that time
			t.Errorf("%d beats in %v", beats-before, 10*hang)
		}
		c.members[3].Group.Command(election.Command{Order: election.Resign})
		c.until(3, "follows", func(s view.State) bool { return s.Leader != 0 && s.Leader != 3 })
		if _, most := c.pulses[3].now(); most != 0 {
			t.Errorf("it follows, and is watched for %v", most)
		}
		c.crash(3)
		if !c.pulses[3].closed {
			t.Error("its pulse stays when it has ended")
		}
	})
}

func TestAPeerThatFloodsUsHoldsUpNoOther(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var l log
		a := l.witness()
		receive := a.Receive
		a.Receive = func(w *witness, p election.Port, k election.Kind, m nothing, out *election.Out[nothing]) {
			<-time.After(time.Millisecond)
			receive(w, p, k, m, out)
		}
		c := newCluster(t, a, 3)
		defer c.stopAll()
		c.start(1)
		flooding := c.call(1)
		defer flooding.Close()
		other, err := c.network.Dialer("me:1")(context.Background(), "", at(1))
		if err != nil {
			t.Fatal(err)
		}
		defer other.Close()
		h := c.hello(1)
		h.From = 3
		write(t, other, slices.Concat(h.Encode(), transport.HeartbeatFrame))
		synctest.Wait()
		write(t, flooding, bytes.Repeat(message(0), 1000))
		<-time.After(10 * time.Millisecond)
		synctest.Wait()
		before := l.count("message 0 of 2")
		write(t, other, message(1))
		for l.count("message 1 of 3") == 0 {
			<-time.After(time.Millisecond)
		}
		if n := l.count("message 0 of 2") - before; n > 3 {
			t.Errorf("%d messages of the flood went before one of another peer", n)
		}
	})
}

func TestAPanicEndsTheMemberOnly(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		a := new(log).witness()
		a.Start = func(_ *witness, out *election.Out[nothing]) { out.Lead(0) }
		a.Command = func(*witness, election.Command, *election.Out[nothing]) { panic("a step too far") }
		c := newCluster(t, a, 1)
		defer c.stopAll()
		c.start(1)
		m := c.members[1]
		m.Group.Command(election.Command{Order: election.Resign})
		<-m.Done()
		if err := m.Err(); !errors.Is(err, ErrPanic) || !strings.Contains(err.Error(), "a step too far") {
			t.Errorf("it ended with %v", err)
		}
		if s, _ := m.Group.State(); leads(s) {
			t.Error("it leads after its end")
		}
	})
}

// text holds the output of a logger until now.
type text struct {
	mu    sync.Mutex
	bytes []byte
}

func (t *text) Write(b []byte) (int, error) {
	t.mu.Lock()
	defer t.mu.Unlock()
	t.bytes = append(t.bytes, b...)
	return len(b), nil
}

func (t *text) String() string {
	t.mu.Lock()
	defer t.mu.Unlock()
	return string(t.bytes)
}

func TestWhyAMemberCannotBeConnectedToIsLoggedOnceAndOnceMoreAfterLong(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var lines text
		c := newCluster(t, new(log).witness(), 2)
		defer c.stopAll()
		m := c.joinAs(1, at(1), func(c *Config) { c.Logger = slog.New(slog.NewTextHandler(&lines, nil)) })
		const (
			first = `level=INFO msg="member cannot be connected to" member=1 peer=2 error="connection refused: no process listens there"`
			later = `level=WARN msg="member cannot be connected to for long" member=1 peer=2 error="connection refused: no process listens there"`
		)
		logged := func(outage, warnings int) {
			t.Helper()
			logs := lines.String()
			if strings.Count(logs, first) != outage || strings.Count(logs, later) != warnings {
				t.Errorf("in outage %d there are to be %d warnings in\n%s", outage, warnings, logs)
			}
		}
		<-time.After(longFailure - 2*transport.MostPause)
		logged(1, 0)
		settle()
		logged(1, 1)
		c.start(2)
		settle()
		c.crash(2)
		settle()
		logged(2, 2)
		m.Close()
	})
}

// During a cut, a route that is missing and an answer that does not come may take turns.
func TestErrorsThatTakeTurnsAreLoggedOnceEach(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var lines text
		l, p := &loop{member: &Member{clock: clocktest.New(), log: slog.New(slog.NewTextHandler(&lines, nil))}}, &peer{id: 2}
		logged := func(want int) {
			t.Helper()
			if n := strings.Count(lines.String(), "\n"); n != want {
				t.Errorf("%d lines, want %d:\n%s", n, want, &lines)
			}
		}
		for range 10 {
			l.note(p, errors.New("no answer"))
			l.note(p, errors.New("no route"))
			l.note(p, &transport.Refusal{Code: transport.Refused, Reason: "it is full"})
		}
		logged(3)
		l.note(p, nil)
		l.note(p, errors.New("no answer"))
		logged(4)
		for i := range 10 * mostTold {
			l.note(p, fmt.Errorf("error %d", i))
		}
		logged(3 + mostTold)
	})
}

// recovery holds the library's parameters of Bully: a suspected member is not asked, and followers keep a leader that
// they hear.
var recovery = map[string]string{"known-dead": "decides", "asked-coordinator": "tells"}

func TestMembersThatStartTogetherElectTheHighestAtOnce(t *testing.T) {
	for delay := time.Duration(0); delay < firstConnections; delay += 10 * time.Millisecond {
		synctest.Test(t, func(t *testing.T) {
			c := newCluster(t, bully.Algorithm, 3)
			defer c.stopAll()
			c.parameters = recovery
			c.start(1)
			for _, id := range []uint64{2, 3} {
				<-time.After(delay / 2)
				c.start(id)
			}
			for id := range c.members {
				if c.until(id, "knows a leader", func(s view.State) bool { return s.Leader != 0 }); !follows(3)(first(c.members[id])) {
					t.Errorf("with %v between the first and the last, %d follows %+v first", delay, id, first(c.members[id]))
				}
			}
		})
	}
}

func first(m *Member) view.State {
	s, _ := m.Group.State()
	return s
}

func TestALostLinkBetweenTheTwoHighestChangesOneRole(t *testing.T) {
	seeds := 5
	if testing.Short() { // for races
		seeds = 1
	}
	for seed := range seeds {
		synctest.Test(t, func(t *testing.T) {
			c := newCluster(t, bully.Algorithm, 5)
			defer c.stopAll()
			c.parameters = recovery
			c.start(1, 2, 3, 4, 5)
			for id := range c.members {
				c.until(id, "follows 5", follows(5))
			}
			<-time.After(time.Second + time.Duration(seed)*7*time.Millisecond)
			changes := make(chan int)
			ctx, cancel := context.WithCancel(t.Context())
			for _, m := range c.members {
				go func() {
					n := 0
					last, changed := m.Group.State()
					for {
						select {
						case <-changed:
						case <-ctx.Done():
							changes <- n
							return
						}
						var s view.State
						s, changed = m.Group.State()
						if s.Role != last.Role || s.Leader != last.Leader {
							n++
						}
						last = s
					}
				}()
			}
			c.network.Cut(at(4), at(5))
			<-time.After(time.Minute)
			cancel()
			n := 0
			for range c.members {
				n += <-changes
			}
			if n != 1 { // 4 leads, too
				t.Errorf("seed %d: %d changes of roles in a minute", seed, n)
			}
			c.network.Mend()
			settle()
			for id := range c.members {
				c.until(id, "follows 5", follows(5))
			}
		})
	}
}

func TestAMemberThatStopsSendsGoodbyeWhenItLeadsNoMore(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		a := new(log).witness()
		a.Start = func(_ *witness, out *election.Out[nothing]) { out.Lead(0) }
		a.Command = func(_ *witness, _ election.Command, out *election.Out[nothing]) { out.Send(1, 1, nothing{}) }
		c := newCluster(t, a, 2)
		defer c.stopAll()
		peer := c.network.Listen(at(2))
		defer peer.Close()
		c.start(1)
		conn := c.accept(peer)
		defer conn.Close()
		c.until(1, "leads", leads)
		m := c.members[1]
		m.Group.Command(election.Command{Order: election.Resign})
		synctest.Wait()
		go m.Close()
		frames := transport.NewFrameReader(conn)
		for _, want := range []uint8{1, 0xfe} {
			if kind, _, err := transport.ReadFrame(frames); kind != want || err != nil {
				t.Errorf("frame %d, %v; want %d", kind, err, want)
			}
		}
		if s, _ := m.Group.State(); leads(s) {
			t.Error("it says goodbye, and leads")
		}
		<-m.Done()
	})
}

func TestAMemberThatStopsSendsWhatIsQueuedBeforeItsGoodbye(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		c := newCluster(t, sendsMany(new(log)), 2)
		defer c.stopAll()
		peer := c.network.Listen(at(2))
		defer peer.Close()
		c.start(1)
		conn := c.accept(peer)
		defer conn.Close()
		sent := fill(c.members[1])
		go c.members[1].Close()
		synctest.Wait()
		frames := transport.NewFrameReader(conn)
		for i := range sent {
			if kind, _, err := transport.ReadFrame(frames); kind != 0 || err != nil {
				t.Fatalf("message %d of %d: kind %d, %v", i, sent, kind, err)
			}
		}
		if kind, _, err := transport.ReadFrame(frames); kind != 0xfe || err != nil {
			t.Errorf("after all messages: kind %d, %v", kind, err)
		}
		<-c.members[1].Done()
	})
}

func TestAMemberThatStopsWaitsForNoPeer(t *testing.T) {
	for _, test := range []struct {
		name string
		at2  func(c *cluster, peer net.Listener)
		most time.Duration
	}{
		{"reads", func(c *cluster, peer net.Listener) { go io.Copy(io.Discard, c.accept(peer)) }, 0},
		{"answers nothing", func(c *cluster, peer net.Listener) { synctest.Wait() }, 0},
		{"is gone", func(c *cluster, peer net.Listener) { peer.Close(); settle() }, 0},
		{"reads nothing", func(c *cluster, peer net.Listener) { c.accept(peer); fill(c.members[1]) }, transport.LastWords},
	} {
		synctest.Test(t, func(t *testing.T) {
			c := newCluster(t, sendsMany(new(log)), 2)
			peer := c.network.Listen(at(2))
			defer peer.Close()
			c.start(1)
			test.at2(c, peer)
			begun := time.Now()
			c.stopAll()
			if took := time.Since(begun); took > test.most {
				t.Errorf("the peer %s, and stopping took %v", test.name, took)
			}
		})
	}
}

func TestAMemberThatSendsGoodbyeIsSuspectedAtOnceAndTheLogHasTheReason(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var l log
		var lines text
		c := newCluster(t, l.witness(), 2)
		defer c.stopAll()
		c.members[1] = c.joinAs(1, at(1), func(c *Config) { c.Logger = slog.New(slog.NewTextHandler(&lines, nil)) })
		conn := c.call(1)
		defer conn.Close()
		write(t, conn, append(message(1), 1, 0, 0xfe))
		synctest.Wait()
		if got, want := l.sofar(), []string{"start", "message 1 of 2", "suspect 2"}; !slices.Equal(got, want) {
			t.Errorf("%q; want %q", got, want)
		}
		c.stopAll()
		if want := `level=INFO msg="member is not reachable" member=1 peer=2 error="it has left"`; !strings.Contains(lines.String(), want) {
			t.Errorf("%s does not contain %s", lines.String(), want)
		}
	})
}

// A way that is cut in one direction, or a member that is refused, connects and is lost several times a second.
func TestAMemberThatIsReachableForMomentsIsOneState(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var lines text
		c := newCluster(t, new(log).witness(), 2)
		defer c.stopAll()
		c.members[1] = c.joinAs(1, at(1), func(c *Config) { c.Logger = slog.New(slog.NewTextHandler(&lines, nil)) })
		told := func() (warnings, notes, moments int) {
			all := lines.String()
			return strings.Count(all, `level=WARN msg="member is not reachable"`), strings.Count(all, `msg="member is reachable"`), strings.Count(all, "for moments only")
		}
		for range 20 {
			c.call(1).Close()
			<-time.After(beat)
		}
		if warnings, notes, moments := told(); warnings != 1 || notes != 2 || moments != 1 {
			t.Errorf("%d warnings, %d notes and %d lines about moments:\n%s", warnings, notes, moments, lines.String())
		}
		conn := c.call(1)
		stop := heartbeats(conn)
		<-time.After(longFailure + time.Second)
		if warnings, notes, moments := told(); warnings != 1 || notes != 3 || moments != 1 || !strings.Contains(lines.String(), "moments=20") {
			t.Errorf("when it stays: %d warnings, %d notes and %d lines about moments:\n%s", warnings, notes, moments, lines.String())
		}
		stop()
		conn.Close()
		synctest.Wait()
		if warnings, _, _ := told(); warnings != 2 {
			t.Errorf("its next loss is no news: %s", lines.String())
		}
	})
}

func TestAMemberThatIsLostIsLoggedAsAWarning(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var lines text
		c := newCluster(t, new(log).witness(), 2)
		defer c.stopAll()
		c.members[1] = c.joinAs(1, at(1), func(c *Config) { c.Logger = slog.New(slog.NewTextHandler(&lines, nil)) })
		conn := c.call(1)
		write(t, conn, message(1))
		synctest.Wait()
		conn.Close()
		synctest.Wait()
		c.stopAll()
		if want := `level=WARN msg="member is not reachable" member=1 peer=2 error=`; !strings.Contains(lines.String(), want) {
			t.Errorf("%s does not contain %s", lines.String(), want)
		}
	})
}
