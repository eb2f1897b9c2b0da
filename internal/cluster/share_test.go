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
	// A slow machine takes longer for a piece than it waits, but not much longer than the short wait.
	jobs := []sums{{Name: "long", Wait: 400 * time.Millisecond}, {Name: "short", Wait: 40 * time.Millisecond}}
	got := func(i int) time.Duration { return time.Duration(len(logged(t, jobs[i].Log))) * jobs[i].Wait }
	for i := range jobs {
		jobs[i].Of, jobs[i].Log = 1_000_000, filepath.Join(t.TempDir(), "log")
		j, task := jobOf(t, "coarse", jobs[i])
		ended := start(ctx, t, begin(t, connect(t, e.Access(), nil), j, task, nil), j, task)
		defer func() { stop(); <-ended }()
		until(t, "begun", func() bool { return got(i) > 2*jobs[i].Wait })
	}
	long, short := got(0), got(1)
	until(t, "far", func() bool { return got(0)-long > 4*time.Second && got(1)-short > 4*time.Second })
	long, short = got(0)-long, got(1)-short
	t.Logf("the job with long pieces has had %v, that with short ones %v", long, short)
	if long > 2*short || short > 2*long {
		t.Errorf("the job with long pieces has had %v, that with short ones %v", long, short)
	}
}

func TestAJobWithoutMorePiecesHoldsUpNoOther(t *testing.T) {
	t.Parallel()
	e := serve(t, settings(t))
	hire(t, connect(t, e.Access(), nil), &Worker{Cores: 4})
	ctx, stop := context.WithCancel(t.Context())
	stuck := sums{Of: 3, Stuck: 1, Begins: filepath.Join(t.TempDir(), "begins")}
	j, task := jobOf(t, "coarse", stuck)
	ended := start(ctx, t, begin(t, connect(t, e.Access(), nil), j, task, nil), j, task)
	defer func() { stop(); <-ended }()
	until(t, "begun", func() bool { return len(readDiary(t, stuck.Begins).begun) == 3 })
	spec := sums{Of: 800, Wait: 10 * time.Millisecond}
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
	w, _ := hire(t, connect(t, e.Access(), nil), &Worker{Cores: 1})
	j, task := jobOf(t, "coarse", sums{Of: 2, Stuck: 1})
	ended := start(ctx, t, begin(t, c, j, task, nil), j, task)
	defer func() { stop(); <-ended }()
	until(t, "stuck", func() bool { m := w.Measured(); return m.Pieces == 1 && m.Busy == 1 })
	spec := sums{Of: 1}
	k, other := jobOf(t, "coarse", spec)
	short := start(t.Context(), t, begin(t, c, k, other, nil), k, other)
	until(t, "put back", func() bool { return w.Measured().Returned > 0 })
	hire(t, connect(t, e.Access(), nil), &Worker{Cores: 1})
	o := <-short
	same(t, "coarse", spec, o.result, o.err)
}
