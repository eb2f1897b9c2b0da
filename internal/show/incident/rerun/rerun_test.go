package rerun_test

import (
	"testing"
	"testing/synctest"
	"time"

	"ringleader.example/ringleader"
	"ringleader.example/ringleader/internal/serve/explain"
	"ringleader.example/ringleader/internal/serve/live/quorumbully"
	"ringleader.example/ringleader/internal/serve/record"
	"ringleader.example/ringleader/internal/show/incident/incidenttest"
	"ringleader.example/ringleader/internal/show/incident/rerun"
	"ringleader.example/ringleader/ringleadertest"
)

// recorded returns the directory with the records of a group of so many members to which something happens.
func recorded(t *testing.T, n uint64, happens func(c *ringleadertest.Cluster)) (directory string) {
	t.Helper()
	directory = t.TempDir()
	synctest.Test(t, func(t *testing.T) {
		var ids []uint64
		for id := range n {
			ids = append(ids, id+1)
		}
		c := ringleadertest.New(t, ringleader.Config{Record: ringleader.Record{Directory: directory}}, ids...)
		defer c.Close()
		c.Start(ids...)
		c.Await(n)
		happens(c)
	})
	return directory
}

// eventful is cuts, deaths with a proof, a restart and a process that stands still, where the leader is the last of some members.
func eventful(n uint64) func(c *ringleadertest.Cluster) {
	return func(c *ringleadertest.Cluster) {
		var others []uint64
		for id := range n - 1 {
			others = append(others, id+1)
		}
		c.Cut(others, []uint64{n})
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
	}
}

// drifting has clocks that are fast and slow, and one that jumps.
func drifting(c *ringleadertest.Cluster) {
	c.Host(1).Clock.Run(0.98)
	c.Host(2).Clock.Run(1.02)
	c.Pass(5 * time.Second)
	c.Kill(3)
	c.Await(2)
	c.Host(2).Clock.Suspend(time.Second)
	c.Start(3)
	c.Pass(5 * time.Second)
}

func TestEachChangeOfARecordIsMadeAgain(t *testing.T) {
	for name, directory := range map[string]string{
		"a transfer and a death":     incidenttest.Records(t, ""),
		"three members, many faults": recorded(t, 3, eventful(3)),
		"five members, many faults":  recorded(t, 5, eventful(5)),
		"clocks that drift and jump": recorded(t, 3, drifting),
		"a group with another name":  incidenttest.Records(t, "shards"),
	} {
		t.Run(name, func(t *testing.T) {
			records, err := record.Open(directory)
			if err != nil {
				t.Fatal(err)
			}
			for _, g := range explain.Of(records).Groups {
				for i, c := range g.Changes {
					r, err := rerun.Of(g, i, quorumbully.Program)
					if err != nil {
						t.Errorf("change %d, %s: %v", i+1, c.Cause, err)
						continue
					}
					t.Logf("change %d, %s: %d steps, %d events", i+1, c.Cause, r.Steps, len(r.Choices))
				}
			}
		})
	}
}
