package ringleader_test

import (
	"context"
	"errors"
	"slices"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"ringleader.example/ringleader"
	"ringleader.example/ringleader/ringleadertest"
)

// errSick is the result of a check that fails.
var errSick = errors.New("the database does not answer")

// hospital is a cluster whose members have checks.
type hospital struct {
	*ringleadertest.Cluster

	mu     sync.Mutex
	sick   map[uint64]bool
	stuck  map[uint64]chan struct{} // a check returns when this is closed, whatever its context is
	checks map[uint64]int           // that have begun
}

func newHospital(t *testing.T, config ringleader.Config, ids ...uint64) *hospital {
	h := &hospital{Cluster: ringleadertest.New(t, config, ids...), sick: map[uint64]bool{}, stuck: map[uint64]chan struct{}{}, checks: map[uint64]int{}}
	h.Configure(func(id uint64, c *ringleader.Config) {
		c.Health = ringleader.HealthCheck{Interval: time.Second, Timeout: 300 * time.Millisecond, Rise: 2, Fall: 3, Check: func(context.Context) error { return h.check(id) }}
	})
	return h
}

// begin starts three members, of which 3 leads, and all are able.
func (h *hospital) begin() {
	h.set(1, true)
	h.set(2, true)
	h.Start(1, 2, 3)
	h.Await(3)
	h.set(1, false)
	h.set(2, false)
	h.Until("all are able", func() bool {
		return h.Member(1).Status().Health.Able && h.Member(2).Status().Health.Able
	})
}

func (h *hospital) check(id uint64) error {
	h.mu.Lock()
	sick, stuck := h.sick[id], h.stuck[id]
	h.checks[id]++
	h.mu.Unlock()
	if stuck != nil {
		<-stuck
	}
	if sick {
		return errSick
	}
	return nil
}

func (h *hospital) set(id uint64, sick bool) {
	h.mu.Lock()
	defer h.mu.Unlock()
	h.sick[id] = sick
}

func (h *hospital) begun(id uint64) int {
	h.mu.Lock()
	defer h.mu.Unlock()
	return h.checks[id]
}

// leaderless reports whether no member leads.
func (h *hospital) leaderless(ids ...uint64) bool {
	return !slices.ContainsFunc(ids, func(id uint64) bool { return h.Member(id).View().Role == ringleader.Leader })
}

func TestAMemberLeadsOnlyWhenEnoughChecksHavePassed(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		h := newHospital(t, ringleader.Config{}, 1)
		defer h.Close()
		h.Start(1)
		h.Pass(900 * time.Millisecond) // one check has passed, and a group of one elects at once
		if s := h.Member(1).Status(); s.Role == ringleader.Leader || s.Health.Able || s.Health.Passed != 1 {
			t.Errorf("after one check: %s, %+v", s.Role, s.Health)
		}
		h.Pass(300 * time.Millisecond)
		if s := h.Member(1).Status(); s.Role != ringleader.Leader || !s.Health.Able || s.Health.Reason != "" {
			t.Errorf("after two checks: %s, %+v", s.Role, s.Health)
		}
	})
}

func TestALeaderThatFailsItsCheckHandsOverWithoutPreemption(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		h := newHospital(t, ringleader.Config{}, 1, 2, 3)
		defer h.Close()
		h.begin()
		causes := make(chan error, 1)
		go h.Member(3).Lead(t.Context(), func(ctx context.Context, _ ringleader.Leadership) error {
			<-ctx.Done()
			select {
			case causes <- context.Cause(ctx):
			default:
			}
			return nil
		})
		h.Settle()
		h.set(3, true)
		begun := time.Now()
		h.Await(2)
		if took := time.Since(begun); took < 2*time.Second || took > 3*time.Second+ringleader.Test().Lease {
			t.Errorf("it took %v until another member leads, and three checks take from two to three seconds", took)
		}
		if cause := <-causes; !errors.Is(cause, ringleader.ErrUnhealthy) || !strings.Contains(cause.Error(), errSick.Error()) {
			t.Errorf("the cause is %v", cause)
		}
		for id := uint64(1); id <= 3; id++ {
			if m := h.Member(id).Status().Members[2]; !strings.Contains(m.Unable, errSick.Error()) {
				t.Errorf("member %d knows of member 3: %+v", id, m)
			}
		}
		h.Cut([]uint64{1, 2}, []uint64{3}) // whether it is able is not known then
		h.Until("member 3 is missing", func() bool { m := h.Member(2).Status().Members[2]; return !m.Reachable && m.Unable == "" })
		h.Heal()
		h.Until("member 3 is back, and tells the same", func() bool { return h.Member(2).Status().Members[2].Unable != "" })
		if err := h.Member(2).Transfer(3); !errors.Is(err, ringleader.ErrUnable) {
			t.Errorf("a transfer to it: %v", err)
		}
		h.set(3, false)
		h.Until("member 3 is able again", func() bool { return h.Member(2).Status().Members[2].Unable == "" })
		h.Pass(10 * ringleader.Test().Lease)
		h.Await(2) // no preemption
		h.Kill(2)
		h.Await(3)
	})
}

