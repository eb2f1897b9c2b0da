package kubernetes_test

import (
	"context"
	"errors"
	"fmt"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/go-logr/logr"
	"k8s.io/client-go/rest"
	"sigs.k8s.io/controller-runtime/pkg/manager"
	"sigs.k8s.io/controller-runtime/pkg/metrics/server"

	"ringleader.example/ringleader"
	"ringleader.example/ringleader/adapters/kubernetes"
	"ringleader.example/ringleader/ringleadertest"
)

// judge watches the work of all managers: never two at once.
type judge struct {
	t       *testing.T
	mu      sync.Mutex
	working map[uint64]bool
	begun   []uint64
}

// work is a Runnable that needs the lead.
type work struct {
	judge  *judge
	member uint64
}

func (w work) NeedLeaderElection() bool { return true }

func (w work) Start(ctx context.Context) error {
	w.judge.begin(w.member)
	defer w.judge.end(w.member)
	<-ctx.Done()
	return nil
}

func (j *judge) begin(member uint64) {
	j.mu.Lock()
	defer j.mu.Unlock()
	for other := range j.working {
		j.t.Errorf("member %d works, and %d does so still", member, other)
	}
	j.working[member] = true
	j.begun = append(j.begun, member)
}

func (j *judge) end(member uint64) {
	j.mu.Lock()
	defer j.mu.Unlock()
	delete(j.working, member)
}

func (j *judge) works(member uint64) bool {
	j.mu.Lock()
	defer j.mu.Unlock()
	return j.working[member]
}

// newManager returns a manager of controller-runtime as it is, with an API server that does not exist.
func newManager(t *testing.T, lock *kubernetes.Lock) manager.Manager {
	t.Helper()
	m, err := manager.New(&rest.Config{Host: "http://127.0.0.1:1"}, manager.Options{
		LeaderElection:                      true,
		LeaderElectionResourceLockInterface: lock,
		LeaderElectionReleaseOnCancel:       true,
		Metrics:                             server.Options{BindAddress: "0"},
		Logger:                              logr.Discard(),
	})
	if err != nil {
		t.Fatal(err)
	}
	return m
}

// process is a program with a member and a manager.
type process struct {
	stop  context.CancelFunc
	ended chan error
}

// managers starts a manager on each member, and waits until that of 3 works.
func managers(t *testing.T, test func(t *testing.T, c *ringleadertest.Cluster, j *judge, processes map[uint64]*process)) {
	synctest.Test(t, func(t *testing.T) {
		c := ringleadertest.New(t, ringleader.Config{}, 1, 2, 3)
		j := &judge{t: t, working: map[uint64]bool{}}
		c.Start(1, 2, 3)
		c.Await(3)
		processes := map[uint64]*process{}
		for _, id := range []uint64{1, 2, 3} {
			lock, err := kubernetes.New(c.Member(id))
			if err != nil {
				t.Fatal(err)
			}
			m := newManager(t, lock)
			if err := m.Add(work{j, id}); err != nil {
				t.Fatal(err)
			}
			ctx, stop := context.WithCancel(context.Background())
			p := &process{stop, make(chan error, 1)}
			processes[id] = p
			go func() { p.ended <- lock.Run(ctx, m.Start) }()
		}
		c.Until("a manager works on 3", func() bool { return j.works(3) })
		c.Pass(5 * time.Second) // each has asked who leads, and waits
		test(t, c, j, processes)
		for _, p := range processes {
			p.stop()
		}
		c.Until("all end", func() bool {
			for _, p := range processes {
				if len(p.ended) == 0 {
					return false
				}
			}
			return true
		})
		c.Close()
	})
}

func TestAManagerThatIsCutOffEndsBeforeTheNextOneBegins(t *testing.T) {
	managers(t, func(t *testing.T, c *ringleadertest.Cluster, j *judge, processes map[uint64]*process) {
		c.Cut([]uint64{1, 2}, []uint64{3})
		begun := time.Now()
		c.Until("a manager works on 2", func() bool { return j.works(2) })
		if took := time.Since(begun); took > time.Second { // by the clock of the bubble; client-go asks each 2 s
			t.Errorf("the next one began after %v", took)
		}
		err := <-processes[3].ended
		processes[3].ended <- err
		if !errors.Is(err, kubernetes.ErrLost) || !errors.Is(err, ringleader.ErrLapsed) {
			t.Errorf("it ended with %v; want ErrLost and ErrLapsed", err)
		}
	})
}

func TestTheNextManagerBeginsWhenAProcessIsKilled(t *testing.T) {
	managers(t, func(t *testing.T, c *ringleadertest.Cluster, j *judge, processes map[uint64]*process) {
		j.end(3) // it is dead with its process
		c.Kill(3)
		c.Until("a manager works on 2", func() bool { return j.works(2) })
	})
}

