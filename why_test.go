package ringleader_test

import (
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"ringleader.example/ringleader"
	"ringleader.example/ringleader/ringleadertest"
)

// explains waits until a member gives a reason for having no leader.
func explains(t *testing.T, c *ringleadertest.Cluster, id uint64, reason string) {
	t.Helper()
	var why []string
	defer func() {
		if t.Failed() {
			t.Logf("member %d gives the reasons %q", id, why)
		}
	}()
	c.Until("member gives the reason: "+reason, func() bool {
		s := c.Member(id).Status()
		if (s.Leader == nil) != (len(s.Why) > 0) {
			t.Fatalf("with the leader %v the reasons are %q", s.Leader, s.Why)
		}
		why = s.Why
		return strings.Contains(strings.Join(why, "; "), reason)
	})
}

func TestTheStatusExplainsEachCauseOfHavingNoLeader(t *testing.T) {
	witnesses := ringleader.Config{Members: []ringleader.MemberAddress{{ID: 1, Witness: true}, {ID: 2, Witness: true}, {ID: 3}}}
	for _, test := range []struct {
		reason string
		config ringleader.Config
		begin  func(c *ringleadertest.Cluster)
	}{
		{"member 3 at member3:1 is missing: ", ringleader.Config{}, func(c *ringleadertest.Cluster) { c.Start(1) }},
		{"1 of 3 members can communicate with this one, itself included, and a leader needs the votes of 2", ringleader.Config{}, func(c *ringleadertest.Cluster) { c.Start(1) }},
		{"all members that can communicate with this one are witnesses", witnesses, func(c *ringleadertest.Cluster) { c.Start(1, 2) }},
		{"this member has restarted, and takes part in 0.3 s, when the promises", ringleader.Config{}, func(c *ringleadertest.Cluster) {
			c.Start(1, 2, 3)
			c.Await(3)
			c.Cut()
			c.Kill(1)
			c.Start(1)
		}},
		{"this member has promised its vote to another member for 0.", ringleader.Config{}, func(c *ringleadertest.Cluster) {
			c.Start(1, 2, 3)
			c.Await(3)
			// Member 2 claims with the vote of member 1, and the grant is lost.
			c.Kill(3)
			c.Hold(func(f ringleadertest.Frame) bool { return f.From == 1 && f.Kind == "grant" })
		}},
		{"this member has stopped: the member is closed", ringleader.Config{}, func(c *ringleadertest.Cluster) {
			c.Start(1)
			c.Member(1).Close()
		}},
	} {
		synctest.Test(t, func(t *testing.T) {
			c := ringleadertest.New(t, test.config, 1, 2, 3)
			defer c.Close()
			test.begin(c)
			explains(t, c, 1, test.reason)
		})
	}
}

// counted returns the counters of a member, without those that depend on each frame.
func counted(c *ringleadertest.Cluster, id uint64) ringleader.Counters {
	n := c.Member(id).Counters()
	n.ElectionTime, n.Renewals, n.Timers, n.Lateness, n.Saves, n.SaveTime = 0, 0, 0, 0, 0, 0
	return n
}

func TestCountersCountTenuresAndLapses(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		c := ringleadertest.New(t, ringleader.Config{}, 1, 2, 3)
		defer c.Close()
		c.Start(1, 2, 3)
		c.Await(3)
		is := func(when string, id uint64, want ringleader.Counters) {
			t.Helper()
			if n := counted(c, id); n != want {
				t.Errorf("%s it has %+v, want %+v", when, n, want)
			}
		}
		is("after its election", 3, ringleader.Counters{Tenures: 1, LeaderChanges: 1, Elections: 1})
		if n := c.Member(3).Counters(); n.Saves == 0 || n.FailedSaves > 0 {
			t.Errorf("its votes were saved %d times", n.Saves)
		}
		c.Kill(1)
		c.Until("3 misses 1", func() bool { return !c.Member(3).Status().Members[0].Reachable })
		c.Start(1)
		c.Until("3 hears 1", func() bool { return c.Member(3).Status().Members[0].Reachable })
		is("after the restart of a follower", 3, ringleader.Counters{Tenures: 1, LeaderChanges: 1, Elections: 1, Suspicions: 1})
		c.Await(3)
		c.Cut([]uint64{3}, []uint64{1, 2})
		c.Await(2)
		c.Until("3 suspects both", func() bool { return c.Member(3).Counters().Suspicions == 3 })
		is("after its lease has lapsed", 3, ringleader.Counters{Tenures: 1, Lapses: 1, LeaderChanges: 1, Elections: 1, Suspicions: 3})
		c.Heal()
		c.Await(2)
		is("as a follower", 3, ringleader.Counters{Tenures: 1, Lapses: 1, LeaderChanges: 2, Elections: 2, Suspicions: 3})
		if n := c.Member(3).Counters(); n.ElectionTime < 100*time.Millisecond || n.Timers == 0 {
			t.Errorf("%+v", n)
		}
		if err := c.Member(2).Resign(t.Context()); err != nil {
			t.Error(err)
		}
		c.Until("another member leads", func() bool { v := c.Member(2).View(); return v.Known && v.Leader != 2 })
		if n := counted(c, 2); n.Tenures != 1 || n.Lapses != 0 {
			t.Errorf("after it has resigned it has %+v", n)
		}
	})
}

