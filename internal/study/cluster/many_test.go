package cluster

import (
	"slices"
	"testing"
	"time"
)

func TestFiftyWorkersShareAJob(t *testing.T) {
	t.Parallel()
	many := 50
	if testing.Short() {
		many = 8
	}
	e := serve(t, settings(t))
	spec := sums{Of: uint64(10 * many)}
	spec.shut(t, 0)
	j, task := jobOf(t, "coarse", spec)
	commander := begin(t, connect(t, e.Access(), nil), j, task, nil)
	var workers []*Worker
	for range many {
		w, _ := hire(t, connect(t, overNetwork(e), nil), &Worker{Cores: 1, Patience: time.Minute})
		workers = append(workers, w)
	}
	until(t, "each worker heard", func() bool { return commander.heard.slots() == many })
	ended := start(t.Context(), t, commander, j, task)
	until(t, "each worker busy", func() bool {
		return !slices.ContainsFunc(workers, func(w *Worker) bool { return w.Measured().Busy == 0 })
	})
	spec.open(t)
	o := <-ended
	same(t, "coarse", spec, o.result, o.err)
	pieces := uint64(0)
	until(t, "each piece counted", func() bool { // a worker counts a piece after its result is stored
		pieces = 0
		for _, w := range workers {
			pieces += w.Measured().Pieces
		}
		return pieces >= spec.Of
	})
	if pieces > spec.Of+spec.Of/100 {
		t.Errorf("%d pieces were computed", pieces)
	}
}
