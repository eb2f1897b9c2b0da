package cluster

import (
	"testing"
	"time"

	"ringleader.example/ringleader/internal/rig"
)

// The server has sent the piece, which is slow on its way. It would wait for an hour before it sends the piece to another worker.
func TestAPieceThatIsUnderWayToAWorkerThatEndsIsGivenBack(t *testing.T) {
	t.Parallel()
	e := serve(t, settings(t))
	link, err := rig.NewLink(e.nats.Addr().String())
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(link.Close)
	c := connect(t, e.Access(), nil)
	const patience = time.Hour
	_, end := hire(t, connect(t, Access{URL: "nats://" + link.Address()}, nil), &Worker{Cores: 1, patience: patience})
	await := func(what string, holds func(waiting, sent int) bool) {
		t.Helper()
		until(t, what, func() bool {
			queue, err := c.queue(t.Context())
			if err != nil {
				return false
			}
			consumer, err := queue.Consumer(t.Context(), consumerConfig(version, patience).Durable)
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
	hire(t, connect(t, e.Access(), nil), &Worker{patience: patience})
	select {
	case o := <-ended:
		same(t, "coarse", spec, o.result, o.err)
	case <-time.After(time.Minute):
		t.Fatal("no worker has the piece")
	}
}
