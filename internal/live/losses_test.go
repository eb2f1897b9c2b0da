package live

import (
	"context"
	"slices"
	"testing"
	"testing/synctest"
	"time"

	"ringleader.example/ringleader/election"
)

// sends is a witness whose command sends one message to member 2.
func sends(l *log) election.Algorithm[witness, nothing] {
	a := l.witness()
	a.Command = func(_ *witness, _ election.Command, out *election.Out[nothing]) {
		l.write("command")
		out.Send(1, 0, nothing{})
	}
	return a
}

// Commands to a witness that sendsMany.
var (
	someMessages    = election.Command{Order: election.Resign}   // fit into the queue
	tooManyMessages = election.Command{Order: election.Transfer} // do not
)

func sendsMany(l *log) election.Algorithm[witness, nothing] {
	a := l.witness()
	a.Command = func(_ *witness, command election.Command, out *election.Out[nothing]) {
		count := queueLength / 2
		if command == tooManyMessages {
			count = 2 * queueLength
		}
		for range count {
			out.Send(1, 0, nothing{})
		}
	}
	return a
}

// fill lets member 1 send until its connection takes no more.
func fill(m *Member) {
	const message = 3 // bytes
	for sent := 0; sent*message <= buffer; sent += queueLength / 2 {
		m.Command(someMessages)
		synctest.Wait() // until it is written, as far as it can be
	}
}

func TestAMessageThatFindsAFullQueueIsLostAndNotUnnoticed(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		c := newCluster(t, sendsMany(new(log)), 2)
		defer c.stopAll()
		peer := c.network.listen(at(2))
		defer peer.Close()
		c.start(1)
		out, in := answer(t, peer), c.call(1)
		defer out.Close()
		defer heartbeats(in)()
		fill(c.members[1])
		c.members[1].Command(tooManyMessages)
		synctest.Wait()
		if !isLeft(out) {
			t.Error("the connection that cannot take them is still open")
		}
		if took := c.until(1, "misses 2", misses2); took > lastWords {
			t.Errorf("the loss was noticed after %v", took)
		}
	})
	synctest.Test(t, func(t *testing.T) {
		var l log
		c := newCluster(t, sendsMany(&l), 2)
		defer c.stopAll()
		c.network.separate(1, at(2))
		c.start(1)
		<-time.After(suspicion / 2) // an attempt to connect is under way
		c.members[1].Command(tooManyMessages)
		synctest.Wait()
		if got, want := l.sofar(), []string{"start", "suspect 2"}; !slices.Equal(got, want) {
			t.Errorf("no peer was reached yet: %q; want %q", got, want)
		}
		peer := c.network.listen(at(2))
		defer peer.Close()
		c.network.separate(0, at(2))
		settle()
		if !peer.(*listener).called() {
			t.Error("it has given up connecting")
		}
	})
}

func TestWhatFollowsALostMessageIsLostToo(t *testing.T) {
	s := &sender{queue: make(chan []byte, 2), kick: make(chan struct{}, 1)}
	s.ctx, s.cancel = context.WithCancel(t.Context())
	for frame := range byte(3) {
		s.send([]byte{frame})
	}
	<-s.queue // there is room again
	s.send([]byte{3})
	if frame := <-s.queue; frame[0] != 1 || len(s.queue) > 0 {
		t.Errorf("after 0 comes %d, and then %d more, though 2 was lost", frame[0], len(s.queue))
	}
}

// Its connection is open and its heartbeats come; it only does not read.
func TestAPeerThatReadsNothingIsSuspectedAfterTheTimeout(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		c := newCluster(t, sendsMany(new(log)), 2)
		defer c.stopAll()
		peer := c.network.listen(at(2))
		defer peer.Close()
		c.start(1)
		out, in := answer(t, peer), c.call(1)
		defer out.Close()
		defer heartbeats(in)()
		fill(c.members[1])
		if took := c.until(1, "misses 2", misses2); took != suspicion+lastWords {
			t.Errorf("that it reads nothing was noticed after %v, not %v", took, suspicion+lastWords)
		}
	})
}

// Until the suspicion nothing is sent again, or a later message would come before it.
func TestNothingIsSentBetweenALossAndItsSuspicion(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var l log
		c := newCluster(t, sends(&l), 2)
		defer c.stopAll()
		c.start(1)
		in := c.call(1)
		defer heartbeats(in)()
		settle()
		c.members[1].Command(election.Command{Order: election.Resign}) // 2 does not listen
		synctest.Wait()
		begun := time.Now()
		peer := c.network.listen(at(2))
		defer peer.Close()
		c.members[1].Command(election.Command{Order: election.Resign})
		answer(t, peer).Close()
		if took := time.Since(begun); took != lastWords {
			t.Errorf("it connected after %v, not %v", took, lastWords)
		}
		if got, want := l.sofar(), []string{"start", "command", "command", "suspect 2"}; !slices.Equal(got, want) {
			t.Errorf("%q; want %q", got, want)
		}
	})
}

func TestWhatWasReportedLostDoesNotArrive(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var l log
		c := newCluster(t, sends(&l), 2)
		defer c.stopAll()
		c.start(1)
		settle()
		for range 2 {
			c.members[1].Command(election.Command{Order: election.Resign})
			settle()
		}
		if got, want := l.sofar(), []string{"start", "command", "suspect 2", "command"}; !slices.Equal(got, want) {
			t.Errorf("%q; want %q", got, want)
		}
		peer := c.network.listen(at(2))
		defer peer.Close()
		conn := answer(t, peer)
		defer conn.Close()
		if !isOpen(conn) { // a byte of anything is not a timeout
			t.Error("the message arrived")
		}
	})
}

// An attempt to connect that was under way when the two parted is no loss of the time after.
func TestAnAttemptToConnectThatIsGivenUpIsNoLoss(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var l log
		c := newCluster(t, sends(&l), 2)
		defer c.stopAll()
		c.network.separate(1, at(2))
		c.start(1)
		<-time.After(suspicion / 2)
		defer c.call(1).Close()
		c.members[1].Command(election.Command{Order: election.Resign})
		<-time.After(suspicion/2 + 1) // the next attempt has begun, for the sake of that message
		defer heartbeats(c.call(1))()
		settle()
		want := []string{"start", "command", "suspect 2", "trust 2"}
		if got := l.sofar(); !slices.Equal(got, want) {
			t.Errorf("%q; want %q", got, want)
		}
	})
}

// What is queued while an attempt to connect is under way waits for the next one.
func TestWhatIsSentDuringAnAttemptToConnectIsNotLostByIt(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var l log
		c := newCluster(t, sends(&l), 2)
		defer c.stopAll()
		c.network.separate(1, at(2))
		c.start(1)
		<-time.After(suspicion / 2)
		c.members[1].Command(election.Command{Order: election.Resign})
		<-time.After(suspicion)
		peer := c.network.listen(at(2))
		defer peer.Close()
		c.network.separate(0, at(2))
		conn := answer(t, peer)
		defer conn.Close()
		kind, _, err := readFrame(newFrameReader(conn))
		if got, want := l.sofar(), []string{"start", "command"}; kind != 0 || err != nil || !slices.Equal(got, want) {
			t.Errorf("kind %d, %v; %q; want %q", kind, err, got, want)
		}
	})
}
