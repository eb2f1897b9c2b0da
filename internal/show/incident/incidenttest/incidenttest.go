// Package incidenttest makes an incident whose records tests explain, draw and play.
package incidenttest

import (
	"testing"
	"testing/synctest"

	"ringleader.example/ringleader"
	"ringleader.example/ringleader/ringleadertest"
)

// Records returns a directory with the records of three members of a group: member 3 hands over to member 1, which is killed.
func Records(t *testing.T, group string) (directory string) {
	t.Helper()
	directory = t.TempDir()
	synctest.Test(t, func(t *testing.T) {
		c := ringleadertest.New(t, ringleader.Config{Group: group, Record: ringleader.Record{Directory: directory}}, 1, 2, 3)
		defer c.Close()
		c.Start(1, 2, 3)
		c.Await(3)
		if err := c.Member(3).Transfer(1); err != nil {
			t.Fatal(err)
		}
		c.Await(1)
		c.Kill(1)
		c.Await(3)
	})
	return directory
}
