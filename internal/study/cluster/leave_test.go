package cluster

import (
	"context"
	"testing"
	"time"

	"ringleader.example/ringleader/internal/serve/rig"
	"ringleader.example/ringleader/internal/study/work"
)

// The server has sent the piece, which is slow on its way. It would wait for an hour before it sends the piece to another worker.
func TestAPieceThatIsUnderWayToAWorkerThatEndsIsGivenBack(t *testing.T) {
	t.Parallel()
	e := serve(t, settings(t))
	link, err := rig.NewLink(e.address())
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(link.Close)
	c := connect(t, e.Access(), nil)
	const patience = time.Hour
	_, end := hire(t, connect(t, Access{URL: "nats://" + link.Address(), Token: token}, nil), &Worker{Cores: 1, Patience: patience, late: time.Minute})
	await := func(what string, holds func(waiting, sent int) bool) {
		t.Helper()
		until(t, what, func() bool {
			queue, err := c.queue(t.Context())
			if err != nil {
				return false
			}
			consumer, err := queue.Consumer(t.Context(), c.consumerConfig(version, patience).Durable)
			if err != nil {
				return false
			}
			info, err := consumer.Info(t.Context())
			return err == nil && holds(info.NumWaiting, info.NumAckPending)
		})
	}
	await("a piece wanted", func(waiting, _ int) bool { return waiting == 1 })
	link.Set(rig.Way{}, rig.Way{Delay: func() time.Duration { return lateTime / 4 }})
	spec := sums{Of: 1}
	j, task := jobOf(t, "coarse", spec)
	ended := start(t.Context(), t, begin(t, c, j, task, nil), j, task)
	await("the piece sent", func(_, sent int) bool { return sent == 1 })
	end()
	hire(t, connect(t, e.Access(), nil), &Worker{Patience: patience})
	select {
	case o := <-ended:
		same(t, "coarse", spec, o.result, o.err)
	case <-time.After(time.Minute):
		t.Fatal("no worker has the piece")
	}
}

// taker returns a run that takes many pieces back, and its server, whose queue has them.
func taker(t *testing.T, within time.Duration) (r *run, e *served, queued func() int) {
	t.Helper()
	e = serve(t, settings(t))
	j, task := jobOf(t, "coarse", sums{Of: 200})
	c := connect(t, overNetwork(e), nil)
	commander := begin(t, c, j, task, nil)
	commander.within = within
	results, err := work.NewResults(task, nil, nil)
	if err != nil {
		t.Fatal(err)
	}
	r = &run{Commander: commander, key: j.Key(), task: task, results: results, cutter: work.NewCutter(task, results, 100), out: map[work.Piece]int{}}
	for len(r.out) < 100 && r.publish() {
	}
	<-c.js.PublishAsyncComplete()
	return r, e, func() int {
		pieces, err := c.pieces(t.Context(), queueStream, c.queueSubjects(j)+">")
		if err != nil {
			t.Fatal(err)
		}
		return len(pieces)
	}
}

func everyPiece(work.Piece) bool { return true }

func TestPiecesAreTakenBackTogether(t *testing.T) {
	t.Parallel()
	for within, left := range map[time.Duration]int{time.Hour: 0, time.Nanosecond: 100} {
		r, _, queued := taker(t, within)
		r.abandon(t.Context(), everyPiece)
		r.retracting.Wait()
		if n := queued(); n != left || len(r.out) > 0 {
			t.Errorf("within %v: %d pieces are left, want %d; %d are awaited", within, n, left, len(r.out))
		}
	}
}

// The server is away, and Ctrl-C ends the wait for it. Meanwhile the run goes on.
func TestPiecesAreNotTakenBackAfterCtrlC(t *testing.T) {
	t.Parallel()
	r, e, _ := taker(t, time.Hour)
	e.Close()
	ctx, stop := context.WithCancel(t.Context())
	r.abandon(ctx, everyPiece)
	stop()
	r.retracting.Wait()
}
