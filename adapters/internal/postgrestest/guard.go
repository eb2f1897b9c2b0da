package postgrestest

import (
	"context"
	"errors"
	"fmt"
	"math"
	"slices"
	"sync"
	"testing"
	"time"

	"ringleader.example/ringleader/fence"
)

// Exec runs a statement in a transaction.
type Exec func(ctx context.Context, statement string, arguments ...any) error

// Guard is the guard of a resource, whatever its driver.
type Guard struct {
	Create  func(context.Context) error
	Highest func(context.Context) (uint64, error)
	Do      func(ctx context.Context, term uint64, write func(context.Context, Exec) error) error
}

// patience is longer than all that a guard waits for, and longer than this process stands still in a transaction.
const patience = 2 * time.Minute

// TestGuard tests guards that a function makes for resources, with a limit for transactions that do nothing. Terms returns the terms
// in the table writes, in the order of their writes.
func TestGuard(t *testing.T, guard func(resource string, idle time.Duration) Guard, terms func() []uint64) {
	ctx, cancel := context.WithTimeout(t.Context(), patience)
	defer cancel()
	var made sync.WaitGroup
	for range 4 {
		made.Go(func() {
			if err := guard("", 0).Create(ctx); err != nil {
				t.Errorf("several make the table at once: %v", err)
			}
		})
	}
	made.Wait()
	err := guard("setup", patience).Do(ctx, 1, func(ctx context.Context, exec Exec) error {
		return exec(ctx, "CREATE TABLE writes (id bigserial, term bigint, resource text)")
	})
	if err != nil {
		t.Fatal(err)
	}
	tests := suite{ctx, guard, terms}
	t.Run("terms never decrease", tests.order)
	t.Run("what fails has no effect", tests.failure)
	t.Run("a leader that is paused between check and write", tests.pause)
	t.Run("many leaders at once", tests.crowd)
	t.Run("what others disturb runs again", tests.deadlock)
	t.Run("a write is durable and sees what is committed", tests.settings)
}

type suite struct {
	ctx   context.Context
	guard func(string, time.Duration) Guard
	terms func() []uint64
}

// insert writes a row in a term.
func insert(resource string, term uint64) func(context.Context, Exec) error {
	return func(ctx context.Context, exec Exec) error {
		return exec(ctx, "INSERT INTO writes (term, resource) VALUES ($1, $2)", int64(term), resource)
	}
}

func (s suite) highest(t *testing.T, g Guard, want uint64) {
	t.Helper()
	if term, err := g.Highest(s.ctx); err != nil || term != want {
		t.Errorf("the highest term is %d, want %d; %v", term, want, err)
	}
}

func (s suite) order(t *testing.T) {
	g := s.guard("order", patience)
	s.highest(t, g, 0)
	for _, c := range []struct {
		term  uint64
		stale string
	}{
		{5, ""},
		{5, ""},
		{4, "a leader of a later term has written already: term 5, and this is term 4"},
		{9, ""},
		{5, "a leader of a later term has written already: term 9, and this is term 5"},
		{math.MaxInt64, ""},
	} {
		err := g.Do(s.ctx, c.term, insert("order", c.term))
		if c.stale == "" && err != nil || c.stale != "" && (!errors.Is(err, fence.ErrStale) || err.Error() != c.stale) {
			t.Errorf("term %d: %v", c.term, err)
		}
	}
	s.highest(t, g, math.MaxInt64)
	if err := s.guard("order of another one", patience).Do(s.ctx, 1, insert("order", 1)); err != nil {
		t.Errorf("another resource: %v", err)
	}
	for _, term := range []uint64{0, math.MaxInt64 + 1, math.MaxUint64} {
		if err := g.Do(s.ctx, term, insert("order", 1)); err == nil || errors.Is(err, fence.ErrStale) {
			t.Errorf("term %d: %v", term, err)
		}
	}
	if got, want := s.terms(), []uint64{5, 5, 9, math.MaxInt64, 1}; !slices.Equal(got, want) {
		t.Errorf("written: %d, want %d", got, want)
	}
}

func (s suite) failure(t *testing.T) {
	g, broken, before := s.guard("failure", patience), errors.New("broken"), s.terms()
	err := g.Do(s.ctx, 3, func(ctx context.Context, exec Exec) error {
		return errors.Join(insert("failure", 3)(ctx, exec), broken)
	})
	if !errors.Is(err, broken) || !slices.Equal(s.terms(), before) {
		t.Errorf("%v, and %d are written", err, s.terms())
	}
	s.highest(t, g, 0)
	func() {
		defer func() { _ = recover() }()
		_ = g.Do(s.ctx, 3, func(context.Context, Exec) error { panic("broken") })
	}()
	if err := g.Do(s.ctx, 2, insert("failure", 2)); err != nil {
		t.Errorf("a write that has panicked holds the resource: %v", err)
	}
}

