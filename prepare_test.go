package ringleader_test

import (
	"context"
	"errors"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"ringleader.example/ringleader"
	"ringleader.example/ringleader/ringleadertest"
)

// barracks are members that prepare until the test lets them be warm.
type barracks struct {
	*ringleadertest.Cluster
	mu   sync.Mutex
	runs map[uint64]int
	ends map[uint64]chan error // what Prepare of a member returns
}

// newBarracks makes members of which only some are not warm at once.
func newBarracks(t *testing.T, config ringleader.Config, cold ...uint64) *barracks {
	b := &barracks{ringleadertest.New(t, config, 1, 2, 3), sync.Mutex{}, map[uint64]int{}, map[uint64]chan error{}}
	for _, id := range cold {
		b.ends[id] = make(chan error)
	}
	b.Configure(func(id uint64, c *ringleader.Config) {
		c.Prepare = func(ctx context.Context) error {
			b.mu.Lock()
			b.runs[id]++
			end := b.ends[id]
			b.mu.Unlock()
			if end == nil {
				return nil
			}
			select {
			case err := <-end:
				return err
			case <-ctx.Done():
				return context.Cause(ctx)
			}
		}
	})
	return b
}

// begun returns how often Prepare of a member has run.
func (b *barracks) begun(id uint64) int {
	b.mu.Lock()
	defer b.mu.Unlock()
	return b.runs[id]
}

// are waits until all members know how warm one is.
func (b *barracks) are(id uint64, warmth ringleader.Warmth, by ...uint64) {
	b.Until("the members know that one is "+string(warmth), func() bool {
		for _, other := range by {
			if b.Member(other).Status().Members[id-1].Warmth != warmth {
				return false
			}
		}
		return true
	})
}

func TestAHandoverGoesToAWarmMemberBeforeOneOfHigherRank(t *testing.T) {
	handovers := map[string]func(*ringleadertest.Cluster) error{
		"resign": func(c *ringleadertest.Cluster) error { return c.Member(3).Resign(context.Background()) },
		"close":  func(c *ringleadertest.Cluster) error { return c.Member(3).Close() },
	}
	for name, handOver := range handovers {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				b := newBarracks(t, ringleader.Config{Members: []ringleader.MemberAddress{{ID: 2, Priority: 5}, {ID: 3, Priority: 9}}}, 2)
				defer b.Close()
				b.Start(1, 2, 3)
				b.Await(3)
				b.are(1, ringleader.Warm, 1, 2, 3)
				b.are(2, ringleader.Warming, 1, 2, 3)
				b.are(3, ringleader.Warm, 1, 2, 3) // it leads
				begun := time.Now()
				if err := handOver(b.Cluster); err != nil {
					t.Error(err)
				}
				if took := time.Since(begun); took > time.Second {
					t.Errorf("a member is warm, and the leader waits for %v", took)
				}
				b.Until("the warm member leads", func() bool { return b.Member(1).IsLeader() })
			})
		})
	}
}

// The algorithm of the leader hears of a warm member only with that member's next answer.
func TestAHandoverGoesToAMemberThatHasJustBecomeWarm(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		b := newBarracks(t, ringleader.Config{}, 1, 2)
		defer b.Close()
		b.Start(1, 2, 3)
		b.Await(3)
		b.are(1, ringleader.Warming, 3)
		b.are(2, ringleader.Warming, 3)
		resigned := make(chan error, 1)
		begun := time.Now()
		go func() { resigned <- b.Member(3).Resign(context.Background()) }()
		b.Pass(ringleader.LAN().Handover / 2)
		if !b.Member(3).IsLeader() {
			t.Error("no other member is warm, and the leader has handed over")
		}
		b.ends[1] <- nil
		if err := <-resigned; err != nil {
			t.Error(err)
		}
		if took := time.Since(begun); took > ringleader.LAN().Handover*3/4 {
			t.Errorf("it has handed over after %v", took)
		}
		b.Until("the warm member leads", func() bool { return b.Member(1).IsLeader() })
	})
}

