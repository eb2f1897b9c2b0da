package live

import (
	"testing"
	"testing/synctest"

	"ringleader.example/ringleader/algorithms/bully"
)

// Bully has no release: the others elect because they suspect the member that has left.
func TestAMemberThatLeavesAGroupIsSuspectedThereAndWhenItReturnsItElects(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		c := newCluster(t, bully.Algorithm, 3)
		defer c.stopAll()
		c.start(1, 2, 3)
		shard := GroupConfig{Group: "shard", Parameters: c.parameters}
		groups := map[uint64]*Group{}
		join := func(id uint64) {
			g, err := c.members[id].Join(shard)
			if err != nil {
				t.Fatal(err)
			}
			groups[id] = g
		}
		leader := func(want uint64) {
			t.Helper()
			settle()
			for id, g := range groups {
				if s, _ := g.State(); s.Leader != want {
					t.Errorf("%d knows %+v, and not the leader %d", id, s, want)
				}
			}
			if s, _ := c.members[1].Group.State(); s.Leader != 3 {
				t.Errorf("in the first group, 1 knows %+v", s)
			}
		}
		for id := range c.members {
			join(id)
		}
		leader(3)
		groups[3].Leave()
		groups[3].Leave() // no effect
		delete(groups, 3)
		leader(2)
		join(3)
		leader(3)
	})
}

func TestAValueOfAnEarlierTermReplacesNone(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		c, _ := elected(t)
		defer c.stopAll()
		m := c.members[3]
		s, _ := m.Group.State()
		m.Group.Publish(s.Term, "new")
		m.Group.Publish(s.Term-1, "old")
		m.Group.Publish(s.Term+1, "early")
		synctest.Wait()
		for id, m := range c.members {
			if s, _ := m.Group.State(); s.Value != "new" {
				t.Errorf("%d knows the value %q", id, s.Value)
			}
		}
	})
}
