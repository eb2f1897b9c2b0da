package main

import (
	"errors"
	"path/filepath"
	"testing"
	"time"

	"ringleader.example/ringleader/examples/internal/sqlite"
	"ringleader.example/ringleader/internal/core/needs"
)

func TestALeaderThatWasReplacedRecordsNothing(t *testing.T) {
	needs.Program(t, "sqlite3", "sqlite3")
	db := sqlite.Database{Command: "sqlite3", File: filepath.Join(t.TempDir(), "runs.db")}
	due := time.Unix(1000, 0).UTC()
	old, err := open(t.Context(), db, 3)
	if err == nil {
		err = old.record(t.Context(), "it's a job", due, running)
	}
	if err != nil {
		t.Fatal(err)
	}
	next, err := open(t.Context(), db, 5)
	if err == nil {
		err = next.record(t.Context(), "it's a job", due, abandoned)
	}
	if err != nil {
		t.Fatal(err)
	}
	if err := old.record(t.Context(), "it's a job", due, done); !errors.Is(err, errReplaced) {
		t.Errorf("term 3 records in term 5: %v", err)
	}
	if err := old.record(t.Context(), "it's a job", due.Add(time.Minute), running); !errors.Is(err, errReplaced) {
		t.Errorf("term 3 begins a run in term 5: %v", err)
	}
	if _, err := open(t.Context(), db, 4); !errors.Is(err, errReplaced) {
		t.Errorf("term 4 takes over from term 5: %v", err)
	}
	if last, state, err := next.last(t.Context(), "it's a job"); !last.Equal(due) || state != abandoned || err != nil {
		t.Errorf("the last run is that of %v, and %s (%v)", last, state, err)
	}
	if _, state, err := next.last(t.Context(), "another job"); state != "" || err != nil {
		t.Errorf("a new job has run: %q, %v", state, err)
	}
}
