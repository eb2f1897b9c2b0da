package cluster

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"ringleader.example/ringleader/internal/study/work"
)

func TestAJobThatRunsIsNotRunTwice(t *testing.T) {
	t.Parallel()
	e := serve(t, settings(t))
	j, task := jobOf(t, "sums", sums{Of: 10})
	first := begin(t, connect(t, e.Access(), nil), j, task, nil)
	second := &Commander{Conn: connect(t, e.Access(), nil)}
	until(t, "the process named that runs it", func() bool { // it may answer too late, and runs all the same
		err := second.Begin(t.Context(), j, 10, "")
		if !errors.Is(err, ErrRunning) {
			t.Fatalf("the second ends with %v", err)
		}
		return strings.Contains(err.Error(), Process())
	})
	first.Leave()
	if err := second.Begin(t.Context(), j, 10, ""); err != nil {
		t.Error(err)
	}
	second.Leave()
}

func TestAJobThatIsCancelledEndsEverywhere(t *testing.T) {
	t.Parallel()
	e := serve(t, settings(t))
	c := connect(t, e.Access(), nil)
	w, _ := hire(t, connect(t, e.Access(), nil), &Worker{})
	j, task := jobOf(t, "coarse", sums{Of: 100, Wait: time.Hour})
	ended := start(t.Context(), t, begin(t, c, j, task, nil), j, task)
	until(t, "in work", func() bool { return w.Measured().Busy == 2 })
	if err := c.Cancel(t.Context(), j.Key()[:9]); err != nil {
		t.Fatal(err)
	}
	if o := <-ended; !errors.Is(o.err, ErrCancelled) {
		t.Errorf("the commander ends with %v", o.err)
	}
	until(t, "idle", func() bool { return w.Measured().Busy == 0 })
	until(t, "the queue empty", func() bool {
		pieces, err := c.pieces(t.Context(), queueStream, c.queueSubjects(j)+">")
		return err == nil && len(pieces) == 0
	})
	if names := streams(t, c); !slices.Equal(names, []string{cancelledStream, queueStream}) {
		t.Errorf("streams are left: %v", names)
	}
	if err := c.Cancel(t.Context(), j.Key()); !errors.Is(err, ErrNoJob) {
		t.Errorf("a second time: %v", err)
	}
}

func TestPiecesThatAreNeededNoMoreAreStopped(t *testing.T) {
	t.Parallel()
	for _, spec := range []sums{
		{Of: 100, End: 30, Stuck: 32},
		{Of: 100, Fails: 30, Stuck: 32},
	} {
		e := serve(t, settings(t))
		c := connect(t, e.Access(), nil)
		w, _ := hire(t, connect(t, e.Access(), nil), &Worker{Cores: 8, Patience: time.Minute}) // a slow machine repeats nothing
		spec.Begins = filepath.Join(t.TempDir(), "begins")
		spec.shut(t, 30)
		const kind = "ending coarse"
		j, task := jobOf(t, kind, spec)
		commander := begin(t, c, j, task, nil)
		until(t, "the worker heard", func() bool { return commander.heard.slots() == 8 })
		ended := start(t.Context(), t, commander, j, task)
		// Pieces come in any order, and 8 at the gate take all slots: not all of them are the needed ones.
		until(t, "a piece begun that is not needed", func() bool {
			return slices.ContainsFunc(readDiary(t, spec.Begins).begun, func(piece string) bool {
				var from, last uint64
				_, err := fmt.Sscanf(piece, "%d to %d", &from, &last)
				return err == nil && from >= spec.Stuck
			})
		})
		spec.open(t)
		o := <-ended
		if spec.Fails > 0 {
			if !errors.Is(o.err, errSums) {
				t.Error(o.err)
			}
		} else {
			same(t, kind, spec, o.result, o.err)
		}
		until(t, "the queue empty", func() bool {
			pieces, err := c.pieces(t.Context(), queueStream, c.queueSubjects(j)+">")
			return err == nil && len(pieces) == 0
		})
		until(t, "the worker idle", func() bool { return w.Measured().Busy == 0 })
	}
}

