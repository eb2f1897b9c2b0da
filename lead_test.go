package ringleader

import (
	"context"
	"errors"
	"sync"
	"testing"
	"time"

	"ringleader.example/ringleader/storage"
)

// quorum starts a group that runs quorum-bully, with its stores in memory.
func quorum(t *testing.T, c Config, ids ...uint64) *group {
	return quorumWithin(context.Background(), t, c, ids...)
}

// quorumWithin is quorum with a context for the member with the largest identifier, the last one.
func quorumWithin(ctx context.Context, t *testing.T, c Config, ids ...uint64) *group {
	if c.Timing == (Timing{}) {
		c.Timing = Test()
	}
	last := ids[len(ids)-1]
	return startGroup(t, c, func(g *group, c Config) {
		store, err := storage.Memory().Open()
		if err != nil {
			t.Fatal(err)
		}
		c.Storage = store
		within := context.Background()
		if c.ID == last {
			within = ctx
		}
		g.join(within, c)
	}, ids...)
}

func TestAMajorityElectsAndAMinorityDoesNot(t *testing.T) {
	t.Parallel()
	g := quorum(t, Config{}, 1, 2, 3)
	first := g.led()
	for s := g.members[first].Status(); !s.Quorum || s.Term == 0 || s.Lease == nil; s = g.members[first].Status() {
		if s.Role == Leader {
			t.Fatalf("%+v", s)
		}
		first = g.led() // a machine that stalls lets a lease lapse
	}
	g.members[first].Close()
	delete(g.members, first)
	second := g.led()
	g.members[second].Close()
	delete(g.members, second)
	for _, last := range g.members {
		lapse, cancel := context.WithTimeout(t.Context(), Test().Lease)
		defer cancel()
		await(lapse, last, func(View) bool { return false }) // with votes from before the end of the others it may have led
		await(t.Context(), last, func(v View) bool { return v.Role != Leader })
		ctx, cancel := context.WithTimeout(t.Context(), 2*Test().Lease)
		defer cancel()
		if await(ctx, last, func(v View) bool { return v.Role == Leader }) {
			t.Fatal("one of three leads")
		}
	}
}

func TestWorkRunsOnTheLeaderOnlyAndInRisingTerms(t *testing.T) {
	g := quorum(t, Config{Timing: Timing{Lease: time.Hour, Preempt: time.Hour}}, 1, 2, 3) // no machine lets it lapse
	var (
		mu      sync.Mutex
		running int
		terms   []uint64
		began   = make(chan uint64, 100)
	)
	ctx, cancel := context.WithCancel(context.Background())
	var wait sync.WaitGroup
	for id, m := range g.members {
		wait.Go(func() {
			m.Lead(ctx, func(ctx context.Context, l Leadership) error {
				mu.Lock()
				running++
				if running > 1 {
					t.Error("two work at a time")
				}
				terms = append(terms, l.Term())
				mu.Unlock()
				if !l.Valid() || l.Deadline().IsZero() {
					t.Error("its lease does not run")
				}
				began <- id
				<-ctx.Done()
				if cause := context.Cause(ctx); !errors.Is(cause, ErrTransferred) && !errors.Is(cause, context.Canceled) {
					t.Errorf("the cause is %v", cause)
				}
				mu.Lock()
				running--
				mu.Unlock()
				return nil
			})
		})
	}
	at := <-began
	for range 4 {
		for next := at%3 + 1; at != next; at = <-began { // on a slow machine the successor may be late, and another one lead
			if err := g.members[at].Transfer(next); err != nil {
				t.Fatal(err)
			}
		}
	}
	cancel()
	wait.Wait()
	for i := range terms[1:] {
		if terms[i] >= terms[i+1] {
			t.Errorf("terms %v do not rise", terms)
		}
	}
}

// With a lease of an hour, the others lead soon only if it was released.
func TestAMemberThatEndsWithItsContextReleasesItsLease(t *testing.T) {
	ctx, cancel := context.WithCancel(context.Background())
	defer cancel()
	g := quorumWithin(ctx, t, Config{Timing: Timing{Lease: time.Hour, Preempt: time.Hour}}, 1, 2, 3)
	for led := g.led(); led != 3; led = g.led() { // a slow machine elects another one first, and the successor may be late
		if err := g.members[led].Transfer(3); err != nil {
			t.Fatal(err)
		}
		await(t.Context(), g.members[led], func(v View) bool { return v.Role != Leader })
	}
	cancel()
	<-g.members[3].Done()
	delete(g.members, 3)
	g.led()
}

func TestAPriorityChangesWhileAMemberRuns(t *testing.T) {
	g := quorum(t, Config{Preempt: true}, 1, 2)
	g.agree(2)
	if err := g.members[1].SetPriority(5); err != nil {
		t.Fatal(err)
	}
	g.agree(1)
}

func TestAPriorityDoesNotLetAMemberLeadThatHasStoodDown(t *testing.T) {
	t.Parallel()
	g := quorum(t, Config{}, 1)
	g.agree(1)
	ctx, cancel := context.WithCancel(context.Background())
	cancel()
	if err := g.members[1].Lead(ctx, func(context.Context, Leadership) error { return nil }); !errors.Is(err, context.Canceled) {
		t.Fatal(err)
	}
	await(context.Background(), g.members[1], func(v View) bool { return v.Role != Leader })
	if err := g.members[1].SetPriority(5); err != nil {
		t.Fatal(err)
	}
	within, end := context.WithTimeout(context.Background(), 2*Test().Lease)
	defer end()
	if await(within, g.members[1], func(v View) bool { return v.Role == Leader }) {
		t.Error("it leads")
	}
}
