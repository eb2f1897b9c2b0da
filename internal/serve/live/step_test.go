package live

import (
	"bytes"
	"context"
	"fmt"
	"io"
	"slices"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"ringleader.example/ringleader/election"
	"ringleader.example/ringleader/internal/serve/view"
	"ringleader.example/ringleader/transport"
)

// witness is an algorithm that records its events, outside of its state. So it is not pure.
type witness struct{ id election.ID }

type nothing struct{}

type log struct {
	mu    sync.Mutex
	lines []string
}

func (l *log) write(format string, args ...any) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.lines = append(l.lines, fmt.Sprintf(format, args...))
}

// sofar returns the log until now: members that stop suspect each other, too.
func (l *log) sofar() []string {
	l.mu.Lock()
	defer l.mu.Unlock()
	return slices.Clone(l.lines)
}

func (l *log) count(line string) (n int) {
	for _, written := range l.sofar() {
		if written == line {
			n++
		}
	}
	return n
}

func (l *log) witness() election.Algorithm[witness, nothing] {
	type out = *election.Out[nothing]
	return election.Algorithm[witness, nothing]{
		Declaration: election.Declaration{
			Name: "witness", Topology: election.Complete, Timing: election.Timed, Task: election.Service,
			Survives: election.Crash | election.Recovery, Kinds: []election.MessageKind{{Name: "zero"}, {Name: "one"}},
			Timers: []string{"zero", "one"},
		},
		New:     func(local election.Local) witness { return witness{local.ID} },
		Start:   func(w *witness, _ out) { l.write("start") },
		Recover: func(w *witness, _ out) { l.write("recover") },
		Suspect: func(w *witness, p election.Port, _ out) { l.write("suspect %d", election.From(p)) },
		Trust:   func(w *witness, p election.Port, _ out) { l.write("trust %d", election.From(p)) },
		Timeout: func(w *witness, t election.Timer, _ out) { l.write("timer %d", t) },
		Receive: func(w *witness, p election.Port, k election.Kind, _ nothing, _ out) {
			l.write("message %d of %d", k, election.From(p))
		},
	}
}

// A long step, here by stopping the clock of its own process, has the same effect as a stopped process.
func oversleep() { <-time.After(time.Second) }

func TestATimerThatExpiredGoesFirstUnlessItWasStopped(t *testing.T) {
	for _, test := range []struct {
		step func(*election.Out[nothing])
		want []string
	}{
		{func(*election.Out[nothing]) {}, []string{"start", "timer 1", "timer 0", "message 0 of 1"}},
		{func(o *election.Out[nothing]) { o.Stop(1) }, []string{"start", "timer 0", "message 0 of 1"}},
		{func(o *election.Out[nothing]) { o.After(1, election.Units(5)) }, []string{"start", "timer 0", "message 0 of 1", "timer 1"}},
		{func(o *election.Out[nothing]) { o.After(1, election.Power(100)); o.Stop(0) }, []string{"start", "message 0 of 1"}},
	} {
		synctest.Test(t, func(t *testing.T) {
			var l log
			a := l.witness()
			first := true
			a.Command = func(_ *witness, _ election.Command, out *election.Out[nothing]) {
				if first {
					first = false
					out.After(0, election.Units(20))
					out.After(1, election.Units(10))
					return
				}
				oversleep()
				out.Send(0, 0, nothing{}) // to oneself: handled at the next look at the inbox
				test.step(out)
			}
			c := newCluster(t, a, 1)
			c.start(1)
			c.members[1].Group.Command(election.Command{Order: election.Resign})
			c.members[1].Group.Command(election.Command{Order: election.Resign})
			settle()
			c.stopAll()
			if !slices.Equal(l.lines, test.want) {
				t.Errorf("%q; want %q", l.lines, test.want)
			}
		})
	}
}

