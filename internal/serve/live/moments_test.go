package live

import (
	"io"
	"slices"
	"testing"
	"testing/synctest"
	"time"

	"ringleader.example/ringleader/election"
	"ringleader.example/ringleader/internal/serve/view"
	"ringleader.example/ringleader/network"
	"ringleader.example/ringleader/storage"
	"ringleader.example/ringleader/transport"
)

// A deadline, which entitles, counts from the beginning of a step, rounded down: it may end early. A timer, which
// binds, counts from its end.
func TestDeadlinesCountFromTheBeginningOfAStepAndTimersFromItsEnd(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var l log
		a := l.witness()
		a.Leased = true
		begun := time.Now()
		a.Timeout = func(_ *witness, timer election.Timer, _ *election.Out[nothing]) {
			l.write("timer %d at %v", timer, time.Since(begun))
		}
		a.Command = func(_ *witness, _ election.Command, out *election.Out[nothing]) {
			deadline := out.Deadline(election.Units(1500))
			oversleep()
			out.LeadUntil(deadline, 7)
			out.At(0, deadline)
			out.After(1, election.Units(1500))
		}
		c := newCluster(t, a, 1)
		defer c.stopAll()
		c.start(1)
		const early = 300 * time.Microsecond // in the middle of a unit
		<-time.After(early)
		c.members[1].Group.Command(election.Command{Order: election.Resign})
		c.until(1, "leads", leads)
		const lease = 1500 * time.Millisecond
		if s, _ := c.members[1].Group.State(); s.Until.Sub(begun) != lease {
			t.Errorf("it leads until %v; its lease ends at %v", s.Until.Sub(begun), lease)
		}
		c.until(1, "leads no more", func(s view.State) bool { return !leads(s) })
		if took := time.Since(begun); took != lease {
			t.Errorf("its lease ended at %v, not %v", took, lease)
		}
		settle()
		if got, want := l.sofar(), []string{"start", "timer 0 at 1.5s", "timer 1 at 2.5003s"}; !slices.Equal(got, want) {
			t.Errorf("%q; want %q", got, want)
		}
	})
}

// The look at the timers before an event is taken is not enough: time passes between the two. Chance decides between
// an alarm and an event, so the test repeats this often.
func TestATimerThatExpiresBeforeAnEventIsTakenGoesFirst(t *testing.T) {
	for range 50 {
		synctest.Test(t, func(t *testing.T) {
			var l log
			a := l.witness()
			timeout := a.Timeout
			a.Start = func(_ *witness, out *election.Out[nothing]) {
				out.After(0, election.Units(10))
				out.After(1, election.Units(20))
			}
			a.Timeout = func(w *witness, timer election.Timer, out *election.Out[nothing]) {
				timeout(w, timer, out)
				if timer == 0 {
					oversleep() // timer 1 expires meanwhile, and then comes the command
				}
			}
			a.Command = func(*witness, election.Command, *election.Out[nothing]) { l.write("command") }
			c := newCluster(t, a, 1)
			c.start(1)
			<-time.After(500 * time.Millisecond)
			c.members[1].Group.Command(election.Command{Order: election.Resign})
			settle()
			c.stopAll()
			if want := []string{"timer 0", "timer 1", "command"}; !slices.Equal(l.lines, want) {
				t.Errorf("%q; want %q", l.lines, want)
			}
		})
	}
}

func TestATimerThatExpiresBetweenMessagesToOneselfGoesBetweenThem(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var l log
		a := l.witness()
		receive := a.Receive
		a.Start = func(_ *witness, out *election.Out[nothing]) {
			out.After(0, election.Units(10))
			out.Send(0, 0, nothing{})
			out.Send(0, 1, nothing{})
		}
		a.Receive = func(w *witness, p election.Port, k election.Kind, m nothing, out *election.Out[nothing]) {
			receive(w, p, k, m, out)
			oversleep()
		}
		c := newCluster(t, a, 1)
		c.start(1)
		settle()
		c.stopAll()
		if want := []string{"message 0 of 1", "timer 0", "message 1 of 1"}; !slices.Equal(l.lines, want) {
			t.Errorf("%q; want %q", l.lines, want)
		}
	})
}