// A command that removes a job may end after it has removed the results. The pieces are then still in the queue.
func TestWorkersDropThePiecesOfAJobThatIsGone(t *testing.T) {
	t.Parallel()
	e := serve(t, settings(t))
	c := connect(t, e.Access(), nil)
	spec := sums{Of: 10, Log: filepath.Join(t.TempDir(), "log")}
	j, task := jobOf(t, "coarse", spec)
	commander := begin(t, c, j, task, nil)
	for u := range spec.Of {
		if _, err := c.js.PublishMsg(t.Context(), c.piece(c.queueSubject(j, work.Piece{From: u, To: u + 1}))); err != nil {
			t.Fatal(err)
		}
	}
	commander.Leave()
	if err := c.js.DeleteStream(t.Context(), resultsStream(j.Key())); err != nil {
		t.Fatal(err)
	}
	hire(t, connect(t, e.Access(), nil), &Worker{})
	until(t, "the queue empty", func() bool {
		pieces, err := c.pieces(t.Context(), queueStream, c.queueSubjects(j)+">")
		return err == nil && len(pieces) == 0
	})
	if lines := logged(t, spec.Log); len(lines) > 0 {
		t.Errorf("computed: %v", lines)
	}
}

func TestJobsAreListed(t *testing.T) {
	t.Parallel()
	e := serve(t, settings(t))
	c := connect(t, e.Access(), nil)
	if jobs, err := c.Jobs(t.Context()); err != nil || len(jobs) > 0 {
		t.Errorf("%v, %v", jobs, err)
	}
	var keys []string
	before := time.Now().Truncate(time.Second)
	for i, name := range []string{"one", "two"} {
		j, task := jobOf(t, "coarse", sums{Of: 10, Name: name})
		commander := begin(t, c, j, task, nil)
		if i == 0 {
			w, stop := hire(t, connect(t, e.Access(), nil), &Worker{})
			if _, err := complete(t.Context(), t, commander, j, task, nil); err != nil {
				t.Fatal(err)
			}
			until(t, "the queue empty", func() bool { // the worker hears late that the server has the last results
				pieces, err := c.pieces(t.Context(), queueStream, c.queueSubjects(j)+">")
				return err == nil && len(pieces) == 0 && w.Measured().Pieces >= 10
			})
			stop()
			commander.Leave()
		}
		keys = append(keys, j.Key())
	}
	for i, want := range []work.JobState{
		{State: work.Done, Units: 10, Done: 10, Left: -1},
		{State: work.Running, Units: 10, Left: -1, Commander: Process()},
	} {
		var got work.JobState
		var err error
		until(t, "an answer there", func() bool { // a commander of a slow machine answers too late
			got, err = c.Find(t.Context(), keys[i][:12])
			return err != nil || got.Commander == want.Commander
		})
		if err != nil || got.Call != "ringleader sums" || got.Key != keys[i] || got.Key != got.Job.Key() || got.Begun.Before(before) || got.Begun.After(time.Now()) {
			t.Errorf("%+v, %v", got, err)
		}
		got.Job, got.Key, got.Call, got.Begun = work.Job{}, "", "", time.Time{}
		if fmt.Sprint(got) != fmt.Sprint(want) {
			t.Errorf("%+v, want %+v", got, want)
		}
	}
	if all, err := c.Jobs(t.Context()); err != nil || len(all) != 2 {
		t.Errorf("%v, %v", all, err)
	}
}

func TestAJobIsFoundByItsFirstCharacters(t *testing.T) {
	t.Parallel()
	e := serve(t, settings(t))
	c := connect(t, e.Access(), nil)
	for _, name := range []string{"one", "two"} {
		j, task := jobOf(t, "coarse", sums{Of: 10, Name: name})
		begin(t, c, j, task, nil)
		if found, err := c.Find(t.Context(), j.Key()[:12]); err != nil || !found.Job.Same(j) {
			t.Errorf("%+v, %v", found, err)
		}
	}
	if _, err := c.Find(t.Context(), ""); !errors.Is(err, ErrAmbiguous) {
		t.Error(err)
	}
	if _, err := c.Find(t.Context(), "no"); !errors.Is(err, ErrNoJob) {
		t.Error(err)
	}
}

