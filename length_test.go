package ringleader_test

import (
	"fmt"
	"log/slog"
	"math"
	"math/rand/v2"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"ringleader.example/ringleader"
	"ringleader.example/ringleader/ringleadertest"
)

func TestTheShortestLeaseSurvivesTwoLostRenewals(t *testing.T) {
	random := rand.New(rand.NewPCG(1, 2))
	check := func(timing ringleader.Timing) (whole ringleader.Timing, err error) {
		whole = timing.WithDefaults()
		return whole, ringleader.Config{ID: 1, Members: []ringleader.MemberAddress{{ID: 1, Address: "127.0.0.1:7001"}}, Data: "d", Timing: timing}.Check()
	}
	between := func(least, most time.Duration) time.Duration {
		return least + time.Duration(random.Int64N(int64(most-least)))
	}
	valid, shortened := 0, 0
	for range 20_000 {
		lease := between(100*time.Millisecond, 3*time.Second)
		whole, err := check(ringleader.Timing{
			Lease: lease, ShortestLease: between(0, 2*lease), Renewal: between(0, 2) * between(time.Millisecond, lease/3), Drift: 0.3 * random.Float64(),
			Grace: between(time.Millisecond, lease/3), Margin: between(time.Millisecond, lease/3), Preempt: time.Hour,
		})
		if err != nil {
			continue
		}
		valid++
		part := float64(whole.ShortestLease) / float64(whole.Lease)
		if part > 1 || part < 0.33 {
			t.Fatalf("%+v: from %v", whole, whole.ShortestLease)
		}
		if whole.ShortestLease < whole.Lease {
			shortened++
		}
		entitled := float64(whole.ShortestLease)*(1-math.Floor(whole.Drift*1e6+1)/1e6) - float64(time.Microsecond)
		if left := entitled - float64(whole.Margin+whole.Grace); whole.ShortestLease < whole.Lease && 3*part*float64(whole.Renewal) > left {
			t.Fatalf("%+v: renewals of the shortest lease are %v apart, and %v are left", whole, time.Duration(part*float64(whole.Renewal)), time.Duration(left))
		}
	}
	if valid < 1000 || shortened < 300 {
		t.Errorf("%d are valid, and %d have a shorter lease", valid, shortened)
	}
	for name, preset := range map[string]ringleader.Timing{"LAN": ringleader.LAN(), "WAN": ringleader.WAN(), "Fast": ringleader.Fast(), "Shared": ringleader.Shared(), "Test": ringleader.Test()} {
		if whole, err := check(preset); err != nil || whole != preset {
			t.Errorf("%s is %+v, and counts as %+v: %v", name, preset, whole, err)
		}
	}
	if _, err := check(ringleader.Timing{ShortestLease: -1}); err == nil || !strings.Contains(err.Error(), "ShortestLease") {
		t.Errorf("a shortest lease below 0: %v", err)
	}
	longer := ringleader.LAN()
	longer.Grace = 100 * time.Millisecond
	if whole, err := check(longer); err != nil || whole.ShortestLease < 335*time.Millisecond || whole.ShortestLease > 345*time.Millisecond {
		t.Errorf("with a longer grace the shortest lease is %v: %v", whole.ShortestLease, err)
	}
	if whole, err := check(ringleader.Timing{Lease: time.Second, ShortestLease: 400 * time.Millisecond}); err != nil || whole.ShortestLease != 400*time.Millisecond {
		t.Errorf("the default of Renewal lets the shortest lease be %v: %v", whole.ShortestLease, err)
	}
}

// quick is a group with the timing of a preset, whose leader has had time to shorten its lease.
func quick(t *testing.T, timing ringleader.Timing, j *journal) (c *ringleadertest.Cluster, leader uint64) {
	c = ringleadertest.New(t, ringleader.Config{Timing: timing, Logger: slog.New(j)}, 1, 2, 3)
	c.Start(1, 2, 3)
	leader = c.AwaitAny()
	c.Pass(2 * time.Second)
	return c, leader
}

func lengthAt(c *ringleadertest.Cluster, id uint64) time.Duration {
	return time.Duration(c.Member(id).Status().LeaseLength * float64(time.Second)).Round(time.Millisecond)
}

