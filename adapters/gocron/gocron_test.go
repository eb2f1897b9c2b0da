package leadergocron_test

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/go-co-op/gocron/v2"

	"ringleader.example/ringleader"
	leadergocron "ringleader.example/ringleader/adapters/gocron"
	"ringleader.example/ringleader/ringleadertest"
)

// group runs three members in a bubble, of which member 3 leads.
func group(t *testing.T, test func(t *testing.T, c *ringleadertest.Cluster)) {
	synctest.Test(t, func(t *testing.T) {
		c := ringleadertest.New(t, ringleader.Config{}, 1, 2, 3)
		defer c.Close()
		c.Start(1, 2, 3)
		c.Await(3)
		test(t, c)
	})
}

// schedule starts a scheduler with one job, until the end of the test.
func schedule(t *testing.T, option gocron.SchedulerOption, when gocron.JobDefinition, job any, options ...gocron.JobOption) {
	t.Helper()
	s, err := gocron.NewScheduler(option)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := s.NewJob(when, gocron.NewTask(job), options...); err != nil {
		t.Fatal(err)
	}
	s.Start()
	t.Cleanup(func() {
		if err := s.Shutdown(); err != nil {
			t.Error(err)
		}
	})
}

// guard makes the option of a member's scheduler.
type guard func(m *ringleader.Member) gocron.SchedulerOption

// guards are both ways to run jobs on the leader alone. A locker's lead ends with the context.
func guards(ctx context.Context) map[string]guard {
	return map[string]guard{
		"elector": func(m *ringleader.Member) gocron.SchedulerOption {
			return gocron.WithDistributedElector(leadergocron.NewElector(m))
		},
		"locker": func(m *ringleader.Member) gocron.SchedulerOption {
			l := leadergocron.NewLocker(m)
			go l.Run(ctx)
			return gocron.WithDistributedLocker(l)
		},
	}
}

// record has which members have run the job in each second.
type record struct {
	mu   sync.Mutex
	runs map[int64][]uint64
}

func (r *record) job(member uint64) func() {
	return func() {
		r.mu.Lock()
		defer r.mu.Unlock()
		second := time.Now().Unix()
		r.runs[second] = append(r.runs[second], member)
	}
}

// twice and by report what has run: whether any second twice, and how many seconds by a member.
func (r *record) twice() bool {
	r.mu.Lock()
	defer r.mu.Unlock()
	for _, members := range r.runs {
		if len(members) > 1 {
			return true
		}
	}
	return false
}

func (r *record) by(member uint64) (seconds int) {
	r.mu.Lock()
	defer r.mu.Unlock()
	for _, members := range r.runs {
		if members[0] == member {
			seconds++
		}
	}
	return seconds
}

func TestEachTimeOfAJobRunsOnceWhicheverMemberLeads(t *testing.T) {
	for name := range guards(t.Context()) {
		t.Run(name, func(t *testing.T) {
			group(t, func(t *testing.T, c *ringleadertest.Cluster) {
				r := record{runs: map[int64][]uint64{}}
				for id := range uint64(3) {
					m := c.Member(id + 1)
					schedule(t, guards(t.Context())[name](m), gocron.CronJob("* * * * * *", true), r.job(id+1))
				}
				c.Await(3)
				c.Pass(10 * time.Second)
				if by := r.by(3); r.twice() || by != 10 && by != 11 || len(r.runs) != by {
					t.Fatalf("the leader has run %d seconds of 10: %v", by, r.runs)
				}
				c.Cut([]uint64{1, 2}, []uint64{3})
				c.Await(2)
				c.Pass(10 * time.Second)
				if by := r.by(2); r.twice() || by < 9 {
					t.Fatalf("the second leader has run %d seconds of 10: %v", by, r.runs)
				}
				c.Heal()
				c.Stop(2)
				c.Until("another one leads", func() bool { return c.Member(3).IsLeader() || c.Member(1).IsLeader() })
				c.Pass(5 * time.Second)
				c.Continue(2)
				before := r.by(2)
				c.Pass(5 * time.Second)
				if r.twice() || r.by(2) != before || len(r.runs) < 28 {
					t.Errorf("a leader that was stopped has run %d seconds more: %v", r.by(2)-before, r.runs)
				}
			})
		})
	}
}