func TestWorkersAnswer(t *testing.T) {
	t.Parallel()
	e := serve(t, settings(t))
	c := connect(t, e.Access(), nil)
	hire(t, connect(t, e.Access(), nil), &Worker{Cores: 3})
	hire(t, connect(t, e.Access(), nil), &Worker{Cores: 4, Version: "other"})
	until(t, "the number of workers 2", func() bool {
		workers, err := c.Workers(t.Context())
		return err == nil && len(workers) == 2 && workers[0].Slots+workers[1].Slots == 7 && workers[0].Process == Process()
	})
}

func TestACommanderCountsTheWorkersOfItsVersion(t *testing.T) {
	t.Parallel()
	e := serve(t, settings(t))
	var lines, workerLines notices
	j, task := jobOf(t, "sums", sums{Of: 10})
	commander := begin(t, connect(t, e.Access(), nil), j, task, lines.add)
	_, end := hire(t, connect(t, e.Access(), nil), &Worker{Cores: 3})
	other, _ := hire(t, connect(t, e.Access(), nil), &Worker{Cores: 4, Version: "v9", Notice: workerLines.add})
	until(t, "the number of slots 3", func() bool { return commander.heard.slots() == 3 })
	listener := connect(t, e.Access(), nil)
	states, err := listener.nats.SubscribeSync(workerSubject)
	if err == nil {
		err = listener.nats.Flush()
	}
	if err != nil {
		t.Fatal(err)
	}
	end()
	until(t, "a farewell heard", func() bool { // a commander need not wait until the worker is silent for long
		m, err := states.NextMsg(time.Second)
		var w work.WorkerState
		return err == nil && json.Unmarshal(m.Data, &w) == nil && w.Version == wireVersion(version) && w.Slots == 0
	})
	until(t, "the number of slots 0", func() bool { return commander.heard.slots() == 0 })
	until(t, "the other version refused", func() bool { return len(lines.with("is refused")) == 1 && len(workerLines.with("is refused")) == 1 })
	if m := other.Measured(); m.Refused != 1 || !m.Connected || m.Slots != 4 {
		t.Errorf("%+v", m)
	}
	for _, line := range append(lines.with("is refused"), workerLines.with("is refused")...) {
		if !strings.Contains(line, "v9") || !strings.Contains(line, version) || !strings.Contains(line, Process()) {
			t.Error(line)
		}
	}
}

func TestAWorkerOfAnotherVersionGetsNoPiece(t *testing.T) {
	t.Parallel()
	e := serve(t, settings(t))
	spec := sums{Of: 60, Wait: time.Millisecond}
	j, task := jobOf(t, "coarse", spec)
	other, _ := hire(t, connect(t, e.Access(), nil), &Worker{Version: "v9"})
	hire(t, connect(t, e.Access(), nil), &Worker{})
	got, err := complete(t.Context(), t, begin(t, connect(t, e.Access(), nil), j, task, nil), j, task, nil)
	same(t, "coarse", spec, got, err)
	if m := other.Measured(); m.Pieces+m.Failed+m.Returned > 0 {
		t.Errorf("%+v", m)
	}
}

func TestJobsShareWorkers(t *testing.T) {
	t.Parallel()
	e := serve(t, settings(t))
	log := filepath.Join(t.TempDir(), "log")
	first := sums{Of: 1_000_000, Wait: 5 * time.Millisecond, Log: log, Name: "long"}
	j, task := jobOf(t, "coarse", first)
	c := connect(t, e.Access(), nil)
	ctx, stop := context.WithCancel(t.Context())
	long := start(ctx, t, begin(t, c, j, task, nil), j, task)
	defer func() { stop(); <-long }()
	hire(t, connect(t, e.Access(), nil), &Worker{})
	until(t, "begun", func() bool { return len(logged(t, log)) > 10 })
	second := sums{Of: 80, Wait: 5 * time.Millisecond, Name: "short"}
	k, other := jobOf(t, "coarse", second)
	got, err := complete(t.Context(), t, begin(t, connect(t, e.Access(), nil), k, other, nil), k, other, nil)
	same(t, "coarse", second, got, err)
	before := len(logged(t, log))
	until(t, "going on", func() bool { return len(logged(t, log)) > before })
}
