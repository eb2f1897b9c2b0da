package live

import (
	"context"
	"errors"
	"net"
	"slices"
	"testing"
	"testing/synctest"
	"time"

	"ringleader.example/ringleader/election"
	"ringleader.example/ringleader/internal/serve/view"
	"ringleader.example/ringleader/transport"
)

func TestWhoWasNeverHeardOfIsSuspectedWhenAMessageToItIsLost(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var l log
		a := l.witness()
		a.Command = func(_ *witness, _ election.Command, out *election.Out[nothing]) { out.Send(1, 0, nothing{}) }
		c := newCluster(t, a, 2)
		defer c.stopAll()
		c.start(1)
		settle()
		if got := l.sofar(); !slices.Equal(got, []string{"start"}) {
			t.Errorf("before a message: %q", got)
		}
		c.members[1].Group.Command(election.Command{Order: election.Resign})
		c.members[1].Group.Command(election.Command{Order: election.Resign})
		settle()
		if got := l.sofar(); !slices.Equal(got, []string{"start", "suspect 2"}) {
			t.Errorf("after two: %q", got)
		}
	})
}

// Messages over a network that is stopped for less than the suspicion timeout arrive late, in order.
func TestMessagesToTheSlowWait(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var l log
		sender := new(log).witness()
		sender.Command = func(_ *witness, _ election.Command, out *election.Out[nothing]) {
			for i := range 10 {
				out.Send(1, election.Kind(i%2), nothing{})
			}
		}
		c := newCluster(t, sender, 2)
		defer c.stopAll()
		c.start(1)
		c.algorithm = hidden(l.witness())
		c.start(2)
		settle()
		c.network.Separate(1, at(2))
		c.members[1].Group.Command(election.Command{Order: election.Resign})
		<-time.After(suspicion - 2*beat)
		if got := l.sofar(); !slices.Equal(got, []string{"start"}) {
			t.Errorf("while the network delivers nothing: %q", got)
		}
		c.network.Separate(0, at(2))
		settle()
		want := []string{"start"}
		for range 5 {
			want = append(want, "message 0 of 1", "message 1 of 1")
		}
		if got := l.sofar(); !slices.Equal(got, want) {
			t.Errorf("%q; want %q", got, want)
		}
	})
}

func TestNoProcessThatOnlyConnectsKeepsMembersOut(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var l log
		c := newCluster(t, l.witness(), 2)
		defer c.stopAll()
		c.start(1)
		connect := func() net.Conn {
			conn, err := c.network.Dialer("stranger:1")(context.Background(), "", at(1))
			if err != nil {
				t.Fatal(err)
			}
			synctest.Wait() // until it is accepted
			return conn
		}
		var conns []net.Conn
		for range transport.MostStrangers + 1 {
			conns = append(conns, connect())
		}
		if isOpen(conns[0]) || !isOpen(conns[1]) {
			t.Errorf("of %d strangers the oldest is open: %v, the next: %v", len(conns), isOpen(conns[0]), isOpen(conns[1]))
		}
		c.algorithm = hidden(new(log).witness())
		begun := time.Now()
		c.start(2)
		c.until(2, "reaches 1", func(s view.State) bool { return s.Reachable[0] })
		if took := time.Since(begun); took > 2*transport.LeastPause {
			t.Errorf("a member came in after %v", took)
		}
		<-time.After(transport.MostHandshake)
		synctest.Wait()
		for i, conn := range conns {
			if isOpen(conn) {
				t.Fatalf("stranger %d is still there", i)
			}
			conn.Close()
		}
	})
}

// Even if the member is too busy to publish it.
func TestALeaseEndsInTheMiddleOfAStep(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		a := new(log).witness()
		a.Leased = true
		first := true
		a.Command = func(_ *witness, _ election.Command, out *election.Out[nothing]) {
			if first {
				first = false
				out.LeadUntil(out.Deadline(election.Units(100)), 7)
				return
			}
			oversleep()
		}
		c := newCluster(t, a, 1)
		defer c.stopAll()
		c.start(1)
		c.members[1].Group.Command(election.Command{Order: election.Resign})
		c.until(1, "leads", leads)
		c.members[1].Group.Command(election.Command{Order: election.Resign})
		<-time.After(99 * time.Millisecond)
		if s, _ := c.members[1].Group.State(); !leads(s) {
			t.Error("it led for less than its lease")
		}
		<-time.After(time.Millisecond)
		if s, _ := c.members[1].Group.State(); leads(s) || s.Leader != 0 {
			t.Errorf("it leads after its lease: %+v", s)
		}
	})
}

func TestCloseIsNoFailure(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		c := newCluster(t, new(log).witness(), 1)
		c.start(1)
		m := c.members[1]
		if err := m.Err(); err != nil {
			t.Errorf("while it lives: %v", err)
		}
		for range 2 {
			if err := errors.Join(m.Close(), m.Err()); err != nil {
				t.Errorf("after Close: %v", err)
			}
		}
		m.Group.Command(election.Command{Order: election.Resign}) // the member has ended; it does not block
		if _, err := c.network.Dialer("me:1")(context.Background(), "", at(1)); err == nil {
			t.Error("it still listens")
		}
	})
}
