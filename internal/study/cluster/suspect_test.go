package cluster

import (
	"context"
	"encoding/json"
	"errors"
	"os"
	"path/filepath"
	"sync/atomic"
	"testing"
	"time"

	"ringleader.example/ringleader/internal/study/work"
)

// A worker begins again whenever it has died, as under a supervisor. Unit 0 is beside the deadly unit 1 each time, and takes longer.
func TestAPieceThatEndsItsWorkersEndsTheJobAndNoOtherPieceDoes(t *testing.T) {
	if testing.Short() {
		t.Skip("no goroutine differs from those of other tests")
	}
	t.Parallel()
	e := serve(t, settings(t))
	worker := part{Role: "worker", Access: overNetwork(e), Cores: 2, Patience: time.Second}
	var deaths atomic.Int32
	over, restarted := make(chan struct{}), make(chan struct{})
	go func() {
		defer close(restarted)
		for {
			a := act(t, worker)
			select {
			case <-a.ended:
				deaths.Add(1)
			case <-over:
				return
			}
		}
	}()
	t.Cleanup(func() { close(over); <-restarted })
	spec := sums{Of: 20, First: time.Second / 2, Deadly: 1, Cure: filepath.Join(t.TempDir(), "cure")}
	j, task := jobOf(t, "coarse", spec)
	for range 2 { // a job that is resumed tries again
		before := deaths.Load()
		commander := begin(t, connect(t, e.Access(), nil), j, task, nil)
		_, err := complete(t.Context(), t, commander, j, task, nil)
		deadly := new(DeadlyError)
		if !errors.As(err, &deadly) || deadly.Piece != (work.Piece{From: 1, To: 2}) || len(deadly.Workers) != attempts {
			t.Fatalf("it ends with %v", err)
		}
		// A worker that stands still for longer than its patience gets the piece once more, before it dies.
		if n := deaths.Load() - before; n < attempts || n > trusted+attempts {
			t.Errorf("%d workers have died", n)
		}
		commander.Leave()
		c := connect(t, e.Access(), nil)
		if found, err := c.Find(t.Context(), j.Key()); err != nil || found.State != work.Waiting || found.Done == 0 || found.Done >= spec.Of {
			t.Errorf("%+v, %v", found, err)
		}
	}
	if err := os.WriteFile(spec.Cure, nil, 0o600); err != nil {
		t.Fatal(err)
	}
	got, err := complete(t.Context(), t, begin(t, connect(t, e.Access(), nil), j, task, nil), j, task, nil)
	same(t, "coarse", spec, got, err)
}

func TestAWorkerThatGivesAPieceBackHasNotDiedOfIt(t *testing.T) {
	t.Parallel()
	e := serve(t, settings(t))
	spec := sums{Of: 1}
	j, task := jobOf(t, "coarse", spec)
	ended := start(t.Context(), t, begin(t, connect(t, e.Access(), nil), j, task, nil), j, task)
	slow := map[string]work.Kind{"coarse": func(text json.RawMessage) (work.Task, error) {
		s, err := readSums(text)
		s.First = time.Hour
		return coarse{s}, err
	}}
	for range trusted + attempts + 1 {
		w, end := hire(t, connect(t, e.Access(), nil), &Worker{Kinds: slow, Patience: time.Hour})
		until(t, "in work", func() bool { return w.Measured().Busy == 1 })
		end()
	}
	hire(t, connect(t, e.Access(), nil), &Worker{})
	o := <-ended
	same(t, "coarse", spec, o.result, o.err)
}

// A suspected piece waits for a worker that computes nothing else, and holds up no other piece for long.
func TestASuspectedPieceHoldsUpNoOther(t *testing.T) {
	t.Parallel()
	e := serve(t, settings(t))
	c := connect(t, e.Access(), nil)
	spec := sums{Of: 50, Wait: 50 * time.Millisecond, Log: filepath.Join(t.TempDir(), "log")}
	j, task := jobOf(t, "coarse", spec)
	commander := begin(t, c, j, task, nil)
	suspect(t, c, c.queueSubject(j, work.Piece{From: 0, To: 1}))
	stuck := sums{Of: 2, Stuck: 1}
	k, other := jobOf(t, "coarse", stuck)
	ctx, stop := context.WithCancel(t.Context())
	defer stop()
	long := start(ctx, t, begin(t, c, k, other, nil), k, other)
	w, _ := hire(t, connect(t, e.Access(), nil), &Worker{Cores: trusted + 1, Patience: time.Second}) // a slow machine may begin the stuck piece again
	until(t, "stuck", func() bool { m := w.Measured(); return m.Pieces >= 1 && m.Busy >= 1 })
	ended := start(t.Context(), t, commander, j, task)
	until(t, "all others done", func() bool { return len(logged(t, spec.Log)) == int(spec.Of)-1 })
	stop()
	<-long
	if err := c.Cancel(t.Context(), k.Key()); err != nil {
		t.Fatal(err)
	}
	o := <-ended
	same(t, "coarse", spec, o.result, o.err)
}

// suspect puts a piece into the queue that comes after a second, after as many deliveries as are trusted.
func suspect(t *testing.T, c *Conn, subject string) {
	t.Helper()
	queue, err := c.queue(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	consumer, err := queue.CreateOrUpdateConsumer(t.Context(), c.consumerConfig(version, time.Second/5))
	if err != nil {
		t.Fatal(err)
	}
	if _, err := c.js.PublishMsg(t.Context(), c.piece(subject)); err != nil {
		t.Fatal(err)
	}
	for i := range time.Duration(trusted) {
		m, err := consumer.Next()
		if err == nil {
			err = m.NakWithDelay(i * time.Second)
		}
		if err != nil {
			t.Fatal(err)
		}
	}
}