// This is the case of gocron's own test of distributed schedulers, with its numbers.
func TestOneOfThreeSchedulersRunsAJobThatRunsOnce(t *testing.T) {
	for name := range guards(t.Context()) {
		t.Run(name, func(t *testing.T) {
			group(t, func(t *testing.T, c *ringleadertest.Cluster) {
				runs := make(chan uint64, 20)
				for id := range uint64(3) {
					option := guards(t.Context())[name](c.Member(id + 1))
					c.Await(3) // Run of a locker stands for election
					schedule(t, option, gocron.DurationJob(time.Second), func() { runs <- id + 1 },
						gocron.WithStartAt(gocron.WithStartImmediately()), gocron.WithLimitedRuns(1))
				}
				c.Pass(10 * time.Second)
				if len(runs) != 1 || <-runs != 3 {
					t.Errorf("%d runs", len(runs))
				}
			})
		})
	}
}

// A lead ends after the runs of its jobs, which learn of it.
func TestRunsOfTwoMembersNeverOverlap(t *testing.T) {
	group(t, func(t *testing.T, c *ringleadertest.Cluster) {
		var (
			mu      sync.Mutex
			running uint64 // the member whose job runs
			ended   []string
		)
		runs := func(ids ...uint64) func() bool {
			return func() bool { mu.Lock(); defer mu.Unlock(); return slices.Contains(ids, running) }
		}
		ctx, cancel := context.WithCancel(t.Context())
		defer c.Until("no job runs", runs(0)) // gocron waits for jobs in a loop that lets no time pass in a bubble
		defer cancel()
		for id := range uint64(3) {
			l := leadergocron.NewLocker(c.Member(id + 1))
			go l.Run(ctx)
			job := func(ctx context.Context) {
				within, lead, stop := l.Leadership(ctx)
				defer stop()
				mu.Lock()
				if running != 0 || !lead.Valid() {
					t.Errorf("member %d begins while a job of %d runs; valid: %t", id+1, running, lead.Valid())
				}
				running = id + 1
				mu.Unlock()
				<-within.Done()
				until := time.NewTimer(30 * time.Millisecond) // less than Timing.Grace: what an end takes
				<-until.C
				mu.Lock()
				defer mu.Unlock()
				running = 0
				ended = append(ended, fmt.Sprint(id+1, ": ", context.Cause(within)))
			}
			schedule(t, gocron.WithDistributedLocker(l), gocron.CronJob("* * * * * *", true), job, gocron.WithSingletonMode(gocron.LimitModeReschedule))
		}
		c.Until("the job runs", runs(3))
		if err := c.Member(3).Transfer(1); err != nil {
			t.Fatal(err)
		}
		c.Until("it runs at the next leader", runs(1))
		c.Cut([]uint64{1}, []uint64{2, 3})
		c.Until("it runs at the third leader", runs(2, 3))
		if want := "[3: the lead was transferred 1: the lease has lapsed: no majority has renewed it]"; fmt.Sprint(ended) != want {
			t.Errorf("ended: %v, want %s", ended, want)
		}
	})
}

func TestALockIsOfOneRunOfOneKeyOnTheLeader(t *testing.T) {
	group(t, func(t *testing.T, c *ringleadertest.Cluster) {
		l := leadergocron.NewLocker(c.Member(3))
		refused := func(key string, want error) {
			t.Helper()
			if _, err := l.Lock(t.Context(), key); !errors.Is(err, want) {
				t.Errorf("%v, want %v", err, want)
			}
		}
		refused("a", ringleader.ErrNotLeader)
		within, lead, stop := l.Leadership(t.Context())
		if stop(); lead.Valid() || !errors.Is(context.Cause(within), ringleader.ErrNotLeader) {
			t.Errorf("without Run: %v, %v", lead, context.Cause(within))
		}
		ctx, cancel := context.WithCancel(t.Context())
		done := make(chan error, 1)
		go func() { done <- l.Run(ctx) }()
		c.Settle()
		a, err := l.Lock(t.Context(), "a")
		if err != nil {
			t.Fatal(err)
		}
		b, err := l.Lock(t.Context(), "b")
		if err != nil {
			t.Fatal(err)
		}
		refused("a", leadergocron.ErrRuns)
		for range 2 { // a second call does nothing
			if err := a.Unlock(t.Context()); err != nil {
				t.Error(err)
			}
		}
		a, err = l.Lock(t.Context(), "a")
		if err != nil {
			t.Errorf("after its run: %v", err)
		}
		cancel()
		c.Pass(5 * time.Second)
		refused("c", ringleader.ErrNotLeader)
		if !c.Member(3).IsLeader() || len(done) != 0 {
			t.Error("the lead has ended before the runs")
		}
		_ = a.Unlock(t.Context())
		_ = b.Unlock(t.Context())
		if err := <-done; !errors.Is(err, context.Canceled) {
			t.Error(err)
		}
		c.Until("another one leads", func() bool { return c.Member(2).IsLeader() })
	})
}