func TestAGroupWithoutAnAbleMemberHasNoLeaderAndStatusTellsWhy(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		h := newHospital(t, ringleader.Config{}, 1, 2, 3)
		defer h.Close()
		h.begin()
		for id := uint64(1); id <= 3; id++ {
			h.set(id, true)
		}
		h.Until("none leads", func() bool { return h.leaderless(1, 2, 3) && h.Member(1).Status().Leader == nil })
		for range 100 {
			if h.Pass(50 * time.Millisecond); !h.leaderless(1, 2, 3) {
				t.Fatal("a member leads that may not")
			}
		}
		why := strings.Join(h.Member(1).Status().Why, "\n")
		for _, want := range []string{"member 1 may not lead: the health check fails: the database", "member 2 may not lead", "member 3 may not lead", "none of the members"} {
			if !strings.Contains(why, want) {
				t.Errorf("%q is missing in\n%s", want, why)
			}
		}
		h.set(1, false)
		h.Await(1)
	})
}

func TestACheckThatChangesBetweenRiseAndFallChangesNothing(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		h := newHospital(t, ringleader.Config{}, 1, 2, 3)
		defer h.Close()
		h.begin()
		next := func(id uint64) { // after the next check
			before := h.begun(id)
			h.Until("a check", func() bool { return h.begun(id) > before })
		}
		for range 5 { // two failures are fewer than three
			h.set(3, true)
			next(3)
			next(3)
			h.set(3, false)
			next(3)
		}
		if v := h.Member(1).View(); v.Leader != 3 || v.Term != 1 {
			t.Errorf("the leader is %d in term %d", v.Leader, v.Term)
		}
		h.set(3, true)
		h.Await(2)
		for range 5 { // one success is fewer than two
			h.set(3, false)
			next(3)
			h.set(3, true)
			next(3)
		}
		if s := h.Member(3).Status(); s.Health.Able {
			t.Errorf("%+v", s.Health)
		}
	})
}

// The check does not obey its context, and the member goes on to elect, to renew and to answer.
func TestACheckThatHangsFailsAgainAndAgainAndBlocksNothing(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		h := newHospital(t, ringleader.Config{}, 1, 2, 3)
		defer h.Close()
		h.begin()
		stuck := make(chan struct{})
		h.mu.Lock()
		h.stuck[3] = stuck
		h.mu.Unlock()
		h.Await(2)
		before := h.begun(3)
		h.Pass(time.Minute)
		h.Await(2)
		if s := h.Member(3).Status(); s.Health.Failed < 60 || s.Health.Able || h.begun(3) != before {
			t.Errorf("after a minute: %+v, and %d checks have begun", s.Health, h.begun(3)-before)
		}
		h.mu.Lock()
		delete(h.stuck, 3)
		h.mu.Unlock()
		close(stuck)
		h.Until("member 3 is able again", func() bool { return h.Member(1).Status().Members[2].Unable == "" })
	})
}

func TestAHealthCheckIsThatOfAllGroupsOfAProcess(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		h := newHospital(t, ringleader.Config{}, 1, 2, 3)
		defer h.Close()
		h.set(2, true)
		h.set(3, true)
		h.Start(1, 2, 3)
		h.Join(ringleader.GroupConfig{Group: "second", Priorities: map[uint64]uint16{1: 9}}, 1, 2, 3)
		leader := func() uint64 { return h.Group("second", 2).View().Leader }
		h.Until("1 leads the second group", func() bool { return leader() == 1 })
		h.set(2, false)
		h.set(3, false)
		h.set(1, true)
		h.Until("another one leads the second group", func() bool { return leader() != 1 && leader() != 0 })
		h.Join(ringleader.GroupConfig{Group: "third", Priorities: map[uint64]uint16{1: 9}}, 1, 2, 3)
		h.Until("another one leads the third group", func() bool { return h.Group("third", 2).View().Leader > 1 })
		h.set(1, false)
		h.Until("1 is able", func() bool { return h.Group("third", 2).Status().Members[0].Unable == "" })
		h.Pass(2 * ringleader.Test().Renewal) // the algorithm learns of it by an answer to a renewal
		if err := h.Group("second", leader()).Resign(t.Context()); err != nil {
			t.Error(err)
		}
		h.Until("1 leads the second group", func() bool { return leader() == 1 })
	})
}