// It can neither vote nor claim while the promises of its life before run.
func TestAMemberThatHasJustRestartedIsNotWarm(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		b := newBarracks(t, ringleader.Config{Timing: ringleader.LAN()})
		defer b.Close()
		b.Start(1, 2, 3)
		b.Await(3)
		b.are(2, ringleader.Warm, 1, 3)
		b.Kill(2)
		begun := time.Now()
		b.Start(2)
		b.Until("it knows the leader", func() bool {
			status := b.Member(2).Status()
			if status.Members[1].Warmth == ringleader.Warm {
				t.Fatalf("it is warm %v after its restart", time.Since(begun))
			}
			return status.Leader != nil
		})
		b.are(2, ringleader.Warming, 2, 3)
		if err := b.Member(3).Resign(context.Background()); err != nil {
			t.Fatal(err)
		}
		b.Await(1)
		b.are(2, ringleader.Warm, 1, 2, 3)
		if took, lease := time.Since(begun), ringleader.LAN().Lease; took < lease || took > lease+200*time.Millisecond {
			t.Errorf("it is warm %v after its restart; promises are for %v", took, lease)
		}
	})
}

func TestAHandoverWaitsForABoundedTime(t *testing.T) {
	handovers := map[string]func(*barracks, context.Context, context.CancelFunc) error{
		"resign": func(b *barracks, _ context.Context, _ context.CancelFunc) error {
			return b.Member(3).Resign(context.Background())
		},
		"close":    func(b *barracks, _ context.Context, _ context.CancelFunc) error { return b.Member(3).Close() },
		"transfer": func(b *barracks, _ context.Context, _ context.CancelFunc) error { return b.Member(3).Transfer(1) },
		"end of the context of Lead": func(_ *barracks, _ context.Context, cancel context.CancelFunc) error {
			cancel()
			return nil
		},
	}
	for name, handOver := range handovers {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				timing := ringleader.Test()
				timing.Handover = 3 * time.Second
				b := newBarracks(t, ringleader.Config{Timing: timing}, 1, 2)
				defer b.Close()
				b.Start(1, 2, 3)
				b.Await(3)
				b.are(1, ringleader.Warming, 3)
				b.are(2, ringleader.Warming, 3)
				ctx, cancel := context.WithCancel(t.Context())
				began, ended := make(chan struct{}), make(chan time.Time, 1)
				var led sync.WaitGroup
				led.Go(func() {
					_ = b.Member(3).Lead(ctx, func(ctx context.Context, _ ringleader.Leadership) error {
						close(began)
						<-ctx.Done()
						ended <- time.Now()
						return nil
					})
				})
				<-began
				begun := time.Now()
				go handOver(b, ctx, cancel)
				if waited := (<-ended).Sub(begun); waited < timing.Handover || waited > timing.Handover+time.Second {
					t.Errorf("the work ends %v after the wish to hand over", waited)
				}
				b.Until("another member leads", func() bool { return b.Member(1).IsLeader() || b.Member(2).IsLeader() })
				if name == "transfer" && !b.Member(1).IsLeader() {
					t.Error("another member than the given one leads")
				}
				cancel()
				led.Wait()
			})
		})
	}
}

func TestACrashDoesNotWaitForWarmth(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		b := newBarracks(t, ringleader.Config{}, 1, 2)
		defer b.Close()
		b.Start(1, 2, 3)
		b.Await(3)
		b.are(1, ringleader.Warming, 2, 3)
		b.are(2, ringleader.Warming, 1, 3)
		begun := time.Now()
		b.Kill(3)
		b.AwaitAny()
		if took := time.Since(begun); took > 2*ringleader.Test().Lease+ringleader.Test().Suspicion {
			t.Errorf("no member is warm, and the group has no leader for %v", took)
		}
		b.are(2, ringleader.Warm, 1, 2) // it leads
	})
}

