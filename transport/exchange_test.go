package transport_test

import (
	"errors"
	"fmt"
	"os"
	"slices"
	"testing"
	"testing/synctest"
	"time"

	"ringleader.example/ringleader/transport"
	"ringleader.example/ringleader/transport/transporttest"
)

// exchanged starts members 1 and 2 on an exchange, with a connection from 1 to 2.
func exchanged(t *testing.T, e *transporttest.Exchange) (one, two *host, out transport.Outgoing) {
	t.Helper()
	one, two = open(t, e.Open, config(1)), open(t, e.Open, config(2))
	t.Cleanup(one.t.Close)
	t.Cleanup(two.t.Close)
	out, err := one.dials(t, 2)
	if err != nil {
		t.Fatal(err)
	}
	return one, two, out
}

func messages(f transporttest.Frame) bool { return f.What == transporttest.Message }

func TestFramesOfAnExchangeAreReadable(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		e := transporttest.NewExchange()
		_, _, out := exchanged(t, e)
		e.Hold(messages)
		out.Send(frame(3, "abc"), 7)
		f := e.Held()[0]
		got := fmt.Sprintf("%d %d %v %d %d %s", f.From, f.To, f.What == transporttest.Message, f.Kind, f.Slot, f.Payload)
		if got != "1 2 true 3 7 abc" {
			t.Error(got)
		}
	})
}

func TestAFrameOfAnExchangeReplacesOneOfItsSlotThatHasNotLeft(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		e := transporttest.NewExchange()
		one, two := open(t, e.Open, config(1)), open(t, e.Open, config(2))
		defer one.t.Close()
		defer two.t.Close()
		out := one.t.Dial(1, time.Second)
		out.Send(frame(1, "a"), 7)
		out.Send(frame(1, "b"), 0)
		out.Send(frame(1, "c"), 7)
		<-time.After(time.Second)
		if got := noted(two, func() []string { return two.messages }); !slices.Equal(got, []string{"1 from 1: b", "1 from 1: c"}) {
			t.Errorf("before the connection stands: %q", got)
		}
		e.Hold(messages)
		out.Send(frame(1, "d"), 7)
		out.Send(frame(1, "e"), 7)
		if held := len(e.Held()); held != 2 {
			t.Errorf("%d frames that have left are held", held)
		}
	})
}

func TestFramesOfAnExchangeArriveTogetherAfterAPause(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		e := transporttest.NewExchange()
		_, two, out := exchanged(t, e)
		arrived := func(want ...string) {
			t.Helper()
			if got := noted(two, func() []string { return two.messages }); !slices.Equal(got, want) {
				t.Errorf("%q have arrived, not %q", got, want)
			}
		}
		e.Pause()
		out.Send(frame(1, "a"), 0)
		arrived()
		e.Flush()
		out.Send(frame(1, "b"), 0)
		arrived("1 from 1: a")
		e.Resume()
		out.Send(frame(1, "c"), 0)
		arrived("1 from 1: a", "1 from 1: b", "1 from 1: c")
	})
}

func TestAFrameCanArriveTwice(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		e := transporttest.NewExchange()
		_, two, out := exchanged(t, e)
		e.Hold(messages)
		out.Send(frame(1, "a"), 0)
		out.Send(frame(1, "b"), 0)
		e.Duplicate(0)
		e.Deliver(1)
		e.Deliver(1)
		e.Deliver(0)
		if got := noted(two, func() []string { return two.messages }); !slices.Equal(got, []string{"1 from 1: a", "1 from 1: b", "1 from 1: a"}) {
			t.Errorf("%q", got)
		}
	})
}