func TestAPausedManagerEndsWhenItGoesOn(t *testing.T) {
	managers(t, func(t *testing.T, c *ringleadertest.Cluster, j *judge, processes map[uint64]*process) {
		j.end(3) // a paused process does nothing
		c.Stop(3)
		c.Until("a manager works on 2", func() bool { return j.works(2) })
		c.Continue(3)
		c.Until("that of 3 ends", func() bool { return len(processes[3].ended) > 0 })
		if fmt.Sprint(j.begun) != "[3 2]" {
			t.Errorf("managers of %v worked", j.begun)
		}
	})
}

func TestAManagerThatIsStoppedHandsOverAtOnce(t *testing.T) {
	managers(t, func(t *testing.T, c *ringleadertest.Cluster, j *judge, processes map[uint64]*process) {
		begun := time.Now()
		processes[3].stop()
		c.Until("a manager works on 2", func() bool { return j.works(2) })
		if took := time.Since(begun); took > 150*time.Millisecond { // by the clock of the bubble: half a lease
			t.Errorf("the next one began after %v", took)
		}
		err := <-processes[3].ended
		processes[3].ended <- err
		if err != nil {
			t.Errorf("it ended with %v", err)
		}
	})
}

func TestAManagerEndsWithAResignation(t *testing.T) {
	managers(t, func(t *testing.T, c *ringleadertest.Cluster, j *judge, processes map[uint64]*process) {
		if err := c.Member(3).Resign(t.Context()); err != nil {
			t.Fatal(err)
		}
		c.Until("a manager works on 2", func() bool { return j.works(2) })
		err := <-processes[3].ended
		processes[3].ended <- err
		if !errors.Is(err, kubernetes.ErrLost) || !errors.Is(err, ringleader.ErrResigned) {
			t.Errorf("it ended with %v; want ErrLost and ErrResigned", err)
		}
	})
}

// stubborn is a Runnable that works on after its context has ended, until its release.
type stubborn struct {
	work
	release chan struct{}
}

func (s stubborn) Start(context.Context) error {
	s.judge.begin(s.member)
	defer s.judge.end(s.member)
	<-s.release
	return nil
}

func TestAManagerThatFailsHandsOverWhenItsWorkHasEnded(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		c := ringleadertest.New(t, ringleader.Config{}, 1, 2, 3)
		defer c.Close()
		c.Start(1, 2, 3)
		c.Await(3)
		lock, err := kubernetes.New(c.Member(3))
		if err != nil {
			t.Fatal(err)
		}
		j := &judge{t: t, working: map[uint64]bool{}}
		m, s := newManager(t, lock), stubborn{work{j, 3}, make(chan struct{})}
		if err := m.Add(s); err != nil {
			t.Fatal(err)
		}
		var left error
		lock.Left = func(err error) {
			left = err
			c.Member(3).VerifyLeader(context.Background())
			if c.Member(3).View().Role != ringleader.Leader {
				t.Error("the lead was handed over while the work ran")
			}
			close(s.release)
		}
		ended := make(chan error, 1)
		go func() { ended <- lock.Run(t.Context(), m.Start) }()
		c.Until("it works", func() bool { return j.works(3) })
		if err := c.Member(3).Resign(t.Context()); err != nil {
			t.Fatal(err)
		}
		if err := <-ended; left == nil || !errors.Is(err, left) || !errors.Is(err, kubernetes.ErrLost) {
			t.Errorf("Run returned %v, and Left got %v", err, left)
		}
		c.Await(2)
	})
}

// A manager whose work does not stop, on a member that is cut off.
func TestAManagerThatDoesNotEndIsEndedWithItsProcess(t *testing.T) {
	if !child() {
		endsWith70(t, "work has not returned")
		return
	}
	synctest.Test(t, func(t *testing.T) {
		c := ringleadertest.New(t, ringleader.Config{}, 1, 2, 3)
		c.Configure(func(_ uint64, config *ringleader.Config) { config.Overrun = ringleader.Exit })
		c.Start(1, 2, 3)
		c.Await(3)
		lock, err := kubernetes.New(c.Member(3))
		if err != nil {
			t.Fatal(err)
		}
		j := &judge{t: t, working: map[uint64]bool{}}
		m := newManager(t, lock)
		if err := m.Add(stubborn{work{j, 3}, nil}); err != nil {
			t.Fatal(err)
		}
		go lock.Run(t.Context(), m.Start)
		c.Until("it works", func() bool { return j.works(3) })
		c.Cut([]uint64{1, 2}, []uint64{3})
		c.Await(2)
		t.Fatal("another member leads, and the process has not ended")
	})
}