func TestAfterACrashAWarmMemberLeads(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		b := newBarracks(t, ringleader.Config{}, 2)
		defer b.Close()
		b.Start(1, 2, 3)
		b.Await(3)
		b.are(1, ringleader.Warm, 1, 2, 3)
		b.are(2, ringleader.Warming, 1, 2, 3)
		b.Pass(time.Second)
		b.Kill(3)
		b.Await(1)
	})
}

func TestAMemberThatCannotBecomeWarmLeadsOnlyIfNoOtherCan(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		b := newBarracks(t, ringleader.Config{}, 1, 2)
		defer b.Close()
		b.Start(1, 2, 3)
		b.Await(3)
		b.ends[2] <- errors.New("the cache has no source")
		b.are(2, ringleader.Cold, 1, 2, 3)
		if m := b.Member(3).Status().Members[1]; m.WhyCold != "the cache has no source" || m.Unable != "" {
			t.Errorf("the leader knows of the cold member %+v", m)
		}
		b.Pass(time.Second / 2)
		b.Kill(3)
		b.Await(1) // it becomes warm yet
		if runs := b.begun(2); runs != 1 {
			t.Errorf("within half a second the one that has failed prepares %d times", runs)
		}
		b.Until("it tries again", func() bool { return b.begun(2) == 2 })
		if m := b.Member(1).Status().Members[1]; m.Warmth != ringleader.Cold {
			t.Errorf("while it tries again it is %q", m.Warmth)
		}
	})
	synctest.Test(t, func(t *testing.T) {
		b := newBarracks(t, ringleader.Config{Members: []ringleader.MemberAddress{{ID: 1, Witness: true}, {ID: 3, Witness: true}}}, 2)
		defer b.Close()
		b.Start(2)
		b.ends[2] <- errors.New("the cache has no source")
		b.are(2, ringleader.Cold, 2)
		b.Start(1, 3)
		b.Await(2)
		if runs := b.begun(1); runs != 0 {
			t.Errorf("a witness prepares %d times", runs)
		}
	})
}

func TestAMemberPreparesAgainAfterItsTenureAndWhenItIsAsked(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		b := newBarracks(t, ringleader.Config{})
		defer b.Close()
		b.Start(1, 2, 3)
		b.Await(3)
		b.are(2, ringleader.Warm, 3)
		before := b.begun(3)
		b.Member(3).PrepareAgain() // it leads, and so is warm
		b.Settle()
		if runs := b.begun(3); runs != before {
			t.Errorf("the leader prepares %d times", runs-before)
		}
		if err := b.Member(3).Resign(context.Background()); err != nil {
			t.Error(err)
		}
		b.Await(2)
		b.Until("the former leader prepares", func() bool { return b.begun(3) == before+1 })
		b.Member(3).PrepareAgain()
		b.Until("it prepares when it is asked", func() bool { return b.begun(3) == before+2 })
	})
}

// Work does not wait for a preparation that does not obey.
func TestWorkBeginsWhilePrepareStillRuns(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		c := ringleadertest.New(t, ringleader.Config{}, 1, 2)
		defer c.Close()
		begun, release, cause := make(chan struct{}, 1), make(chan struct{}), make(chan error, 1)
		c.Configure(func(id uint64, config *ringleader.Config) {
			if id != 2 {
				return
			}
			config.Prepare = func(ctx context.Context) error {
				select {
				case begun <- struct{}{}:
				default: // again, at the end
				}
				<-ctx.Done()
				cause <- context.Cause(ctx)
				<-release
				return nil
			}
		})
		c.Start(2)
		<-begun // alone it does not lead
		c.Start(1)
		c.Await(2)
		began := make(chan struct{})
		ctx, cancel := context.WithCancel(t.Context())
		var led sync.WaitGroup
		led.Go(func() {
			_ = c.Member(2).Lead(ctx, func(ctx context.Context, _ ringleader.Leadership) error {
				close(began)
				<-ctx.Done()
				return nil
			})
		})
		<-began
		if err := <-cause; !errors.Is(err, ringleader.ErrLeads) {
			t.Errorf("the context of Prepare ends: %v", err)
		}
		cancel()
		led.Wait()
		close(release)
	})
}

