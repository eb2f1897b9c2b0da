package cluster

import (
	"errors"
	"fmt"
	"path/filepath"
	"testing"
	"time"

	"ringleader.example/ringleader/internal/serve/rig"
)

func TestOfCommandersThatBeginAtOnceOneRuns(t *testing.T) {
	t.Parallel()
	e := serve(t, settings(t))
	const several = 6
	var conns []*Conn
	for range several {
		conns = append(conns, connect(t, e.Access(), nil))
	}
	rounds := 20
	if testing.Short() {
		rounds = 4
	}
	for round := range rounds { // each job twice: the second time the one that has run it is gone
		j, _ := jobOf(t, "sums", sums{Of: 10, Name: fmt.Sprint(round / 2)})
		gate, errs := make(chan struct{}), make(chan error, several)
		var all []*Commander
		for i, conn := range conns {
			c := &Commander{Conn: conn}
			all = append(all, c)
			go func() {
				<-gate
				errs <- c.Begin(t.Context(), j, 10, fmt.Sprint("call ", i))
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

// A server that takes longer to answer than a commander may is not taken for one.
func TestASlowServerIsNoCommander(t *testing.T) {
	t.Parallel()
	e := serve(t, settings(t))
	link, err := rig.NewLink(e.address())
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(link.Close)
	c := connect(t, Access{URL: "nats://" + link.Address(), Token: token}, nil)
	link.Set(rig.Way{}, rig.Way{Delay: func() time.Duration { return commanderTime + time.Second/4 }})
	if other, err := c.commander(t.Context(), "none"); other != nil || err != nil {
		t.Errorf("%+v, %v", other, err)
	}
	link.Set(rig.Way{}, rig.Way{})
}

// A commander without a connection does not answer, so another one may take its job.
func TestACommanderWhoseJobIsTakenEndsAndLeavesIt(t *testing.T) {
	t.Parallel()
	e := serve(t, settings(t))
	spec := sums{Of: 12, Begins: filepath.Join(t.TempDir(), "begins")}
	spec.shut(t, 0) // no piece ends before the job is taken
	j, task := jobOf(t, "coarse", spec)
	c := connect(t, e.Access(), nil)
	hire(t, connect(t, e.Access(), nil), &Worker{Cores: 4, Patience: time.Minute}) // a slow machine repeats nothing
	commanders := []*Commander{begin(t, c, j, task, nil), nil}
	first := start(t.Context(), t, commanders[0], j, task)
	for _, s := range commanders[0].asked {
		if s.Subject == commanderSubject+j.Key() {
			_ = s.Unsubscribe()
		}
	}
	until(t, "begun", func() bool { return len(readDiary(t, spec.Begins).begun) >= 4 })
	commanders[1] = begin(t, connect(t, e.Access(), nil), j, task, nil)
	if o := <-first; !errors.Is(o.err, ErrRunning) {
		t.Errorf("the first ends with %v", o.err)
	}
	spec.open(t)
	second := start(t.Context(), t, commanders[1], j, task)
	if err := commanders[0].Finish(t.Context()); err != nil {
		t.Error(err)
	}
	o := <-second
	same(t, "coarse", spec, o.result, o.err)
	if begun := readDiary(t, spec.Begins).begun; len(begun) != int(spec.Of) {
		t.Errorf("begun: %v", begun)
	}
	if err := commanders[1].Finish(t.Context()); err != nil {
		t.Error(err)
	}
	if jobs, err := c.Jobs(t.Context()); err != nil || len(jobs) > 0 {
		t.Errorf("%v, %v", jobs, err)
	}
}

func TestACommanderClaimsItsJobAgainWhenTheServerHasLostIt(t *testing.T) {
	t.Parallel()
	c := connect(t, serve(t, settings(t)).Access(), nil)
	j, task := jobOf(t, "sums", sums{Of: 10})
	commander := begin(t, c, j, task, nil)
	stream, err := c.js.Stream(t.Context(), resultsStream(j.Key()))
	if err == nil {
		err = stream.Purge(t.Context())
	}
	if err == nil {
		err = commander.hold(t.Context())
	}
	if err != nil {
		t.Fatal(err)
	}
	if last, err := c.lastClaim(t.Context(), j.Key()); err != nil || last.ID != commander.claim.ID {
		t.Errorf("%+v, %v", last, err)
	}
}
