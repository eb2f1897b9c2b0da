package ringleader_test

import (
	"context"
	"fmt"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"ringleader.example/ringleader"
	"ringleader.example/ringleader/ringleadertest"
)

// publishing runs work that publishes its member and term, on each member.
func publishing(t *testing.T, c *ringleadertest.Cluster, ids ...uint64) (stop func()) {
	ctx, cancel := context.WithCancel(t.Context())
	for _, id := range ids {
		m := c.Member(id)
		go m.Lead(ctx, func(ctx context.Context, l ringleader.Leadership) error {
			if err := l.Publish("begun"); err != nil {
				t.Error(err)
			}
			if err := l.Publish(fmt.Sprintf("member %d, term %d", id, l.Term())); err != nil {
				t.Error(err)
			}
			<-ctx.Done()
			return nil
		})
	}
	return cancel
}

// shows waits until all members show the leader's value, and only that, with each view of it.
func shows(t *testing.T, c *ringleadertest.Cluster, leader uint64, ids ...uint64) {
	t.Helper()
	for _, id := range ids {
		m := c.Member(id)
		c.Until(fmt.Sprintf("%d shows the value of %d", id, leader), func() bool {
			v := m.View()
			return v.Leader == leader && v.Value == fmt.Sprintf("member %d, term %d", leader, v.Term)
		})
		if v := m.View(); m.Status().Value != v.Value {
			t.Errorf("%+v and %+v", v, m.Status())
		}
	}
}

func TestAllMembersSeeWhatTheLeaderPublishesInItsTermOnly(t *testing.T) {
	led(t, func(t *testing.T, c *ringleadertest.Cluster) {
		stop := publishing(t, c, 1, 2, 3)
		defer stop()
		go func() { // no view has the value of another leader, or of an earlier term
			for v := range c.Member(1).Observe(t.Context()) {
				if v.Value != "" && v.Value != "begun" && v.Value != fmt.Sprintf("member %d, term %d", v.Leader, v.Term) {
					t.Errorf("%+v", v)
				}
			}
		}()
		shows(t, c, 3, 1, 2, 3)
		c.Cut([]uint64{1, 2}, []uint64{3})
		shows(t, c, 2, 1, 2)
		if v := c.Member(3).View(); v.Known || v.Value != "" {
			t.Errorf("the member that was cut off knows %+v", v)
		}
		c.Heal()
		shows(t, c, 2, 1, 2, 3)
		c.Member(2).Transfer(3)
		shows(t, c, 3, 1, 2, 3)
		c.Kill(1)
		c.Start(1)
		shows(t, c, 3, 1) // which comes after the value was published
	})
}

func TestAValueIsBoundedAndEndsWithTheLease(t *testing.T) {
	led(t, func(t *testing.T, c *ringleadertest.Cluster) {
		tenures := make(chan ringleader.Leadership, 1)
		go c.Member(3).Lead(t.Context(), func(ctx context.Context, l ringleader.Leadership) error {
			longest := strings.Repeat("x", ringleader.MaxValue)
			lacks(t, l.Publish(longest+"x"), ringleader.ErrConfig, "a published value has 241 bytes, and at most 240 are sent")
			if err := l.Publish(longest); err != nil {
				t.Error(err)
			}
			<-ctx.Done()
			tenures <- l
			return nil
		})
		for _, id := range []uint64{1, 2, 3} {
			c.Until("all have the longest value", func() bool { return len(c.Member(id).View().Value) == ringleader.MaxValue })
		}
		if err := c.Member(3).Resign(t.Context()); err != nil {
			t.Error(err)
		}
		l := <-tenures
		c.Await(2)
		lacks(t, l.Publish("late"), ringleader.ErrNotLeader, "has ended")
		c.Pass(time.Second)
		if v := c.Member(1).View(); v.Value != "" {
			t.Errorf("%+v", v)
		}
	})
}

func TestAMemberThatJoinsAGroupLateSeesItsValue(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		c := ringleadertest.New(t, ringleader.Config{}, 1, 2, 3)
		defer c.Close()
		c.Start(1, 2, 3)
		group := ringleader.GroupConfig{Group: "shard"}
		c.Join(group, 2, 3)
		m := c.Group("shard", 3)
		go m.Lead(t.Context(), func(ctx context.Context, l ringleader.Leadership) error {
			if err := l.Publish("here"); err != nil {
				t.Error(err)
			}
			<-ctx.Done()
			return nil
		})
		c.Until("the value is seen", func() bool { return c.Group("shard", 2).View().Value == "here" })
		c.Join(group, 1)
		c.Until("it is seen by the late member", func() bool { return c.Group("shard", 1).View().Value == "here" })
	})
}
