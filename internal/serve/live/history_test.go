package live

import (
	"strings"
	"testing"
	"testing/synctest"

	"ringleader.example/ringleader/internal/serve/view"
)

// Member 1 is restored from a backup of the time before it elected 2. So it elects 3 in the same term, and when 2 returns, all say so.
func TestTwoLeadersInATermAreFound(t *testing.T) {
	const problem = "term 1 has had two leaders, 2 and 3: the store of a member is an old copy, and the token of this term is not unique"
	synctest.Test(t, func(t *testing.T) {
		c, _ := leased(t, 3)
		defer c.stopAll()
		backup := c.disks[1].Copy()
		c.start(1, 2)
		c.until(2, "leads", leads)
		c.until(1, "follows 2", follows(2))
		if s, _ := c.members[2].Group.State(); s.Term != 1 {
			t.Fatalf("in term %d", s.Term)
		}
		c.stopAll()
		c.disks[1] = backup
		c.start(1, 3)
		c.until(3, "leads", leads)
		if s, _ := c.members[3].Group.State(); s.Term != 1 {
			t.Fatalf("in term %d", s.Term)
		}
		c.start(2)
		for id, other := range map[uint64]int{2: 2, 3: 1} { // the one that it hears of
			c.until(id, "finds it", func(s view.State) bool { return strings.Contains(s.Problems[other], problem) })
		}
	})
}

// A restart is no second leader, and what was known before is not forgotten.
func TestALeaderIsRememberedAcrossARestart(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		c, _ := elected(t)
		defer c.stopAll()
		before, _ := c.members[3].Group.State()
		c.crash(1, 2, 3)
		c.start(1, 2, 3)
		for id := range c.members {
			c.until(id, "knows a leader of a later term", func(s view.State) bool { return s.Leader != 0 && s.Term > before.Term })
			if s, _ := c.members[id].Group.State(); strings.Join(s.Problems, "") != "" {
				t.Errorf("%d knows %q", id, s.Problems)
			}
		}
	})
}
