package ringleadertest_test

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"ringleader.example/ringleader"
	"ringleader.example/ringleader/ringleadertest"
	"ringleader.example/ringleader/storage"
)

// follow waits until members agree on the leader of a group.
func follow(c *ringleadertest.Cluster, group string, leader uint64, ids ...uint64) {
	c.Until(fmt.Sprintf("%d leads group %q", leader, group), func() bool {
		for _, id := range ids {
			if m := c.Group(group, id); m == nil || m.View().Leader != leader {
				return false
			}
		}
		return true
	})
}

// shards starts three members with a group for each, which prefers that member.
func shards(t *testing.T, test func(t *testing.T, c *ringleadertest.Cluster)) {
	synctest.Test(t, func(t *testing.T) {
		c := ringleadertest.New(t, ringleader.Config{Group: "first", Preempt: true}, 1, 2, 3)
		defer c.Close()
		c.Start(1, 2, 3)
		c.Await(3)
		for id := range uint64(3) {
			c.Join(ringleader.GroupConfig{Group: shard(id + 1), Priorities: map[uint64]uint16{id + 1: 2}}, 1, 2, 3)
		}
		for id := range uint64(3) {
			follow(c, shard(id+1), id+1, 1, 2, 3)
		}
		test(t, c)
	})
}

func shard(id uint64) string { return fmt.Sprint("shard ", id) }

// tells reports whether a member tells of a problem with another one in a group.
func tells(m *ringleader.Member, of uint64, problem string) bool {
	return strings.Contains(m.Status().Members[of-1].Problem, problem)
}

const absence = "it is not in the group"

func TestGroupsOfTheSameProcessesElectIndependently(t *testing.T) {
	shards(t, func(_ *testing.T, c *ringleadertest.Cluster) {
		before := c.Group(shard(1), 1).View()
		c.Kill(2)
		c.Prove(2)
		follow(c, shard(2), 3, 1, 3)
		follow(c, shard(3), 3, 1, 3)
		if now := c.Group(shard(1), 1).View(); now != before {
			t.Errorf("the leader of another group dies, and %+v becomes %+v", before, now)
		}
		c.Start(2) // it votes in its first group only
		c.Await(3)
		c.Kill(1)
		c.Pass(5 * ringleader.Test().Lease)
		if v := c.Group(shard(3), 3).View(); v.Known {
			t.Errorf("%+v, and one of three is in the group", v)
		}
		c.Join(ringleader.GroupConfig{Group: shard(3)}, 2)
		follow(c, shard(3), 3, 2, 3)
	})
}

func TestAGroupCanBeLeftAndJoinedAgainWhileTheOthersGoOn(t *testing.T) {
	shards(t, func(t *testing.T, c *ringleadertest.Cluster) {
		others := func() (views [2]ringleader.View) {
			return [2]ringleader.View{c.Group(shard(2), 1).View(), c.Member(1).View()}
		}
		before, left, begun := others(), c.Group(shard(1), 1), time.Now()
		c.Leave(shard(1), 1)
		select {
		case <-left.Done():
		default:
			t.Error("the member of a group that was left is not done")
		}
		if err := left.Err(); err != nil || left.View().Known {
			t.Errorf("%v, %+v", err, left.View())
		}
		follow(c, shard(1), 3, 2, 3)
		if took := time.Since(begun); took > ringleader.Test().Lease/4 {
			t.Errorf("the group has a leader %v after it was left", took)
		}
		c.Settle()
		for _, id := range []uint64{2, 3} {
			if m := c.Group(shard(1), id); !tells(m, 1, absence) || tells(c.Member(id), 1, absence) {
				t.Errorf("%+v", m.Status().Members)
			}
		}
		if err := left.Lead(t.Context(), nil); !errors.Is(err, ringleader.ErrClosed) {
			t.Error(err)
		}
		c.Join(ringleader.GroupConfig{Group: shard(1)}, 1)
		left.Close() // again
		follow(c, shard(1), 3, 1, 2, 3)
		c.Settle()
		select {
		case <-c.Group(shard(1), 1).Done():
			t.Error("the second end of a member ends its successor")
		default:
		}
		if m := c.Group(shard(1), 3); tells(m, 1, absence) {
			t.Errorf("%+v", m.Status().Members)
		}
		if now := others(); now != before {
			t.Errorf("other groups were %+v, and are %+v", before, now)
		}
	})
}

