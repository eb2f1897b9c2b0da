package ringleader_test

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"ringleader.example/ringleader"
	"ringleader.example/ringleader/ringleadertest"
)

// users are goroutines that call the methods of members at random. What they check is what those promise.
type users struct {
	*testing.T
	cluster *ringleadertest.Cluster
	ids     []uint64
	ended   chan struct{} // closed when they are to end

	mu      sync.Mutex
	working uint64 // the member whose work runs; 0: none
	term    uint64 // of the last work
	began   int    // how often work has
}

var errEnough = errors.New("the work has done enough")

// work works for a random time, and returns soon after its context is done.
func (u *users) work(id uint64, r *rand.Rand, most time.Duration) func(context.Context, ringleader.Leadership) error {
	return func(ctx context.Context, l ringleader.Leadership) error {
		u.mu.Lock()
		if u.working != 0 || l.Term() <= u.term || !l.Valid() {
			u.Errorf("member %d begins work in term %d, valid %v, after that of term %d; member %d works", id, l.Term(), l.Valid(), u.term, u.working)
		}
		u.working, u.term = id, l.Term()
		u.began++
		u.mu.Unlock()
		defer func() {
			u.mu.Lock()
			u.working = 0
			u.mu.Unlock()
		}()
		if r.IntN(2) == 0 {
			_ = l.Publish(fmt.Sprint(r.IntN(3))) // its lease may have ended
		}
		l.SetReady(r.IntN(2) == 0)
		l.Alive()
		pass(ctx, r, most)
		if ctx.Err() == nil {
			return errEnough
		}
		pass(context.WithoutCancel(ctx), r, ringleader.Test().Grace)
		return nil
	}
}

// pass lets a random time pass, or none.
func pass(ctx context.Context, r *rand.Rand, most time.Duration) {
	alarm := time.NewTimer(time.Duration(r.Int64N(int64(most))))
	defer alarm.Stop()
	if r.IntN(4) > 0 {
		select {
		case <-alarm.C:
		case <-ctx.Done():
		}
	}
}

// use calls a method of a member at random.
func (u *users) use(id uint64, r *rand.Rand) {
	m, other := u.cluster.Member(id), u.ids[r.IntN(len(u.ids))]
	ctx, cancel := context.WithTimeout(context.Background(), time.Duration(1+r.Int64N(int64(2*time.Second))))
	defer cancel()
	before, highest := m.View(), u.highest()
	var err error
	var allowed []error // and the end of ctx
	switch r.IntN(9) {
	case 0, 1, 2:
		err = m.Lead(ctx, u.work(id, r, time.Second))
		allowed = []error{errEnough, ringleader.ErrConfig} // it runs already
	case 3:
		err = m.Resign(ctx)
		allowed = []error{ringleader.ErrNotLeader}
		if after := m.View(); err == nil && before.Role == ringleader.Leader && after.Role == ringleader.Leader && after.Term <= before.Term {
			u.Errorf("member %d has resigned, and leads still: %+v", id, after)
		}
	case 4:
		err = m.Transfer(other)
		allowed = []error{ringleader.ErrUnable, ringleader.ErrConfig} // it is the leader itself
	case 5:
		err = m.SetPriority(uint16(r.IntN(4)))
	case 6:
		_, err = m.WaitToLead(ctx)
	case 7:
		if err = m.VerifyLeader(ctx); err == nil && m.View().Term < highest {
			u.Errorf("member %d has verified that it leads, in a term before %d: %+v", id, highest, m.View())
		}
		allowed = []error{ringleader.ErrNotLeader, ringleader.ErrDisputed}
	case 8:
		change := m.AddMember
		if r.IntN(3) == 0 {
			change = m.RemoveMember
		}
		err = change(ctx, other)
		allowed = []error{ringleader.ErrNotLeader, ringleader.ErrUnknown, ringleader.ErrConfig}
	}
	allowed = append(allowed, context.DeadlineExceeded)
	for _, a := range allowed {
		if errors.Is(err, a) {
			return
		}
	}
	if err != nil {
		u.Errorf("member %d: %v", id, err)
	}
}

// highest returns the term of the last work that has begun.
func (u *users) highest() uint64 {
	u.mu.Lock()
	defer u.mu.Unlock()
	return u.term
}

// The test of faults lets each member call Lead once. Programs call any methods in any order, from several goroutines.
func TestAnyUseOfMembersKeepsWhatTheyPromise(t *testing.T) {
	t.Parallel()
	const runs, callers, lasts = 15, 3, 20 * time.Second
	began := 0
	for seed := range uint64(runs) {
		synctest.Test(t, func(t *testing.T) {
			r := rand.New(rand.NewPCG(seed, 0))
			u := &users{T: t, ids: []uint64{1, 2, 3, 4, 5}[:1+2*r.IntN(3)], ended: make(chan struct{})}
			u.cluster = ringleadertest.New(t, ringleader.Config{Preempt: r.IntN(2) == 0}, u.ids...)
			defer u.cluster.Close()
			u.cluster.Start(u.ids...)
			u.cluster.AwaitAny()
			var all sync.WaitGroup
			for _, id := range u.ids {
				for caller := range uint64(callers) {
					own := rand.New(rand.NewPCG(seed, id<<8|caller+1))
					all.Go(func() {
						for {
							select {
							case <-u.ended:
								return
							default:
								u.use(id, own)
								pass(context.Background(), own, 100*time.Millisecond)
							}
						}
					})
				}
			}
			for begun := time.Now(); time.Since(begun) < lasts; {
				u.cluster.Pass(time.Duration(r.Int64N(int64(time.Second))))
				u.cluster.Heal()
				if at := r.IntN(2 * len(u.ids)); at < len(u.ids) {
					u.cluster.Cut(u.ids[:at], u.ids[at:])
				}
			}
			u.cluster.Heal()
			close(u.ended)
			all.Wait()
			u.last(r)
			began += u.began
		})
	}
	if began < 10*runs {
		t.Errorf("work has begun %d times in %d runs", began, runs)
	}
}

// last lets all members lead, and waits until one works.
func (u *users) last(r *rand.Rand) {
	ctx, cancel := context.WithCancel(context.Background())
	var all sync.WaitGroup
	u.mu.Lock()
	before := u.began
	u.mu.Unlock()
	for _, id := range u.ids {
		own := rand.New(rand.NewPCG(r.Uint64(), id))
		all.Go(func() {
			for ctx.Err() == nil {
				_ = u.cluster.Member(id).Lead(ctx, u.work(id, own, time.Hour))
			}
		})
	}
	u.cluster.Until("work begins after all", func() bool {
		u.mu.Lock()
		defer u.mu.Unlock()
		return u.began > before
	})
	cancel()
	all.Wait()
}
