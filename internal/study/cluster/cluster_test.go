package cluster

import (
	"flag"
	"os"
	"testing"
	"time"

	"ringleader.example/ringleader/internal/core/leaks"
)

func TestMain(m *testing.M) {
	if role := os.Getenv(roleVariable); role != "" {
		play(role)
	}
	_ = flag.Set("test.parallel", "8") // tests wait more than they compute
	flag.Parse()
	if testing.Short() { // for races: no goroutine differs
		delete(strangers, "no seal")
	}
	leaks.Main(m)
}

func TestADistributedJobHasTheBytesOfALocalOne(t *testing.T) {
	e := serve(t, settings(t))
	c := connect(t, e.Access(), nil)
	hire(t, connect(t, overNetwork(e), nil), &Worker{})
	hire(t, connect(t, overNetwork(e), nil), &Worker{})
	for kind, s := range map[string]sums{
		"sums":    {Of: 300, Wait: time.Millisecond},
		"coarse":  {Of: 100, Wait: time.Millisecond},
		"ending":  {Of: 400, Wait: time.Millisecond, End: 123},
		"growing": {Of: 400, Wait: time.Millisecond},
	} {
		t.Run(kind, func(t *testing.T) {
			j, task := jobOf(t, kind, s)
			commander := begin(t, c, j, task, nil)
			got, err := complete(t.Context(), t, commander, j, task, nil)
			same(t, kind, s, got, err)
			if err := commander.Finish(t.Context()); err != nil {
				t.Error(err)
			}
			if jobs, err := c.Jobs(t.Context()); err != nil || len(jobs) > 0 {
				t.Errorf("jobs are left: %v, %v", jobs, err)
			}
		})
	}
}
