package ringleadertest_test

import (
	"path/filepath"
	"strconv"
	"testing"

	"ringleader.example/ringleader/internal/serve/explain"
	"ringleader.example/ringleader/internal/serve/live/quorumbully"
	"ringleader.example/ringleader/internal/serve/record"
)

// replays checks that the records of members replay bit by bit.
func replays(t *testing.T, directory string, ids []uint64) {
	for _, id := range ids {
		records, err := record.Open(t.Context(), filepath.Join(directory, strconv.FormatUint(id, 10)))
		if err != nil || len(records.Logs) != 1 || len(records.Damages) > 0 {
			t.Errorf("member %d: %+v, %v", id, records, err)
			continue
		}
		done, err := records.Logs[0].Again(t.Context(), quorumbully.Program)
		if err != nil {
			t.Errorf("member %d: %v", id, err)
		}
		if done.Steps == 0 || done.Checks == 0 || done.Skipped > 0 || len(done.Damages) > 0 {
			t.Errorf("member %d: %+v", id, done)
		}
		t.Logf("member %d: %+v", id, done)
	}
}

// allowed checks that the records of all members are no run that the model of the algorithm forbids, though clocks drift. Of machines that were suspended for
// less than members notice, Check says that their clocks run apart.
func allowed(t *testing.T, directory string) {
	records, err := record.Open(t.Context(), directory)
	if err != nil {
		t.Fatal(err)
	}
	const most = 2000
	for _, g := range explain.Of(records).Groups {
		c := g.Check(most)
		if c.Broken != "" {
			t.Errorf("group %q: %s", g.Name, c.Broken)
		}
		t.Logf("group %q: %d steps, %v %s", g.Name, c.Steps, c.Actions, c.Without)
	}
}