func TestSuspectComesAfterTheLastMessage(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var l log
		c := newCluster(t, l.witness(), 2)
		c.start(1)
		conn, err := c.network.Dialer(at(2))(context.Background(), "", at(1))
		if err != nil {
			t.Fatal(err)
		}
		h := c.hello(1)
		last := [][]byte{h.Encode(), transport.HeartbeatFrame, message(1), message(0), message(1)}
		for _, b := range last {
			if _, err := conn.Write(b); err != nil {
				t.Fatal(err)
			}
		}
		if v, err := readAnswer(conn); err != nil || v.Code != transport.Accepted {
			t.Fatal(v, err)
		}
		conn.Close()
		settle()
		c.stopAll()
		want := []string{"start", "message 1 of 2", "message 0 of 2", "message 1 of 2", "suspect 2"}
		if !slices.Equal(l.lines, want) {
			t.Errorf("%q; want %q", l.lines, want)
		}
	})
}

func TestStartComesBeforeSuspicions(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var l log
		c := newCluster(t, l.witness(), 3)
		c.network.Separate(1, at(3)) // so that 1 waits for it before it starts
		peer := c.network.Listen(at(2))
		c.start(1)
		conn, err := peer.Accept()
		if err != nil {
			t.Fatal(err)
		}
		if _, err := conn.Write(c.answer(transport.Verdict{})); err != nil {
			t.Fatal(err)
		}
		if _, err := io.ReadFull(conn, make([]byte, transport.HelloSize+len(transport.HeartbeatFrame))); err != nil {
			t.Fatal(err)
		}
		conn.Close()
		peer.Close()
		settle()
		c.stopAll()
		if want := []string{"start"}; !slices.Equal(l.lines, want) {
			t.Errorf("%q; want %q", l.lines, want)
		}
	})
}

// The algorithm hears of a lost message after all messages that had arrived before: even those still in the
// connection, because the member was busy.
func TestSuspectComesAfterAllThatArrivedIfWhatWeSentIsLost(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var l log
		a := l.witness()
		receive, first := a.Receive, true
		a.Receive = func(w *witness, p election.Port, k election.Kind, m nothing, out *election.Out[nothing]) {
			receive(w, p, k, m, out)
			if first {
				first = false
				oversleep()
			}
		}
		c := newCluster(t, a, 2)
		peer := c.network.Listen(at(2))
		c.start(1)
		from, err := peer.Accept() // what 1 sends
		if err != nil {
			t.Fatal(err)
		}
		if _, err := from.Write(c.answer(transport.Verdict{})); err != nil {
			t.Fatal(err)
		}
		to, err := c.network.Dialer(at(2))(context.Background(), "", at(1))
		if err != nil {
			t.Fatal(err)
		}
		defer to.Close()
		const batch = 1000 // two of them fill the inbox, and neither is read at once
		h := c.hello(1)
		for _, b := range [][]byte{
			slices.Concat(h.Encode(), transport.HeartbeatFrame, message(0)),
			bytes.Repeat(message(1), batch), bytes.Repeat(message(1), batch),
		} {
			if _, err := to.Write(b); err != nil {
				t.Fatal(err)
			}
			synctest.Wait() // until 1 has read what it can
		}
		peer.Close()
		from.Close()
		settle()
		got := l.sofar()
		if n := l.count("message 1 of 2"); n != 2*batch || got[len(got)-1] != "suspect 2" || l.count("suspect 2") != 1 {
			t.Errorf("%d messages of %d, and last %q", n, 2*batch, got[len(got)-1])
		}
		c.stopAll()
	})
}

