package explain_test

import (
	"testing"
	"testing/synctest"
	"time"

	"ringleader.example/ringleader"
	"ringleader.example/ringleader/internal/serve/explain"
	"ringleader.example/ringleader/internal/serve/record"
	"ringleader.example/ringleader/ringleadertest"
)

// eventful returns the records of a group with many faults, in the directories of its members.
func eventful(t *testing.T, n uint64) string {
	directory := t.TempDir()
	synctest.Test(t, func(t *testing.T) {
		var ids []uint64
		for id := range n {
			ids = append(ids, id+1)
		}
		c := ringleadertest.New(t, ringleader.Config{Record: ringleader.Record{Directory: directory}}, ids...)
		defer c.Close()
		c.Start(ids...)
		c.Await(n)
		c.Cut(ids[:n-1], ids[n-1:])
		c.Await(n - 1)
		c.Heal()
		c.Await(n - 1)
		c.Kill(n - 1)
		c.Prove(n - 1)
		c.Await(n)
		c.Start(n - 1)
		c.Await(n)
		c.Stop(n)
		c.Pass(3 * time.Second)
		c.Continue(n)
		c.AwaitAny()
	})
	return directory
}

// The records of real members are a run that the model allows.
func TestJoinedRecordsAreARunOfTheModel(t *testing.T) {
	for _, n := range []uint64{3, 5} {
		records, err := record.Open(eventful(t, n))
		if err != nil {
			t.Fatal(err)
		}
		g := explain.Of(records).Groups[0]
		c := g.Check(1 << 20)
		if c.Without != "" || c.Broken != "" || c.Steps < 100 || len(g.Violations) > 0 {
			t.Fatalf("%+v %+v", c, g.Violations)
		}
		t.Logf("%d members: %d steps, %v", n, c.Steps, c.Actions)
		for _, action := range []string{"win", "grant-renew", "crash", "die", "release", "extend"} {
			if c.Actions[action] == 0 {
				t.Errorf("%s never happened", action)
			}
		}
	}
}
