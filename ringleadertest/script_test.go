package ringleadertest_test

import (
	"slices"
	"testing"
	"testing/synctest"
	"time"

	"ringleader.example/ringleader"
	"ringleader.example/ringleader/ringleadertest"
)

// scripted runs a test on three members of which 3 leads, and whose messages of some kinds are held from then on.
func scripted(t *testing.T, script func(c *ringleadertest.Cluster, term uint64), kinds ...string) {
	synctest.Test(t, func(t *testing.T) {
		c := ringleadertest.New(t, ringleader.Config{}, 1, 2, 3)
		defer c.Close()
		c.Start(1, 2, 3)
		c.Await(3)
		c.Hold(func(f ringleadertest.Frame) bool { return slices.Contains(kinds, f.Kind) })
		script(c, c.Member(3).View().Term)
	})
}

// deliverAll delivers what is held, the last first.
func deliverAll(c *ringleadertest.Cluster) {
	for held := len(c.Held()); held > 0; held = len(c.Held()) {
		c.Deliver(held - 1)
	}
}

// Rule 3: an answer counts from the time of its request, however late it comes.
func TestALateAnswerProlongsALeaseFromItsRequest(t *testing.T) {
	timing := ringleader.Test()
	scripted(t, func(c *ringleadertest.Cluster, term uint64) {
		c.Until("a grant is held", func() bool { return len(c.Held()) > 0 })
		const late = 150 * time.Millisecond
		c.Pass(late)
		c.Deliver(0)
		entitled := time.Duration(float64(timing.Lease) * (1 - timing.Drift))
		if left := *c.Member(3).Status().Lease; left > (entitled - late).Seconds() {
			t.Errorf("the lease has %v s left; the answer to a request of %v ago came now", left, late)
		}
	}, "grant")
}

// Rule 3: a lease that has lapsed does not come back.
func TestALapsedLeaseIsNotRevivedByLateAnswers(t *testing.T) {
	scripted(t, func(c *ringleadertest.Cluster, term uint64) {
		c.Until("3 leads no more", func() bool { return c.Member(3).View().Role != ringleader.Leader })
		c.Deliver(0)
		if v := c.Member(3).View(); v.Role == ringleader.Leader && v.Term == term {
			t.Errorf("it leads again in term %d", term)
		}
		c.Hold(nil)
		deliverAll(c)
		if leader := c.AwaitAny(); c.Member(leader).View().Term <= term {
			t.Errorf("%d leads in term %d after term %d", leader, c.Member(leader).View().Term, term)
		}
	}, "grant")
}

// Rule 5: a Release that arrives twice, and late, voids no later grant.
func TestALateReleaseVoidsNoLaterGrant(t *testing.T) {
	scripted(t, func(c *ringleadertest.Cluster, _ uint64) {
		c.Member(3).Transfer(2)
		c.Until("a Release to each is held", func() bool { return len(c.Held()) == 2 })
		for i := range c.Held() {
			c.Duplicate(2 * i)
		}
		c.Deliver(0)
		c.Deliver(1) // one copy to each
		c.Hold(nil)
		c.Await(2)
		before := c.Member(2).View()
		deliverAll(c) // the other copies
		c.Pass(ringleader.Test().Lease)
		if after := c.Member(2).View(); after != before {
			t.Errorf("2 had %+v, and then %+v", before, after)
		}
	}, "release")
}

// Rule 4: a restarted member grants no Claim while a promise of its last life may run.
func TestARestartedMemberWaitsBeforeItVotes(t *testing.T) {
	scripted(t, func(c *ringleadertest.Cluster, _ uint64) {
		c.Cut([]uint64{1, 2}, []uint64{3})
		c.Kill(1)
		c.Start(1)
		cut := time.Now()
		c.Await(2) // the judge looks at the lease of 3 meanwhile
		if took := time.Since(cut); took < ringleader.Test().Lease*9/10 {
			t.Errorf("2 was elected %v after the cut", took)
		}
	})
}

// Rule 6: without a proof the others wait for the end of the lease of a dead leader, and with one they elect at once.
func TestAProofOfDeathSavesTheRestOfALease(t *testing.T) {
	took := func(proven bool) (took time.Duration) {
		scripted(t, func(c *ringleadertest.Cluster, _ uint64) {
			died := time.Now()
			c.Kill(3)
			if proven {
				c.Prove(3)
			}
			c.Await(2)
			took = time.Since(died)
		})
		return took
	}
	if with, without := took(true), took(false); with > 10*time.Millisecond || without < ringleader.Test().Lease/2 {
		t.Errorf("an election takes %v with a proof, and %v without one", with, without)
	}
}

// Rule 6: a member that stopped in the kernel, and not for good, has no proof of death, and its successor waits.
func TestAStoppedLeaderLeadsNoMoreWhenItContinues(t *testing.T) {
	scripted(t, func(c *ringleadertest.Cluster, term uint64) {
		c.Stop(3)
		c.Await(2)
		c.Continue(3)
		if v := c.Member(3).View(); v.Role == ringleader.Leader {
			t.Errorf("it believes that it leads: %+v", v)
		}
		c.Await(2)
	})
}
