package ringleader

import (
	"context"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"ringleader.example/ringleader/clock"
	"ringleader.example/ringleader/clock/clocktest"
	"ringleader.example/ringleader/election"
	"ringleader.example/ringleader/storage"
	"ringleader.example/ringleader/transport/transporttest"
)

// burning is the timer of a fuse that notes for how long it was set.
type burning struct {
	clock clock.Clock

	mu     sync.Mutex
	at     time.Duration // when it burns
	left   time.Duration // the least time that was left when it was set anew
	sets   int
	closed bool
	wrong  bool // it was set when it was closed
}

func (b *burning) Set(at time.Duration) error {
	b.mu.Lock()
	defer b.mu.Unlock()
	if left := b.at - b.clock.Boottime(); b.sets > 0 {
		b.left = min(b.left, left)
	}
	b.at, b.wrong = at, b.wrong || b.closed
	b.sets++
	return nil
}

func (b *burning) Close() error {
	b.mu.Lock()
	defer b.mu.Unlock()
	b.closed = true
	return nil
}

func (b *burning) look() (at, left time.Duration, sets int) {
	b.mu.Lock()
	defer b.mu.Unlock()
	return b.at, b.left, b.sets
}

// The fuse does not kill a process that has no processor for most of a renewed lease. A renewal does not set the fuse of work that may hang.
func TestEachRenewalSetsTheFuse(t *testing.T) {
	for name, stalls := range map[string]bool{"the lead is given up": false, "the work makes no progress": true} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) { fused(t, stalls) })
		})
	}
}

// fused lets a member lead whose work does not end at once, and checks its fuse. It runs in a bubble of testing/synctest, whose clock its sleeps move.
func fused(t *testing.T, stalls bool) {
	over, timing := transporttest.NewExchange(), Test()
	if stalls {
		timing.Progress = time.Second
	}
	fuse := &burning{clock: clocktest.New(), left: time.Hour}
	config := Config{Timing: timing, Transport: over.Open, Members: []MemberAddress{{ID: 1, Address: "member1:1"}, {ID: 2, Address: "member2:1"}}}
	var members []*Member
	for _, id := range []uint64{1, 2} {
		config.ID, config.Clock = id, clocktest.New()
		if id == 2 {
			config.Clock, config.fuse = fuse.clock, func() (fuseTimer, error) { return fuse, nil }
		}
		var err error
		if config.Storage, err = storage.Memory().Open(); err != nil {
			t.Fatal(err)
		}
		m, err := Join(t.Context(), config)
		if err != nil {
			t.Fatal(err)
		}
		defer m.Close()
		members = append(members, m)
	}
	leader, told, release := members[1], make(chan struct{}), make(chan struct{})
	ctx, cancel := context.WithCancel(t.Context())
	ended := make(chan struct{})
	go func() {
		defer close(ended)
		_ = leader.Lead(ctx, func(ctx context.Context, l Leadership) error {
			progress := time.NewTicker(timing.Lease)
			defer progress.Stop()
			for n := 0; ctx.Err() == nil; n++ {
				if n < leases {
					l.Alive()
				}
				select {
				case <-ctx.Done():
				case <-progress.C:
				}
			}
			close(told)
			<-release
			return nil
		})
	}()
	time.Sleep(leases * timing.Lease)
	synctest.Wait() // a renewal of this moment
	at, left, sets := fuse.look()
	if ends, leads := leader.group.Ends(election.Term(leader.View().Term)); !leads || at != ends-timing.Margin/2 {
		t.Errorf("the fuse burns at %v, and the lease ends at %v: %v", at, ends, leads)
	}
	if sets < 2*leases || left < timing.Lease/2 {
		t.Errorf("in %d leases the fuse was set %d times, once with %v left", leases, sets, left)
	}

	if !stalls {
		cancel()
	}
	<-told
	synctest.Wait()
	at, _, _ = fuse.look()
	time.Sleep(2 * timing.Renewal)
	synctest.Wait()
	if later, _, _ := fuse.look(); later > at == stalls {
		t.Errorf("the work is to stop; the fuse burns at %v, and two renewals later at %v", at, later)
	}
	close(release)
	cancel()
	<-ended
	fuse.mu.Lock()
	defer fuse.mu.Unlock()
	if !fuse.closed || fuse.wrong {
		t.Errorf("the work has ended; the fuse is removed: %v, and set later: %v", fuse.closed, fuse.wrong)
	}
}

// leases is for how many leases the work makes progress.
const leases = 20

// Work of one term may still stop while the member leads again.
func TestTheFuseOfATermIsNotSetByAnother(t *testing.T) {
	timer := &burning{clock: clocktest.New()}
	f := &fuse{timer: timer, term: 3, early: time.Second}
	f.renewed(3, 5*time.Second)
	f.renewed(4, time.Minute)
	if at, _, _ := timer.look(); at != 4*time.Second {
		t.Errorf("the fuse burns at %v, one second before 5 s", at)
	}
}