func TestAGroupIsLeftWhenItsPromisesAreDurable(t *testing.T) {
	shards(t, func(t *testing.T, c *ringleadertest.Cluster) {
		gate, m := make(chan struct{}), c.Group(shard(3), 2)
		c.Host(2).Disk.Intercept(func([]storage.Record) error { <-gate; return nil })
		c.Group(shard(3), 3).Transfer(2) // so 2 claims
		c.Settle()
		go m.Close()
		c.Pass(ringleader.Test().Lease)
		select {
		case <-m.Done():
			t.Error("it has left while its claim is becoming durable")
		default:
		}
		close(gate)
		c.Settle()
		select {
		case <-m.Done():
		default:
			t.Error("it has not left")
		}
	})
}

func TestAGroupThatMostProcessesAreNotInHasNoLeaderAndNamesThem(t *testing.T) {
	shards(t, func(t *testing.T, c *ringleadertest.Cluster) {
		group := ringleader.GroupConfig{Group: "rare"}
		c.Join(group, 3)
		c.Pass(5 * ringleader.Test().Lease)
		m := c.Group("rare", 3)
		if v := m.View(); v.Known || !tells(m, 1, absence) || !tells(m, 2, absence) {
			t.Errorf("%+v, %+v", v, m.Status().Members)
		}
		c.Join(group, 1)
		follow(c, "rare", 3, 1, 3)
		if tells(m, 1, absence) || !tells(m, 2, absence) {
			t.Errorf("%+v", m.Status().Members)
		}
	})
}

func TestTheFirstMemberClosesAllGroupsAndReleasesTheirLeases(t *testing.T) {
	shards(t, func(t *testing.T, c *ringleadertest.Cluster) {
		released := make(chan error)
		go func() {
			released <- c.Group(shard(3), 3).Lead(t.Context(), func(ctx context.Context, _ ringleader.Leadership) error {
				<-ctx.Done()
				return context.Cause(ctx)
			})
		}()
		c.Settle()
		begun, closing := time.Now(), c.Group(shard(3), 3)
		c.Member(3).Close()
		if err := <-released; !errors.Is(err, ringleader.ErrClosed) {
			t.Error(err)
		}
		<-closing.Done()
		follow(c, shard(3), 2, 1, 2)
		if took := time.Since(begun); took > ringleader.Test().Lease/4 {
			t.Errorf("the group has a leader %v after its leader was closed", took)
		}
		if _, err := c.Member(3).Join(t.Context(), ringleader.GroupConfig{Group: "late"}); !errors.Is(err, ringleader.ErrClosed) {
			t.Error(err)
		}
	})
}

func TestAWrongGroupIsRefused(t *testing.T) {
	shards(t, func(t *testing.T, c *ringleadertest.Cluster) {
		for want, g := range map[string]ringleader.GroupConfig{
			`configuration: this process is in the group already: "first"`:           {Group: "first"},
			`configuration: this process is in the group already: "shard 1"`:         {Group: shard(1)},
			"configuration: Priorities has member 4, which is not among the members": {Group: "x", Priorities: map[uint64]uint16{1: 1, 4: 1}},
			"has 300 bytes, and at most 249 are kept":                                {Group: strings.Repeat("x", 300)},
		} {
			_, err := c.Group(shard(1), 1).Join(t.Context(), g)
			if !errors.Is(err, ringleader.ErrConfig) || !strings.Contains(err.Error(), want) {
				t.Errorf("%v; want %s", err, want)
			}
		}
		c.Join(ringleader.GroupConfig{Group: strings.Repeat("x", 249)}, 1, 2, 3)
		follow(c, strings.Repeat("x", 249), 3, 1, 2, 3)
	})
}
