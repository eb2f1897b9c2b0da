package live

import (
	"strings"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"ringleader.example/ringleader/algorithms/quorumbully"
	"ringleader.example/ringleader/election"
	"ringleader.example/ringleader/internal/serve/view"
	"ringleader.example/ringleader/storage"
	"ringleader.example/ringleader/transport/transporttest"
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

// gated makes each save of a disk wait until the test sends to the gate or closes it, and counts the saves.
func gated(d *storage.Disk) (saves *atomic.Int64, gate chan struct{}) {
	saves, gate = &atomic.Int64{}, make(chan struct{})
	d.Intercept(func([]storage.Record) error { saves.Add(1); <-gate; return nil })
	return saves, gate
}

// A Claim leaves while the disk of its member works on the member's own grant. The claim wins when both grants are durable.
func TestAClaimWaitsForNoDiskAndItsWinDoes(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		c, e := elected(t)
		defer c.stopAll()
		settle()
		before, _ := c.members[2].Group.State()
		_, own := gated(c.disks[2])
		var granted atomic.Bool
		e.Hold(func(f transporttest.Frame) bool {
			if f.From == 1 && f.What == transporttest.Message && election.Kind(f.Kind) == quorumbully.Grant {
				granted.Store(true)
			}
			return false
		})
		c.crash(3)
		for end := time.Now().Add(4 * lease); !granted.Load(); <-time.After(time.Millisecond) {
			if time.Now().After(end) {
				t.Fatal("1 grants no claim while the disk of 2 does not answer")
			}
		}
		synctest.Wait()
		if s, _ := c.members[2].Group.State(); leads(s) {
			t.Error("it leads before its own grant is durable")
		}
		close(own)
		c.until(2, "leads by that claim", func(s view.State) bool { return leads(s) && s.Term == before.Term+1 })
	})
}

// Two grants wait for a disk each. Who has won waits for none, nor do those who follow it.
func TestTheLeadWaitsForNoDisk(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		c, _ := elected(t)
		defer c.stopAll()
		settle()
		_, claims := gated(c.disks[2])
		_, grants := gated(c.disks[1])
		defer close(claims)
		defer close(grants)
		c.crash(3)
		claims <- struct{}{}
		grants <- struct{}{}
		c.until(2, "leads, and its disk does not answer", leads)
		c.until(1, "follows 2, and its disk does not answer", follows(2))
		<-time.After(2 * lease)
		c.until(2, "leads on", leads)
	})
}

// remembering runs a test in which member 2 leads after 3. The grant of member 1 is durable. Member 1 still saves who leads: each of its saves ends
// when the test sends to gate.
func remembering(t *testing.T, test func(c *cluster, e *transporttest.Exchange, gate chan struct{})) {
	synctest.Test(t, func(t *testing.T) {
		c, e := elected(t)
		defer c.stopAll()
		settle()
		saves, gate := gated(c.disks[1])
		c.crash(3)
		gate <- struct{}{} // the grant
		c.until(1, "follows 2", follows(2))
		synctest.Wait()
		if n := saves.Load(); n != 2 {
			t.Fatalf("%d saves; want one of a grant, and one of a leader", n)
		}
		test(c, e, gate)
	})
}

// A member that still saves which leader it follows promises nothing in a later term before that is durable, too.
func TestAPromiseWaitsForAFlushOfItsOwn(t *testing.T) {
	remembering(t, func(c *cluster, e *transporttest.Exchange, gate chan struct{}) {
		before, _ := c.members[1].Group.State()
		c.start(3)
		c.until(3, "follows 2", follows(2))
		c.crash(2)
		promises := 0
		e.Hold(func(f transporttest.Frame) bool {
			if f.From == 1 && f.What == transporttest.Message && election.Kind(f.Kind) == quorumbully.Grant {
				promises++
			}
			return false
		})
		<-time.After(4 * lease)
		gate <- struct{}{} // the leader
		<-time.After(4 * lease)
		if promises > 0 {
			t.Errorf("%d promises left before they were durable", promises)
		}
		close(gate)
		c.until(3, "knows a leader of a later term", func(s view.State) bool { return s.Leader != 0 && s.Term > before.Term })
	})
}

// What is to become durable of a group that is left becomes so before.
func TestAGroupIsLeftWhenItsLeaderIsRemembered(t *testing.T) {
	remembering(t, func(c *cluster, _ *transporttest.Exchange, gate chan struct{}) {
		left := make(chan struct{})
		g := c.members[1].Group
		go func() { g.Leave(); close(left) }()
		<-time.After(lease)
		select {
		case <-left:
			t.Error("it is left, and which leader it had is not durable")
		default:
		}
		close(gate)
		<-left
	})
}
