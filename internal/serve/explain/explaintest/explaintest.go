// Package explaintest makes incidents whose records tests explain, draw, play and make again.
package explaintest

import (
	"testing"
	"testing/synctest"
	"time"

	"ringleader.example/ringleader"
	"ringleader.example/ringleader/ringleadertest"
)

// Recorded returns the directory with the records of the members 1 to n of a group, to which something happens once n leads.
func Recorded(t *testing.T, group string, n uint64, happens func(c *ringleadertest.Cluster)) (directory string) {
	t.Helper()
	return Unstarted(t, group, n, func(c *ringleadertest.Cluster) {
		c.Start(First(n)...)
		c.Await(n)
		happens(c)
	})
}

// Unstarted is Recorded of members that have not started.
func Unstarted(t *testing.T, group string, n uint64, happens func(c *ringleadertest.Cluster)) (directory string) {
	t.Helper()
	directory = t.TempDir()
	synctest.Test(t, func(t *testing.T) {
		c := ringleadertest.New(t, ringleader.Config{Group: group, Record: ringleader.Record{Directory: directory}}, First(n)...)
		defer c.Close()
		happens(c)
	})
	return directory
}

// First returns the identifiers 1 to n.
func First(n uint64) (ids []uint64) {
	for id := range n {
		ids = append(ids, id+1)
	}
	return ids
}

// Records returns the records of three members of a group: member 3 hands over to member 1, which is killed.
func Records(t *testing.T, group string) (directory string) {
	t.Helper()
	return Recorded(t, group, 3, func(c *ringleadertest.Cluster) {
		if err := c.Member(3).Transfer(1); err != nil {
			t.Fatal(err)
		}
		c.Await(1)
		c.Kill(1)
		c.Await(3)
	})
}

// Eventful returns what happens to the members 1 to n of a group: a cut, a death with a proof, a restart, and a process that is stopped and continued. It
// calls killed between the death and the proof.
func Eventful(n uint64, killed func(id uint64)) func(c *ringleadertest.Cluster) {
	return func(c *ringleadertest.Cluster) {
		c.Cut(First(n-1), []uint64{n})
		c.Await(n - 1)
		c.Heal()
		c.Await(n - 1)
		c.Kill(n - 1)
		killed(n - 1)
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

// Faulty returns the records of a group with many faults.
func Faulty(t *testing.T, n uint64) (directory string) {
	t.Helper()
	return Recorded(t, "", n, Eventful(n, func(uint64) {}))
}
