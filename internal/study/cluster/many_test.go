package cluster

import (
	"testing"
	"time"
)

func TestFiftyWorkersShareAJob(t *testing.T) {
	t.Parallel()
	e := serve(t, settings(t))
	j, task := jobOf(t, "coarse", sums{Of: 1000, Wait: 20 * time.Millisecond})
	commander := begin(t, connect(t, e.Access(), nil), j, task, nil)
	var workers []*Worker
	for range 50 {
		w, _ := hire(t, connect(t, overNetwork(e), nil), &Worker{Cores: 1, Patience: time.Minute})
		workers = append(workers, w)
	}
	until(t, "each of 50 workers heard", func() bool { return commander.heard.slots() == 50 })
	got, err := complete(t.Context(), t, commander, j, task, nil)
	same(t, "coarse", sums{Of: 1000}, got, err)
	pieces, idle := uint64(0), 0
	until(t, "each piece counted", func() bool { // a worker counts a piece after its result is stored
		pieces, idle = 0, 0
		for _, w := range workers {
			m := w.Measured()
			pieces += m.Pieces
			if m.Pieces == 0 {
				idle++
			}
		}
		return pieces >= 1000
	})
	if idle > len(workers)/2 || pieces > 1010 { // on a slow machine, some workers come late
		t.Errorf("%d pieces were computed, and %d workers had none", pieces, idle)
	}
}