// 1 can connect to 2, but 2 cannot connect to 1. So whenever 1 has connected, 2 trusts it and sends a message, which
// is lost, and they disconnect. 1 always has a message to send.
func TestWhoCanBeReachedInOneDirectionOnlyIsSuspectedSeldom(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var l log
		a := l.witness()
		trust := a.Trust
		a.Trust = func(w *witness, p election.Port, out *election.Out[nothing]) {
			trust(w, p, out)
			out.Send(p, 0, nothing{})
		}
		talker := new(log).witness()
		talker.Timeout = func(_ *witness, timer election.Timer, out *election.Out[nothing]) {
			out.Send(1, 0, nothing{})
			out.After(timer, election.Units(100))
		}
		talker.Start = func(_ *witness, out *election.Out[nothing]) { out.After(0, election.Units(100)) }
		c := newCluster(t, talker, 2)
		c.start(1)
		c.algorithm = hidden(a)
		c.start(2)
		settle()

		c.network.Refuse(at(2), at(1))
		c.network.ResetAll()
		const seconds = 60
		for range seconds / 10 {
			settle()
		}
		suspected := l.count("suspect 1")
		if suspected < 5 || suspected > 40 {
			t.Errorf("%d suspicions in %d seconds", suspected, seconds)
		}

		c.network.Refuse("", "")
		took := c.until(2, "reaches 1", func(s view.State) bool { return s.Reachable[0] })
		took += c.until(1, "reaches 2", func(s view.State) bool { return s.Reachable[1] })
		if took > 2*transport.MostPause {
			t.Errorf("they were together again %v after the cut", took)
		}
		settle()
		if more := l.count("suspect 1") - suspected; more > 1 {
			t.Errorf("%d suspicions after the cut", more)
		}

		// They were connected for long: a single break is repaired at once.
		c.network.ResetAll()
		c.until(2, "misses 1", func(s view.State) bool { return !s.Reachable[0] })
		if took := c.until(2, "reaches 1", func(s view.State) bool { return s.Reachable[0] }); took > 2*transport.LeastPause {
			t.Errorf("they were together again %v after they parted once", took)
		}
		c.stopAll()
	})
}

func TestTrustIsForThoseWhoNeverCrashed(t *testing.T) {
	for _, crash := range []bool{false, true} {
		synctest.Test(t, func(t *testing.T) {
			var l log
			c := newCluster(t, l.witness(), 2)
			c.start(1)
			watched := c.members[1]
			c.algorithm = hidden(new(log).witness())
			c.start(2)
			c.members[1] = watched
			settle()
			want := []string{"start", "suspect 2"}
			if crash {
				c.crash(2)
				settle()
				c.start(2)
			} else {
				c.network.Separate(1, at(2))
				settle()
				c.network.Separate(0, at(2))
				want = append(want, "trust 2")
			}
			settle()
			if got := l.sofar(); !slices.Equal(got, want) {
				t.Errorf("crash %v: %q; want %q", crash, got, want)
			}
			c.stopAll()
		})
	}
}

func TestALeaseEndsByItself(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		a := new(log).witness()
		a.Leased = true
		a.Command = func(_ *witness, _ election.Command, out *election.Out[nothing]) {
			out.LeadUntil(out.Deadline(election.Units(100)), 7)
		}
		c := newCluster(t, a, 1)
		defer c.stopAll()
		c.start(1)
		c.members[1].Group.Command(election.Command{Order: election.Resign})
		c.until(1, "leads", leads)
		if took := c.until(1, "leads no more", func(s view.State) bool { return !leads(s) }); took != 100*time.Millisecond {
			t.Errorf("its lease of 100 ms ended after %v", took)
		}
	})
}

func TestAnAlgorithmThatGoesBackOnItsWordIsStopped(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		a := new(log).witness()
		term := election.Term(2)
		a.Command = func(_ *witness, _ election.Command, out *election.Out[nothing]) {
			out.Lead(term)
			term--
		}
		c := newCluster(t, a, 1)
		defer c.stopAll()
		c.start(1)
		c.members[1].Group.Command(election.Command{Order: election.Resign})
		c.members[1].Group.Command(election.Command{Order: election.Resign})
		<-c.members[1].Done()
		if err := c.members[1].Err(); err == nil {
			t.Error("it stopped without a reason")
		}
		if s, _ := c.members[1].Group.State(); leads(s) {
			t.Error("it leads after it has stopped")
		}
	})
}