func TestSilenceEndsAConnectionOfAnExchange(t *testing.T) {
	for _, test := range []struct {
		name string
		hold func(transporttest.Frame) bool
		ends bool
	}{
		{"nothing is held", nil, false},
		{"messages are held", messages, false},
		{"all frames of 1 are held", func(f transporttest.Frame) bool { return f.From == 1 }, true},
	} {
		synctest.Test(t, func(t *testing.T) {
			e := transporttest.NewExchange()
			one, two, out := exchanged(t, e)
			e.Hold(test.hold)
			begun := time.Now()
			for time.Since(begun) < suspicion {
				if got := noted(two, func() int { return len(two.ended) }); got > 0 {
					t.Errorf("%s: it ends after %v", test.name, time.Since(begun))
				}
				out.Beat(false)
				<-time.After(beat)
			}
			ended := noted(two, func() []error { return two.ended })
			broken := noted(one, func() int { return len(one.broken) })
			if (len(ended) == 1) != test.ends || (broken == 1) != test.ends || test.ends && !errors.Is(ended[0], os.ErrDeadlineExceeded) {
				t.Errorf("%s: it has ended with %v", test.name, ended)
			}
			if slices.ContainsFunc(e.Held(), func(f transporttest.Frame) bool { return f.What == transporttest.Heartbeat }) {
				t.Errorf("%s: heartbeats are held", test.name)
			}
		})
	}
}

func TestAHeartbeatOfAnExchangeIsDueOnlyIfNoFrameHasLeft(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		e := transporttest.NewExchange()
		_, _, out := exchanged(t, e)
		var sent []transporttest.What
		e.Hold(func(f transporttest.Frame) bool { sent = append(sent, f.What); return false })
		out.Beat(false)
		out.Send(frame(1, "a"), 0)
		out.Beat(false)
		out.Beat(false)
		want := []transporttest.What{transporttest.Heartbeat, transporttest.Message, transporttest.Heartbeat}
		if !slices.Equal(sent, want) {
			t.Errorf("%v left, not %v", sent, want)
		}
	})
}

func TestAnAttemptToConnectOverAnExchangeFailsAfterTheTimeout(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		e := transporttest.NewExchange()
		one, two := open(t, e.Open, config(1)), open(t, e.Open, config(2))
		defer one.t.Close()
		defer two.t.Close()
		e.Hold(func(f transporttest.Frame) bool { return f.From == 1 })
		out := one.t.Dial(1, 0)
		out.Send(frame(1, "a"), 0)
		<-time.After(suspicion / 2)
		out.Nudge() // it is not pausing
		<-time.After(suspicion/2 + transport.LeastPause/2)
		if got := noted(one, func() []error { return one.dialed }); len(got) != 1 || !errors.Is(got[0], os.ErrDeadlineExceeded) || len(e.Held()) != 0 {
			t.Errorf("after the timeout %v, and held are %v", got, e.Held())
		}
		<-time.After(transport.LeastPause)
		e.Hold(nil)
		e.Deliver(0)
		if got := noted(one, func() []error { return one.dialed }); len(got) != 2 || got[1] != nil {
			t.Errorf("the next attempt ends with %v", got)
		}
		if got := noted(two, func() []string { return two.messages }); len(got) != 0 {
			t.Errorf("what was lost has arrived: %q", got)
		}
	})
}

func TestAFrameThatDoesNotFitEndsAConnectionOfAnExchange(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		e := transporttest.NewExchange()
		one := open(t, e.Open, config(1))
		defer one.t.Close()
		out := one.t.Dial(1, time.Second)
		for range transport.QueueLength {
			out.Send(frame(1, "a"), 0)
		}
		before := noted(one, func() int { return len(one.broken) })
		out.Send(frame(1, "a"), 0)
		if after := noted(one, func() int { return len(one.broken) }); before != 0 || after != 1 {
			t.Errorf("broken %d times with a full queue, and %d times with one more", before, after)
		}
	})
}

func TestAMemberOfAnExchangeGetsProofsOfDeath(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		e := transporttest.NewExchange()
		one, _, _ := exchanged(t, e)
		right, wrong := transport.Proof{Member: 2, Secret: secret}, transport.Proof{Member: 2}
		if !<-e.Prove(1, right) || <-e.Prove(1, wrong) {
			t.Error("the answers are not those of the member")
		}
		if got := noted(one, func() []transport.Proof { return one.proofs }); !slices.Equal(got, []transport.Proof{right, wrong}) {
			t.Errorf("%v", got)
		}
		select {
		case <-e.Prove(3, right):
			t.Error("a member that does not run answers")
		default:
		}
	})
}
