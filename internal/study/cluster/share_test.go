package cluster

import (
	"context"
	"encoding/json"
	"path/filepath"
	"testing"
	"time"

	"github.com/nats-io/nats.go"
)

func TestJobsWithPiecesOfAnyLengthGetTheSameTime(t *testing.T) {
	t.Parallel()
	e := serve(t, settings(t))
	hire(t, connect(t, e.Access(), nil), &Worker{})
	ctx, stop := context.WithCancel(t.Context())
	defer stop()
	jobs := []sums{{Name: "long", Wait: 400 * time.Millisecond}, {Name: "short", Wait: 40 * time.Millisecond}}
	var commanders [2]*Commander
	got := func(i int) time.Duration { // as measured: a slow machine takes longer for a piece than it waits
		own := &commanders[i].own
		own.mutex.Lock()
		defer own.mutex.Unlock()
		return own.Used
	}
	for i := range jobs {
		jobs[i].Of, jobs[i].Log = 1_000_000, filepath.Join(t.TempDir(), "log")
		j, task := jobOf(t, "coarse", jobs[i])
		commanders[i] = begin(t, connect(t, e.Access(), nil), j, task, nil)
		ended := start(ctx, t, commanders[i], j, task)
		defer func() { stop(); <-ended }()
		until(t, "begun", func() bool { return len(logged(t, jobs[i].Log)) > 2 })
	}
	long, short := got(0), got(1)
	// Without sharing, one job has ten times as much as the other for ever. One long piece of a slow machine is made up for.
	until(t, "shared", func() bool {
		long, short := got(0)-long, got(1)-short
		return long > 4*time.Second && short > 4*time.Second && long < 2*short && short < 2*long
	})
}

func TestAJobWithoutMorePiecesHoldsUpNoOther(t *testing.T) {
	if testing.Short() {
		t.Skip("no goroutine differs from those of other tests")
	}
	t.Parallel()
	e := serve(t, settings(t))
	hire(t, connect(t, e.Access(), nil), &Worker{Cores: 2*trusted + 2, Patience: usualPatience}) // a slow machine may begin the stuck pieces again
	ctx, stop := context.WithCancel(t.Context())
	stuck := sums{Of: 3, Stuck: 1, Begins: filepath.Join(t.TempDir(), "begins")}
	j, task := jobOf(t, "coarse", stuck)
	ended := start(ctx, t, begin(t, connect(t, e.Access(), nil), j, task, nil), j, task)
	defer func() { stop(); <-ended }()
	until(t, "begun", func() bool { return len(readDiary(t, stuck.Begins).begun) >= 3 })
	spec := sums{Of: 160, Wait: 50 * time.Millisecond}
	k, other := jobOf(t, "coarse", spec)
	got, err := complete(t.Context(), t, begin(t, connect(t, e.Access(), nil), k, other, nil), k, other, nil)
	same(t, "coarse", spec, got, err)
}

func TestTurns(t *testing.T) {
	t.Parallel()
	c := &Commander{rivals: rivals{key: "own", version: version, heard: map[string]rival{}}}
	turn := func(want bool) {
		t.Helper()
		if got := c.turn(2, 2); got != want {
			t.Errorf("its turn: %v, with %v", got, c.account)
		}
	}
	hear := func(key, version string, used time.Duration, waits bool) {
		text, err := json.Marshal(announcement{Key: key, Version: version, Used: used, Waits: waits})
		if err != nil {
			t.Fatal(err)
		}
		c.rivals.hear(&nats.Msg{Data: text})
	}
	c.account.spend(time.Minute)
	c.account.waits = true
	hear("own", version, time.Second, true)
	hear("other", "another version", time.Second, true)
	turn(true) // there is no rival
	hear("old", version, time.Hour, true)
	turn(true)
	if got := c.account.used(2); got != time.Hour {
		t.Errorf("a job that joins begins at %v", got)
	}
	c.account.spend(time.Minute)
	turn(false)
	hear("ahead", version, 2*time.Hour, true)
	turn(false)
	hear("old", version, time.Hour+time.Minute, true)
	turn(true)
	c.account.spend(time.Minute)
	turn(false)
	hear("old", version, 0, false) // it waits no more
	turn(true)
	hear("ahead", version, 2*time.Hour, false)
	c.account.spend(24 * time.Hour)
	turn(true)
}

// A worker takes a piece before it needs it. If it computes long, another worker may need the piece sooner.
func TestAPieceThatWaitsBehindALongOneIsPutBack(t *testing.T) {
	t.Parallel()
	e := serve(t, settings(t))
	c := connect(t, e.Access(), nil)
	ctx, stop := context.WithCancel(t.Context())
	w, _ := hire(t, connect(t, e.Access(), nil), &Worker{Cores: 1, Patience: usualPatience})
	j, task := jobOf(t, "coarse", sums{Of: 2, Stuck: 1})
	ended := start(ctx, t, begin(t, c, j, task, nil), j, task)
	defer func() { stop(); <-ended }()
	until(t, "stuck", func() bool { m := w.Measured(); return m.Pieces >= 1 && m.Busy == 1 })
	spec := sums{Of: 1}
	k, other := jobOf(t, "coarse", spec)
	short := start(t.Context(), t, begin(t, c, k, other, nil), k, other)
	until(t, "put back", func() bool { return w.Measured().Returned > 0 })
	hire(t, connect(t, e.Access(), nil), &Worker{Cores: trusted + 1, Patience: usualPatience}) // a slow machine may begin the stuck piece again
	o := <-short
	same(t, "coarse", spec, o.result, o.err)
}