// Each member knows the length, and the leader renews its lease in time, as it sees that itself.
func TestALeaderThatIsCutOffIsReplacedAtTheEndOfTheShortestLease(t *testing.T) {
	for _, timing := range []ringleader.Timing{ringleader.LAN(), ringleader.Fast(), ringleader.Shared()} {
		synctest.Test(t, func(t *testing.T) {
			j := &journal{text: "leadership changed", level: slog.LevelInfo}
			c, old := quick(t, timing, j)
			defer c.Close()
			c.Pass(2 * timing.Lease)
			for id := uint64(1); id <= 3; id++ {
				if got := lengthAt(c, id); got != timing.ShortestLease {
					t.Errorf("member %d knows a lease of %v, not %v", id, got, timing.ShortestLease)
				}
			}
			if late := c.Member(old).Counters().LateRenewals; late != 0 {
				t.Errorf("%d renewals are late, while nothing is", late)
			}
			others := []uint64{1, 2, 3}
			c.Cut([]uint64{old}, append(others[:old-1:old-1], others[old:]...))
			begun := time.Now()
			c.Until("another one leads", func() bool {
				for _, id := range others {
					if id != old && c.Member(id).IsLeader() {
						return true
					}
				}
				return false
			})
			if took := time.Since(begun); took > timing.ShortestLease+4*timing.Answers+timing.Defer {
				t.Errorf("the next leader needs %v; the lease was for %v", took, timing.ShortestLease)
			}
			want := fmt.Sprintf("; the lease was for %d ms", timing.ShortestLease.Milliseconds())
			if lines := strings.Join(j.values("because"), "\n"); strings.Count(lines, want) < 3 {
				t.Errorf("%q is not in the lines of the log: %s", want, lines)
			}
		})
	}
}

// One stall in minutes is enough: the next one may be longer.
func TestALeaseIsAsLongAsTheWorstDelayOfMinutesDemands(t *testing.T) {
	t.Parallel()
	if testing.Short() {
		t.Skip("twenty minutes in which nothing happens")
	}
	synctest.Test(t, func(t *testing.T) {
		j := &journal{text: "leadership changed", level: slog.LevelInfo}
		c, leader := quick(t, ringleader.LAN(), j)
		defer c.Close()
		stall := func(d time.Duration) {
			c.Stop(leader)
			c.Pass(d)
			c.Continue(leader)
			c.Pass(200 * time.Millisecond)
		}
		stall(80 * time.Millisecond) // of 196 that it has at least
		after := lengthAt(c, leader)
		if after < 350*time.Millisecond {
			t.Fatalf("after a stall the lease is for %v", after)
		}
		c.Pass(30 * time.Second)
		if got := lengthAt(c, leader); got < after*3/4 {
			t.Errorf("half a minute later it is for %v", got)
		}
		stall(250 * time.Millisecond) // more than the shortest lease bears
		if v := c.Member(leader).View(); v.Role != ringleader.Leader || c.Member(leader).Counters().Tenures != 1 {
			t.Errorf("it has lost the lead: %+v", v)
		}
		for quiet := 0; lengthAt(c, leader) != ringleader.LAN().ShortestLease; quiet++ {
			if quiet == 20 {
				t.Fatalf("after twenty quiet minutes it is for %v", lengthAt(c, leader))
			}
			c.Pass(time.Minute)
		}
	})
}

// A leader that takes over knows what was late before, though it did not lead.
func TestASuccessorInheritsNoLengthButKnowsWhatWasLate(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		j := &journal{text: "leadership changed", level: slog.LevelInfo}
		c, old := quick(t, ringleader.LAN(), j)
		defer c.Close()
		c.Stop(old)
		c.Pass(80 * time.Millisecond)
		c.Continue(old)
		c.Pass(time.Second)
		c.Kill(old)
		c.Prove(old)
		next := c.AwaitAny()
		c.Pass(2 * time.Second)
		if got := lengthAt(c, next); got < 350*time.Millisecond {
			t.Errorf("its lease is for %v", got)
		}
	})
	synctest.Test(t, func(t *testing.T) {
		j := &journal{text: "leadership changed", level: slog.LevelInfo}
		c, old := quick(t, ringleader.LAN(), j)
		defer c.Close()
		c.Kill(old)
		c.Prove(old)
		next := c.AwaitAny()
		c.Pass(700 * time.Millisecond)
		if got := lengthAt(c, next); got != ringleader.LAN().ShortestLease {
			t.Errorf("where nothing was late, its lease is for %v after 0.7 s", got)
		}
	})
}

// Reads that are verified renew the lease again and again. They neither keep it long nor let it forget.
func TestVerifiedReadsKeepNoLeaseLong(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		j := &journal{text: "leadership changed", level: slog.LevelInfo}
		c := ringleadertest.New(t, ringleader.Config{Timing: ringleader.LAN(), Logger: slog.New(j)}, 1, 2, 3)
		defer c.Close()
		c.Start(1, 2, 3)
		leader := c.AwaitAny()
		for range 400 {
			c.Pass(5 * time.Millisecond)
			if err := c.Member(leader).VerifyLeader(t.Context()); err != nil {
				t.Fatal(err)
			}
		}
		if got := lengthAt(c, leader); got != ringleader.LAN().ShortestLease {
			t.Errorf("the lease is for %v", got)
		}
	})
}
