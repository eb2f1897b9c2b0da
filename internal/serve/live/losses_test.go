package live

import (
	"slices"
	"testing"
	"testing/synctest"
	"time"

	"ringleader.example/ringleader/election"
	"ringleader.example/ringleader/transport"
	"ringleader.example/ringleader/transport/transporttest"
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
		count := transport.QueueLength / 2
		if command == tooManyMessages {
			count = 2 * transport.QueueLength
		}
		for range count {
			out.Send(1, 0, nothing{})
		}
	}
	return a
}

// fill lets member 1 send until its connection is full, and returns the number of messages.
func fill(m *Member) (sent int) {
	const message = 3 // bytes
	for ; sent*message <= transporttest.Buffer; sent += transport.QueueLength / 2 {
		m.Group.Command(someMessages)
		synctest.Wait() // until it is written, as far as it can be
	}
	return sent
}

func TestAMessageThatFindsAFullQueueIsLostAndNotUnnoticed(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		c := newCluster(t, sendsMany(new(log)), 2)
		defer c.stopAll()
		peer := c.network.Listen(at(2))
		defer peer.Close()
		c.start(1)
		out, in := c.accept(peer), c.call(1)
		defer out.Close()
		defer heartbeats(in)()
		fill(c.members[1])
		c.members[1].Group.Command(tooManyMessages)
		synctest.Wait()
		if !isLeft(out) {
			t.Error("the connection that cannot take them is still open")
		}
		if took := c.until(1, "misses 2", misses2); took > transport.LastWords {
			t.Errorf("the loss was noticed after %v", took)
		}
	})
	synctest.Test(t, func(t *testing.T) {
		var l log
		c := newCluster(t, sendsMany(&l), 2)
		defer c.stopAll()
		c.network.Separate(1, at(2))
		c.start(1)
		<-time.After(suspicion / 2) // an attempt to connect is under way
		c.members[1].Group.Command(tooManyMessages)
		synctest.Wait()
		if got, want := l.sofar(), []string{"start", "suspect 2"}; !slices.Equal(got, want) {
			t.Errorf("no peer was reached yet: %q; want %q", got, want)
		}
		peer := c.network.Listen(at(2))
		defer peer.Close()
		c.network.Separate(0, at(2))
		settle()
		if !peer.Called() {
			t.Error("it has given up connecting")
		}
	})
}

// Its connection is open and its heartbeats arrive; it only does not read.
func TestAPeerThatReadsNothingIsSuspectedAfterTheTimeout(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		c := newCluster(t, sendsMany(new(log)), 2)
		defer c.stopAll()
		peer := c.network.Listen(at(2))
		defer peer.Close()
		c.start(1)
		out, in := c.accept(peer), c.call(1)
		defer out.Close()
		defer heartbeats(in)()
		fill(c.members[1])
		if took := c.until(1, "misses 2", misses2); took != suspicion+transport.LastWords {
			t.Errorf("that it reads nothing was noticed after %v, not %v", took, suspicion+transport.LastWords)
		}
	})
}

// No message is sent until the suspicion; otherwise a later message would arrive before it.
func TestNothingIsSentBetweenALossAndItsSuspicion(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var l log
		c := newCluster(t, sends(&l), 2)
		defer c.stopAll()
		c.start(1)
		in := c.call(1)
		defer heartbeats(in)()
		settle()
		c.members[1].Group.Command(election.Command{Order: election.Resign}) // 2 does not listen
		synctest.Wait()
		begun := time.Now()
		peer := c.network.Listen(at(2))
		defer peer.Close()
		c.members[1].Group.Command(election.Command{Order: election.Resign})
		c.accept(peer).Close()
		if took := time.Since(begun); took != transport.LastWords {
			t.Errorf("it connected after %v, not %v", took, transport.LastWords)
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
			c.members[1].Group.Command(election.Command{Order: election.Resign})
			settle()
		}
		if got, want := l.sofar(), []string{"start", "command", "suspect 2", "command"}; !slices.Equal(got, want) {
			t.Errorf("%q; want %q", got, want)
		}
		peer := c.network.Listen(at(2))
		defer peer.Close()
		conn := c.accept(peer)
		defer conn.Close()
		if !isOpen(conn) { // a byte of anything is not a timeout
			t.Error("the message arrived")
		}
	})
}

// An attempt to connect that began before the disconnection is no loss afterwards.
func TestAnAttemptToConnectThatIsGivenUpIsNoLoss(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var l log
		c := newCluster(t, sends(&l), 2)
		defer c.stopAll()
		c.network.Separate(1, at(2))
		c.start(1)
		<-time.After(suspicion / 2)
		defer c.call(1).Close()
		c.members[1].Group.Command(election.Command{Order: election.Resign})
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
		c.network.Separate(1, at(2))
		c.start(1)
		<-time.After(suspicion / 2)
		c.members[1].Group.Command(election.Command{Order: election.Resign})
		<-time.After(suspicion)
		peer := c.network.Listen(at(2))
		defer peer.Close()
		c.network.Separate(0, at(2))
		conn := c.accept(peer)
		defer conn.Close()
		kind, _, err := transport.ReadFrame(transport.NewFrameReader(conn))
		if got, want := l.sofar(), []string{"start", "command"}; kind != 0 || err != nil || !slices.Equal(got, want) {
			t.Errorf("kind %d, %v; %q; want %q", kind, err, got, want)
		}
	})
}
