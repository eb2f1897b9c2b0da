package ringleader_test

import (
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"ringleader.example/ringleader"
	"ringleader.example/ringleader/ringleadertest"
)

// The next renewal of a lease of a minute may be ten seconds away.
func TestAMemberThatConnectsFollowsAtOnce(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		c := ringleadertest.New(t, ringleader.Config{Timing: ringleader.Timing{Lease: time.Minute, Preempt: time.Minute}}, 1, 2, 3)
		defer c.Close()
		c.Start(1, 2, 3)
		c.Await(3)
		follows := func(what string, id uint64) {
			begun := time.Now()
			c.Until(what, func() bool { return c.Member(id).View().Leader == 3 })
			if took := time.Since(begun); took > time.Second {
				t.Errorf("%s: after %v", what, took)
			}
		}
		c.Kill(1)
		c.Pass(time.Second)
		c.Start(1)
		follows("a member that was restarted follows", 1)
		c.Cut([]uint64{1, 3}, []uint64{2})
		c.Until("the promise of member 2 runs out", func() bool { return !c.Member(2).View().Known })
		c.Heal()
		follows("a member that was cut off follows", 2)
	})
}

// Members that do not lead send each other few heartbeats. None is suspected for that. A long lease has few renewals, which would do for
// heartbeats.
func TestHeartbeatsAreRareBetweenMembersThatDoNotLead(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		timing := ringleader.Timing{Lease: time.Minute, Preempt: time.Minute}.WithDefaults()
		c := ringleadertest.New(t, ringleader.Config{Timing: timing}, 1, 2, 3)
		defer c.Close()
		c.Start(1, 2, 3)
		c.Await(3)
		c.Pass(time.Second)
		beats := beatsOf(c)
		const length = 20 * time.Second
		remain(t, c, length)
		often, seldom := int(length/timing.Heartbeat), int(length/timing.Suspicion)
		for from := uint64(1); from <= 3; from++ {
			for to := uint64(1); to <= 3; to++ {
				want := often
				switch {
				case from == to:
					want = 0
				case from+to == 1+2:
					want = seldom
				}
				if got := beats(from, to); got > want+2 || got < want-want/10-2 {
					t.Errorf("%d heartbeats from %d to %d in %v, not %d", got, from, to, length, want)
				}
			}
		}
	})
}

// beatsOf counts heartbeats from now on.
func beatsOf(c *ringleadertest.Cluster) (beats func(from, to uint64) int) {
	type link struct{ from, to uint64 }
	var mu sync.Mutex
	sent := map[link]int{}
	c.Hold(func(f ringleadertest.Frame) bool {
		mu.Lock()
		defer mu.Unlock()
		if f.Kind == "heartbeat" {
			sent[link{f.From, f.To}]++
		}
		return false
	})
	return func(from, to uint64) int {
		mu.Lock()
		defer mu.Unlock()
		return sent[link{from, to}]
	}
}

// remain lets time pass in which all members reach each other.
func remain(t *testing.T, c *ringleadertest.Cluster, d time.Duration) {
	t.Helper()
	for begun := time.Now(); time.Since(begun) < d; c.Pass(20 * time.Millisecond) {
		if missing(c) {
			t.Fatalf("after %v a member is suspected: %+v, %+v", time.Since(begun), c.Member(1).Status().Members, c.Member(2).Status().Members)
		}
	}
}

// missing reports whether a member does not reach another one.
func missing(c *ringleadertest.Cluster) bool {
	for id := range uint64(3) {
		for _, m := range c.Member(id + 1).Status().Members {
			if !m.Reachable {
				return true
			}
		}
	}
	return false
}

// A new connection has the usual patience, until a heartbeat tells otherwise. So there is one soon.
func TestAConnectionThatIsMadeAgainLasts(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		timing := ringleader.LAN()
		c := ringleadertest.New(t, ringleader.Config{Timing: timing}, 1, 2, 3)
		defer c.Close()
		c.Start(1, 2, 3)
		c.Await(3)
		beats := beatsOf(c)
		for i := range 20 {
			c.Pass(3*timing.Suspicion + time.Duration(i)*17*time.Millisecond)
			c.Break(1, 2)
			c.Until("the connection breaks", func() bool { return missing(c) })
			before := beats(1, 2) // the new connection may begin with a heartbeat
			c.Until("they are connected again", func() bool { return !missing(c) })
			c.Pass(2 * timing.Heartbeat)
			if beats(1, 2) == before {
				t.Errorf("no heartbeat in %v after the connection", 2*timing.Heartbeat)
			}
			remain(t, c, 2*timing.Suspicion)
		}
	})
}

// The promise of member 1 outlives its deadline by a suspension, in which timers stand still. The promise of member 2, which asks
// for the vote of 1 meanwhile, is over.
func TestAMemberThatWasSuspendedIsNotAskedWithoutPause(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		c := ringleadertest.New(t, ringleader.Config{}, 1, 2, 3)
		defer c.Close()
		c.Start(1, 2, 3)
		c.Await(3)
		var mu sync.Mutex
		questions := 0
		c.Hold(func(f ringleadertest.Frame) bool {
			mu.Lock()
			defer mu.Unlock()
			if f.Kind == "election" {
				questions++
			}
			return f.To == 2 && f.Kind == "renew"
		})
		early := ringleader.Test().Lease / 3 // by so much the promise of 2 ends before that of 1
		c.Pass(early)
		c.Host(1).Clock.Suspend(ringleader.Test().Lease)
		c.Kill(3)
		c.Start(3) // so that all answer; it waits for longer than 1
		c.AwaitAny()
		mu.Lock()
		defer mu.Unlock()
		if most := 4 * int(early/time.Millisecond); questions < 2 || questions > most {
			t.Errorf("there are %d questions, and %d are many", questions, most)
		}
	})
}
