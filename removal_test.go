package ringleader_test

import (
	"context"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"ringleader.example/ringleader"
	"ringleader.example/ringleader/ringleadertest"
)

// A leader that is removed hands over as one that resigns does: it waits for a warm member, but not for ever.
func TestALeaderThatIsRemovedHandsOverAlthoughNoMemberBecomesWarm(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		b := newBarracks(t, ringleader.Config{}, 1, 2)
		defer b.Close()
		b.Start(1, 2, 3)
		b.Await(3)
		b.are(1, ringleader.Warming, 3)
		b.are(2, ringleader.Warming, 3)
		begun := time.Now()
		if err := b.Member(3).RemoveAddress(3); err != nil {
			t.Fatal(err)
		}
		b.Until("another member leads", func() bool { return b.Member(1).IsLeader() || b.Member(2).IsLeader() })
		if took := time.Since(begun); took < ringleader.Test().Handover {
			t.Errorf("it has handed over after %v", took)
		}
	})
}

// No other member could take the lead: to give it up would stop the work again and again.
func TestALeaderThatIsRemovedGoesOnWhileNoOtherMemberCanLead(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		c := ringleadertest.New(t, ringleader.Config{Members: []ringleader.MemberAddress{{ID: 2, Witness: true}}}, 1, 2, 3)
		defer c.Close()
		c.Start(1, 2, 3)
		c.Await(3)
		c.Kill(1)
		var began atomic.Int64
		go c.Member(3).Lead(t.Context(), func(ctx context.Context, l ringleader.Leadership) error {
			began.Add(1)
			<-ctx.Done()
			return nil
		})
		if err := c.Member(3).RemoveAddress(3); err != nil {
			t.Fatal(err)
		}
		c.Pass(time.Minute)
		if began.Load() != 1 || !c.Member(3).IsLeader() {
			t.Errorf("the work has begun %d times", began.Load())
		}
		c.Start(1)
		c.Until("the other one leads", func() bool { return c.Member(1).IsLeader() })
		c.Until("the vote is gone", func() bool { return len(c.Member(1).Status().Members) == 2 })
	})
}

// A pause of preemption is that of an operator: it outlasts a removal, and its end does not let a removed member preempt.
func TestAPauseOfPreemptionOutlastsARemoval(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		c := ringleadertest.New(t, ringleader.Config{Preempt: true}, 1, 2, 3)
		defer c.Close()
		c.Start(1, 2, 3)
		c.Await(3)
		removed := c.Member(3)
		address := c.Member(2).Status().Members[2].Address
		if err := removed.PausePreemption(time.Hour); err != nil {
			t.Fatal(err)
		}
		if err := removed.RemoveAddress(3); err != nil {
			t.Fatal(err)
		}
		c.Until("another member leads", func() bool { return c.Member(2).IsLeader() && len(c.Member(2).Status().Members) == 2 })
		c.Until("it knows", func() bool { s := removed.Status().Preemption; return s.Paused && s.Left == nil })
		if err := c.Member(2).AddAddress(ringleader.MemberAddress{ID: 3, Address: address}); err != nil {
			t.Fatal(err)
		}
		c.Until("it is back", func() bool { s := removed.Status().Preemption; return !s.Paused || s.Left != nil })
		c.Pass(time.Minute)
		if s := removed.Status().Preemption; !c.Member(2).IsLeader() || !s.Paused || *s.Left > 3600-60 {
			t.Errorf("a minute later member 3 has %+v, and leads: %t", s, removed.IsLeader())
		}
		if err := c.Member(2).RemoveAddress(3); err != nil {
			t.Fatal(err)
		}
		c.Until("it knows again", func() bool { s := removed.Status().Preemption; return s.Paused && s.Left == nil })
		removed.ResumePreemption()
		if s := removed.Status().Preemption; !s.Paused {
			t.Error("a member that was removed preempts")
		}
		if err := c.Member(2).AddAddress(ringleader.MemberAddress{ID: 3, Address: address}); err != nil {
			t.Fatal(err)
		}
		c.Await(3)
	})
}

// While its vote cannot be taken, a member of higher rank that was removed takes no offer of the lead: it would hand over at once, again and again.
func TestAMemberThatWasRemovedDoesNotPreempt(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		c := ringleadertest.New(t, ringleader.Config{Preempt: true}, 1, 2, 3)
		defer c.Close()
		c.Start(1, 2, 3)
		c.Await(3)
		c.Kill(1) // without it, no majority of 1 and 2 takes the vote of 3
		if err := c.Member(3).RemoveAddress(3); err != nil {
			t.Fatal(err)
		}
		c.Until("another member leads", func() bool { return c.Member(2).IsLeader() })
		term := c.Member(2).View().Term
		c.Pass(time.Minute)
		if v := c.Member(2).View(); v.Term != term || v.Role != ringleader.Leader {
			t.Errorf("it leads in term %d; a minute later it has %+v", term, v)
		}
		if err := c.Member(2).AddAddress(ringleader.MemberAddress{ID: 3, Address: c.Member(2).Status().Members[2].Address}); err != nil {
			t.Fatal(err)
		}
		c.Await(3)
	})
}
