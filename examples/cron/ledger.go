package main

import (
	"context"
	"errors"
	"fmt"
	"time"

	"ringleader.example/ringleader/examples/internal/sqlite"
)

// The states of a run.
const (
	first     = "first"     // no run: the time at which the schedule of a new job begins
	running   = "running"   // it has begun
	done      = "done"      // its command has ended well
	failed    = "failed"    // its command has ended with an error
	abandoned = "abandoned" // its leader was replaced, and it may have been cut short
	skipped   = "skipped"   // it was too late to begin
)

// errReplaced refuses what a leader records after another one has taken over.
var errReplaced = errors.New("a leader of a later term has taken over")

// ledger has a row for each due time of each job, and the term of the last leader. All processes use the same database.
// Here it is a file of one machine; for several machines it is a database server, with the same statements.
type ledger struct {
	sqlite.Database
	term uint64 // of the leader that uses it
}

// open makes the tables if they do not exist, and takes the ledger over from the leaders before.
func open(ctx context.Context, db sqlite.Database, term uint64) (*ledger, error) {
	took, err := db.Run(ctx, fmt.Sprintf(`
		CREATE TABLE IF NOT EXISTS leader (one INTEGER PRIMARY KEY, term INTEGER);
		INSERT OR IGNORE INTO leader VALUES (1, 0);
		CREATE TABLE IF NOT EXISTS runs (job TEXT, due INTEGER, state TEXT, term INTEGER, PRIMARY KEY (job, due));
		UPDATE leader SET term = %d WHERE term <= %[1]d;
		SELECT changes()`, term))
	if err == nil && took == "0" {
		err = errReplaced
	}
	return &ledger{db, term}, err
}

// record gives a run a state. One statement compares the term and writes: between two, another leader could take over.
func (l *ledger) record(ctx context.Context, job string, due time.Time, state string) error {
	wrote, err := l.Run(ctx, fmt.Sprintf(`
		INSERT INTO runs SELECT %s, %d, %s, term FROM leader WHERE term = %d
		ON CONFLICT DO UPDATE SET state = excluded.state, term = excluded.term;
		SELECT changes()`, sqlite.Quoted(job), due.Unix(), sqlite.Quoted(state), l.term))
	if err == nil && wrote == "0" {
		err = errReplaced
	}
	return err
}

// last returns the latest run of a job, the zero time if there is none.
func (l *ledger) last(ctx context.Context, job string) (due time.Time, state string, err error) {
	row, err := l.Run(ctx, "SELECT due || ' ' || state FROM runs WHERE job = "+sqlite.Quoted(job)+" ORDER BY due DESC LIMIT 1")
	if err != nil || row == "" {
		return time.Time{}, "", err
	}
	var seconds int64
	_, err = fmt.Sscan(row, &seconds, &state)
	return time.Unix(seconds, 0).UTC(), state, err
}