func TestARenewalIsLateIfLessThanHalfOfTheLeaseIsLeft(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		c := ringleadertest.New(t, ringleader.Config{}, 1, 2, 3)
		defer c.Close()
		c.Start(1, 2, 3)
		c.Await(3)
		c.Pass(time.Second)
		before := c.Member(3).Counters()
		if before.Renewals == 0 || before.LateRenewals != 0 {
			t.Errorf("without a fault there are %d renewals, %d of them late", before.Renewals, before.LateRenewals)
		}
		c.Cut([]uint64{3}, []uint64{1, 2})
		c.Pass(ringleader.Test().Lease * 2 / 3)
		c.Heal()
		c.Until("the lease is prolonged", func() bool { return c.Member(3).Counters().Renewals > before.Renewals })
		c.Pass(time.Second)
		if n := c.Member(3).Counters(); n.LateRenewals == 0 || n.Tenures != 1 || n.Lapses != 0 {
			t.Errorf("after a cut that is shorter than the lease: %+v", n)
		}
		if n := c.Member(1).Counters(); n.Renewals != 0 {
			t.Errorf("a follower has renewed a lease %d times", n.Renewals)
		}
	})
}

func TestAMemberThatNeverRanIsNotCountedAsASuspicion(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		c := ringleadertest.New(t, ringleader.Config{}, 1, 2, 3)
		defer c.Close()
		c.Start(3)
		c.Pass(2 * time.Second)
		if n := counted(c, 3); n != (ringleader.Counters{}) {
			t.Errorf("it has %+v", n)
		}
	})
}

// grants returns the votes that count for a member, in seconds, by their members.
func grants(m *ringleader.Member) map[uint64]float64 {
	found := map[uint64]float64{}
	for _, other := range m.Status().Members {
		if other.Grant != nil {
			found[other.ID] = *other.Grant
		}
	}
	return found
}

func TestTheLeaderShowsOnWhichVotesItsLeaseRests(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		c := ringleadertest.New(t, ringleader.Config{Members: []ringleader.MemberAddress{{ID: 1}, {ID: 2}, {ID: 3}, {ID: 4, Standby: true}}}, 1, 2, 3, 4)
		defer c.Close()
		c.Start(1, 2, 3, 4)
		c.Await(3)
		c.Pass(time.Second)
		if g := grants(c.Member(3)); len(g) != 3 || g[1] <= 0 || g[2] <= 0 || g[3] <= 0 {
			t.Errorf("the leader has the grants %v, want those of the three voters", g)
		}
		if g := grants(c.Member(1)); len(g) != 0 {
			t.Errorf("a follower has the grants %v", g)
		}
		full := grants(c.Member(3))[1]
		c.Cut([]uint64{1}, []uint64{2, 3, 4})
		c.Pass(ringleader.Test().Lease / 2)
		if g := grants(c.Member(3)); g[1] <= 0 || g[1] >= full || g[2] <= g[1] {
			t.Errorf("half a lease after member 1 was cut off, the leader has the grants %v; it had %v s of member 1", g, full)
		}
		c.Pass(ringleader.Test().Lease)
		s := c.Member(3).Status()
		if g := grants(c.Member(3)); g[1] != 0 || len(g) != 3 {
			t.Errorf("a lease later it has the grants %v", g)
		} else if s.Lease == nil || *s.Lease != min(g[2], g[3]) {
			t.Errorf("with the grants %v the lease is %v", g, s.Lease)
		}
		c.Cut([]uint64{1}, []uint64{2}, []uint64{3, 4})
		c.Until("the leader has lost its lease", func() bool { return c.Member(3).View().Role != ringleader.Leader })
		if g := grants(c.Member(3)); len(g) != 0 {
			t.Errorf("without a lease it has the grants %v", g)
		}
	})
}
