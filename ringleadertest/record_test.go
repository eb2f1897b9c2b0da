package ringleadertest_test

import (
	"path/filepath"
	"strconv"
	"testing"

	"ringleader.example/ringleader/internal/serve/live/quorumbully"
	"ringleader.example/ringleader/internal/serve/record"
)

// replays checks that the records of members replay bit by bit.
func replays(t *testing.T, directory string, ids []uint64) {
	for _, id := range ids {
		records, err := record.Open(filepath.Join(directory, strconv.FormatUint(id, 10)))
		if err != nil || len(records.Logs) != 1 || len(records.Damages) > 0 {
			t.Errorf("member %d: %+v, %v", id, records, err)
			continue
		}
		done, err := records.Logs[0].Again(quorumbully.Program)
		if err != nil {
			t.Errorf("member %d: %v", id, err)
		}
		if done.Steps == 0 || done.Checks == 0 || done.Skipped > 0 || len(done.Damages) > 0 {
			t.Errorf("member %d: %+v", id, done)
		}
		t.Logf("member %d: %+v", id, done)
	}
}