func TestAWeightMovesTheRankAndIsNoDifferenceBetweenConfigurations(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		c := ringleadertest.New(t, ringleader.Config{}, 1, 2, 3)
		defer c.Close()
		c.Configure(func(id uint64, config *ringleader.Config) {
			if id == 1 {
				config.Weight = 7
			}
		})
		c.Start(1, 2, 3)
		c.Await(1)
		for _, m := range c.Member(3).Status().Members {
			if want := map[uint64]uint16{1: 7, 2: 1, 3: 1}[m.ID]; m.Weight != want || m.Problem != "" {
				t.Errorf("%+v, want weight %d", m, want)
			}
		}
		ctx, cancel := context.WithCancel(t.Context())
		defer cancel()
		go c.Member(1).Lead(ctx, func(ctx context.Context, _ ringleader.Leadership) error {
			<-ctx.Done()
			return nil
		})
		c.Pass(ringleader.Test().Lease)
		if w := c.Member(3).Status().Members[0].Weight; w != 7 {
			t.Errorf("when it has work its weight is %d", w)
		}
		if err := c.Member(2).SetPriority(9); err != nil {
			t.Fatal(err)
		}
		c.Until("all know the weight", func() bool {
			return c.Member(3).Status().Members[1].Weight == 9 && c.Member(2).Status().Members[1].Weight == 9
		})
		c.Pass(2 * ringleader.Test().Renewal) // the algorithm learns of it by an answer to a renewal
		c.Await(1)
		if err := c.Member(1).Resign(t.Context()); err != nil {
			t.Error(err)
		}
		c.Await(2)
		c.Kill(2)
		c.Start(2) // with the configured weight
		c.Until("all know the weight", func() bool { return c.Member(3).Status().Members[1].Weight == 1 })
	})
}

// SetPriority comes while the member waits for its first connections.
func TestAPriorityThatIsSetBeforeTheStartCounts(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		c := ringleadertest.New(t, ringleader.Config{}, 1, 2, 3)
		defer c.Close()
		c.Start(1)
		if err := c.Member(1).SetPriority(5); err != nil {
			t.Fatal(err)
		}
		c.Start(2, 3)
		c.Await(1)
	})
}

func TestPreemptionCanBePausedAtTheLeaderAndAtItsSuccessor(t *testing.T) {
	for _, where := range []uint64{2, 3} {
		synctest.Test(t, func(t *testing.T) {
			c := ringleadertest.New(t, ringleader.Config{Preempt: true}, 1, 2, 3)
			defer c.Close()
			c.Start(1, 2)
			c.Await(2)
			if err := c.Member(2).PausePreemption(-1); !errors.Is(err, ringleader.ErrConfig) {
				t.Errorf("a negative pause: %v", err)
			}
			c.Start(3)
			m := c.Member(where)
			if err := m.PausePreemption(0); err != nil {
				t.Fatal(err)
			}
			const long = 20 * time.Second // of which preemption needs 0.3
			c.Pass(long)
			c.Await(2)
			if s := m.Status().Preemption; s == nil || !s.Paused || s.Left != nil {
				t.Errorf("%+v", s)
			}
			if err := m.PausePreemption(long); err != nil {
				t.Fatal(err)
			}
			c.Pass(long - time.Second)
			c.Await(2)
			if s := m.Status().Preemption; s == nil || !s.Paused || s.Left == nil || *s.Left > 1.1 {
				t.Errorf("%+v", s)
			}
			if where == 2 {
				m.ResumePreemption()
			}
			c.Await(3)
			if s := m.Status().Preemption; where == 2 && s.Paused {
				t.Errorf("%+v", s)
			}
		})
	}
}

func TestPreemptionThatIsOffCannotBePaused(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		c := ringleadertest.New(t, ringleader.Config{}, 1)
		defer c.Close()
		c.Start(1)
		if err := c.Member(1).PausePreemption(0); !errors.Is(err, ringleader.ErrConfig) || c.Member(1).Status().Preemption != nil {
			t.Errorf("%v, %+v", err, c.Member(1).Status().Preemption)
		}
	})
}
