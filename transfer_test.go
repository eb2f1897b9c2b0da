package ringleader_test

import (
	"context"
	"errors"
	"testing"
	"testing/synctest"
	"time"

	"ringleader.example/ringleader"
	"ringleader.example/ringleader/ringleadertest"
)

// A successor on a busy machine hears late of its lead, or its claims are late. The leader that has handed over must not take back the lead
// meanwhile.
func TestALeaderThatHandsOverWaitsForASuccessorThatIsLate(t *testing.T) {
	for _, late := range []ringleadertest.Frame{{From: 2, To: 1, Kind: "release"}, {From: 1, To: 2, Kind: "claim"}} {
		synctest.Test(t, func(t *testing.T) {
			c := ringleadertest.New(t, ringleader.Config{}, 1, 2)
			defer c.Close()
			c.Start(1, 2)
			c.Await(2)
			c.Pass(time.Second) // so that the last election is over
			c.Hold(func(f ringleadertest.Frame) bool { return f == late })
			if err := c.Member(2).Transfer(1); err != nil {
				t.Fatal(err)
			}
			c.Pass(ringleader.Test().Lease / 5)
			if v := c.Member(2).View(); v.Role == ringleader.Leader {
				t.Errorf("while the %s is under way, the old leader has %+v", late.Kind, v)
			}
			c.Hold(nil)
			for len(c.Held()) > 0 {
				c.Deliver(0)
			}
			c.Await(1)
		})
	}
}

func TestALeaderWhoseSuccessorIsDeadLeadsAgain(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		c := ringleadertest.New(t, ringleader.Config{}, 1, 2, 3)
		defer c.Close()
		c.Start(1, 2, 3)
		c.Await(3)
		c.Kill(1)
		c.Cut([]uint64{2}, []uint64{1, 3}) // a moment before the command
		if err := c.Member(3).Transfer(2); err != nil {
			t.Fatal(err)
		}
		c.Until("the leader has handed over", func() bool { return c.Member(3).View().Role != ringleader.Leader })
		c.Heal()
		begun := time.Now()
		c.AwaitAny()
		if took := time.Since(begun); took > ringleader.Test().Lease {
			t.Errorf("the group has no leader for %v", took)
		}
	})
}

// A transfer that a follower is told changes nothing: what ends its next tenure is not that.
func TestATransferAtAFollowerIsNoCauseOfALaterEnd(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		c := ringleadertest.New(t, ringleader.Config{Preempt: true}, 1, 2, 3)
		defer c.Close()
		c.Start(1, 2, 3)
		c.Await(3)
		causes := make(chan error, 1)
		go c.Member(2).Lead(t.Context(), func(ctx context.Context, l ringleader.Leadership) error {
			<-ctx.Done()
			causes <- context.Cause(ctx)
			return nil
		})
		c.Pass(time.Second) // so that Lead has begun
		if err := c.Member(2).Transfer(3); err != nil {
			t.Fatal(err)
		}
		c.Kill(3)
		c.Await(2)
		c.Start(3)
		c.Await(3)
		if cause := <-causes; !errors.Is(cause, ringleader.ErrPreempted) {
			t.Errorf("the cause is %v", cause)
		}
	})
}
