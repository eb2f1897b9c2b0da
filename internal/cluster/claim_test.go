package cluster

import (
	"errors"
	"path/filepath"
	"testing"
	"time"
)

func TestOfCommandersThatBeginAtOnceOneRuns(t *testing.T) {
	t.Parallel()
	e := serve(t, settings(t))
	const several = 6
	var all []*Commander
	for range several {
		all = append(all, &Commander{Conn: connect(t, e.Access(), nil)})
	}
	j, _ := jobOf(t, "sums", sums{Of: 10})
	for range 20 { // and again when the one that runs is gone, without a word
		gate, errs := make(chan struct{}), make(chan error, several)
		for _, c := range all {
			go func() {
				<-gate
				errs <- c.Begin(t.Context(), j, 10, "")
			}()
		}
		close(gate)
		began := 0
		for range all {
			if err := <-errs; err == nil {
				began++
			} else if !errors.Is(err, ErrRunning) {
				t.Error(err)
			}
		}
		if began != 1 {
			t.Fatalf("%d of %d run the job", began, several)
		}
		for _, c := range all {
			c.Leave()
		}
	}
}

// A commander without a connection does not answer, so another one may take its job.
func TestACommanderWhoseJobIsTakenEndsAndLeavesIt(t *testing.T) {
	t.Parallel()
	e := serve(t, settings(t))
	spec := sums{Of: 100, Wait: 10 * time.Millisecond, Log: filepath.Join(t.TempDir(), "log")}
	j, task := jobOf(t, "coarse", spec)
	c := connect(t, e.Access(), nil)
	commanders := []*Commander{begin(t, c, j, task, nil), nil}
	first := start(t.Context(), t, commanders[0], j, task)
	silent := func(of *Commander) {
		for _, s := range of.asked {
			if s.Subject == commanderSubject+j.Key() {
				_ = s.Unsubscribe()
			}
		}
	}
	silent(commanders[0])
	commanders[1] = begin(t, connect(t, e.Access(), nil), j, task, nil)
	if o := <-first; !errors.Is(o.err, ErrRunning) {
		t.Errorf("the first ends with %v", o.err)
	}
	second := start(t.Context(), t, commanders[1], j, task)
	hire(t, connect(t, e.Access(), nil), &Worker{})
	until(t, "begun", func() bool { return len(logged(t, spec.Log)) > 10 })
	if err := commanders[0].Finish(t.Context()); err != nil {
		t.Error(err)
	}
	o := <-second
	same(t, "coarse", spec, o.result, o.err)
	if again := twice(t, spec.Log); len(again) > 0 {
		t.Errorf("computed twice: %v", again)
	}
	if err := commanders[1].Finish(t.Context()); err != nil {
		t.Error(err)
	}
	if jobs, err := c.Jobs(t.Context()); err != nil || len(jobs) > 0 {
		t.Errorf("%v, %v", jobs, err)
	}
}