func TestALeaderIsReadyWhenItsWorkTells(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		c := ringleadertest.New(t, ringleader.Config{AwaitReady: true}, 1)
		defer c.Close()
		c.Start(1)
		c.Await(1)
		leaderships := make(chan ringleader.Leadership)
		ctx, cancel := context.WithCancel(t.Context())
		var led sync.WaitGroup
		led.Go(func() {
			_ = c.Member(1).Lead(ctx, func(ctx context.Context, l ringleader.Leadership) error {
				leaderships <- l
				<-ctx.Done()
				return nil
			})
		})
		l := <-leaderships
		ready := func(want bool) {
			t.Helper()
			if got := !c.Member(1).Status().NotReady; got != want {
				t.Errorf("the leader is ready: %v", got)
			}
		}
		ready(false)
		l.SetReady(true)
		ready(true)
		l.SetReady(false)
		ready(false)
		cancel()
		led.Wait()
		c.Until("the lead has ended", func() bool { return !c.Member(1).IsLeader() })
		l.SetReady(true) // of an earlier tenure
		go c.Member(1).Lead(t.Context(), func(ctx context.Context, l ringleader.Leadership) error {
			leaderships <- l
			<-ctx.Done()
			return nil
		})
		<-leaderships
		l.SetReady(true)
		ready(false)
	})
}

func TestWhatDoesNotGoTogetherWithPrepare(t *testing.T) {
	prepare := func(context.Context) error { return nil }
	members := []ringleader.MemberAddress{{ID: 1, Address: "127.0.0.1:7001", Priority: 16384}}
	lacks(t, ringleader.Config{ID: 1, Members: members, Data: "data", Prepare: prepare}.Check(), ringleader.ErrConfig, "the priority of member 1 is 16384; with Prepare it is up to 16383")
	members[0].Priority = 0
	lacks(t, ringleader.Config{ID: 1, Members: members, Data: "data", Weight: 16384, Prepare: prepare}.Check(), ringleader.ErrConfig, "Weight is 16384; with Prepare it is up to 16383")
	lacks(t, ringleader.Config{ID: 1, Members: members, Algorithm: ringleader.Bully, NoQuorum: true, Prepare: prepare}.Check(), ringleader.ErrConfig, "bully does not know Prepare")
}

// A preparation that did not end while the member led has prepared nothing for its next lead.
func TestAMemberIsNotWarmAfterALeadThatWasShorterThanItsPreparation(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		c := ringleadertest.New(t, ringleader.Config{}, 1, 2)
		defer c.Close()
		begun, release, other := make(chan struct{}, 1), make(chan struct{}), make(chan struct{})
		c.Configure(func(id uint64, config *ringleader.Config) {
			config.Prepare = func(ctx context.Context) error {
				if id == 1 {
					<-other
					return nil
				}
				begun <- struct{}{}
				<-release // it does not obey
				return context.Cause(ctx)
			}
		})
		c.Start(2)
		<-begun // alone it does not lead
		c.Start(1)
		c.Await(2)
		close(other)
		if err := c.Member(2).Transfer(1); err != nil {
			t.Fatal(err)
		}
		c.Await(1)
		warmth := func() ringleader.Warmth { return c.Member(2).Status().Members[1].Warmth }
		if got := warmth(); got != ringleader.Warming {
			t.Errorf("while what it prepared for its last lead goes on it is %q", got)
		}
		release <- struct{}{}
		<-begun // again
		if got := warmth(); got != ringleader.Warming {
			t.Errorf("while it prepares again it is %q", got)
		}
		close(release)
		c.Until("it is warm", func() bool { return warmth() == ringleader.Warm })
	})
}