func TestATimerThatExpiresAgainAndAgainDoesNotShutOutEvents(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		const most = 1000
		second := election.Command{Order: election.Transfer}
		expired, came, waiting := 0, false, make(chan struct{})
		a := new(log).witness()
		a.Timeout = func(_ *witness, timer election.Timer, out *election.Out[nothing]) {
			if expired++; expired < most && !came {
				out.After(timer, election.Units(0))
			}
		}
		a.Command = func(_ *witness, command election.Command, out *election.Out[nothing]) {
			<-waiting
			came = command == second
			out.After(0, election.Units(0))
		}
		c := newCluster(t, a, 1)
		c.start(1)
		c.members[1].Group.Command(election.Command{Order: election.Resign})
		c.members[1].Group.Command(second)
		close(waiting)
		settle()
		c.stopAll()
		if !came || expired >= most {
			t.Errorf("an event came in: %v, after the timer had expired %d times", came, expired)
		}
	})
}

func TestALapseEndsALeadershipAndNothingElse(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		a := new(log).witness()
		a.Leased = true
		steps := []func(*election.Out[nothing]){
			func(out *election.Out[nothing]) { out.LeadUntil(out.Deadline(election.Units(100)), 7) },
			func(out *election.Out[nothing]) { out.LeadUntil(out.Deadline(election.Units(100)), 8) },
			func(out *election.Out[nothing]) { out.Follow(2, 9) },
		}
		a.Command = func(_ *witness, _ election.Command, out *election.Out[nothing]) {
			steps[0](out)
			steps = steps[1:]
		}
		c := newCluster(t, a, 2)
		defer c.stopAll()
		c.start(1)
		settle()
		c.members[1].Group.Command(election.Command{Order: election.Resign})
		c.until(1, "leads", leads)
		c.until(1, "leads no more", func(s view.State) bool { return !leads(s) })
		if s, _ := c.members[1].Group.State(); s.Role != network.Undecided || s.Leader != 0 || s.Term != 7 || !s.Until.IsZero() {
			t.Errorf("after the lapse it knows %+v", s)
		}
		c.members[1].Group.Command(election.Command{Order: election.Resign})
		c.until(1, "leads again", leads)
		c.members[1].Group.Command(election.Command{Order: election.Resign})
		c.until(1, "follows 2", follows(2))
		settle()
		if s, _ := c.members[1].Group.State(); s.Leader != 2 || s.Term != 9 || !s.Until.IsZero() {
			t.Errorf("when its lease would have ended it knows %+v", s)
		}
	})
}

// Each bubble begins at the same moment of the year 2000, so that the clock is set back between two of them.
func TestEachLifeHasAGreaterIncarnationThoughTheClockIsSetBack(t *testing.T) {
	disk, last := storage.Memory(), uint64(0)
	for life, uptime := range []time.Duration{time.Hour, 0, 0, 2 * time.Hour, time.Minute} {
		synctest.Test(t, func(t *testing.T) {
			<-time.After(uptime)
			c := newCluster(t, new(log).witness(), 2)
			defer c.stopAll()
			c.disks[1] = disk
			conn := c.dialed()
			raw := make([]byte, transport.HelloSize)
			if _, err := io.ReadFull(conn, raw); err != nil {
				t.Fatal(err)
			}
			h, ok := transport.DecodeHello(raw)
			if !ok || h.Incarnation <= last {
				t.Errorf("life %d presents itself with incarnation %d after %d", life, h.Incarnation, last)
			}
			if clock := uint64(time.Now().UnixNano()) >> 20 << 20; h.Incarnation < clock {
				t.Errorf("life %d has incarnation %d, and by the clock at least %d: a data directory may get lost", life, h.Incarnation, clock)
			}
			last = h.Incarnation
		})
	}
}