func (s suite) pause(t *testing.T) {
	checked, paused, late := make(chan bool), make(chan bool), make(chan error, 1)
	before := s.terms()
	go func() {
		late <- s.guard("pause", 300*time.Millisecond).Do(s.ctx, 1, func(ctx context.Context, exec Exec) error {
			close(checked)
			<-paused
			return insert("pause", 1)(ctx, exec)
		})
	}()
	select {
	case <-checked:
	case err := <-late:
		t.Fatalf("the leader cannot begin: %v", err)
	}
	if err := s.guard("pause", patience).Do(s.ctx, 2, insert("pause", 2)); err != nil {
		t.Errorf("the successor: %v", err)
	}
	close(paused)
	if err := <-late; err == nil {
		t.Error("the late write succeeds")
	}
	if err := s.guard("pause", patience).Do(s.ctx, 1, insert("pause", 1)); !errors.Is(err, fence.ErrStale) {
		t.Errorf("its next write: %v", err)
	}
	if got := s.terms(); !slices.Equal(got, append(before, 2)) {
		t.Errorf("written: %d", got[len(before):])
	}
}

func (s suite) crowd(t *testing.T) {
	const leaders, writes = 6, 15
	before := len(s.terms())
	var wait sync.WaitGroup
	for leader := range uint64(leaders) {
		wait.Go(func() {
			g := s.guard("crowd", patience)
			for i := range uint64(writes) {
				term := 1 + leader + i*leaders/2
				if err := g.Do(s.ctx, term, insert("crowd", term)); err != nil && !errors.Is(err, fence.ErrStale) {
					t.Errorf("term %d: %v", term, err)
				}
			}
		})
	}
	wait.Wait()
	got := s.terms()[before:]
	if !slices.IsSorted(got) || got[len(got)-1] != leaders+(writes-1)*leaders/2 {
		t.Errorf("written: %d", got)
	}
}

// deadlock lets two writes of two resources wait for each other.
func (s suite) deadlock(t *testing.T) {
	if err := s.guard("setup", patience).Do(s.ctx, 1, func(ctx context.Context, exec Exec) error {
		return exec(ctx, "CREATE TABLE cells AS SELECT generate_series(0, 1) AS id, 0 AS value")
	}); err != nil {
		t.Fatal(err)
	}
	var (
		both  sync.WaitGroup // have written their first cell, for the first time
		runs  [2]int
		ended sync.WaitGroup
	)
	both.Add(2)
	for i := range 2 {
		ended.Go(func() {
			err := s.guard(fmt.Sprint("deadlock ", i), patience).Do(s.ctx, 1, func(ctx context.Context, exec Exec) error {
				runs[i]++
				add := func(cell int) error { return exec(ctx, "UPDATE cells SET value = value + 1 WHERE id = $1", cell) }
				if err := add(i); err != nil {
					return err
				}
				if runs[i] == 1 {
					both.Done()
					both.Wait()
				}
				return add(1 - i)
			})
			if err != nil {
				t.Errorf("%d: %v", i, err)
			}
		})
	}
	ended.Wait()
	if runs[0]+runs[1] < 3 {
		t.Errorf("they ran %d times", runs)
	}
}

// settings looks at the settings of a transaction, of which the server has others.
func (s suite) settings(t *testing.T) {
	const idleness = "idle_in_transaction_session_timeout"
	for _, c := range []struct {
		idle          time.Duration
		setting, want string
	}{
		{0, "synchronous_commit", "on"},
		{0, "transaction_isolation", "read committed"},
		{0, idleness, "5s"},
		{time.Hour + time.Microsecond, idleness, "1h"},
		{math.MaxInt64, idleness, "2147483647ms"},
	} {
		err := s.guard("settings", c.idle).Do(s.ctx, 1, func(ctx context.Context, exec Exec) error {
			return exec(ctx, fmt.Sprintf("SELECT 1 / (current_setting('%s') = '%s')::int", c.setting, c.want))
		})
		if err != nil {
			t.Errorf("%s is not %s: %v", c.setting, c.want, err)
		}
	}
}
