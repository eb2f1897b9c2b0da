// Package postgres keeps the highest term of a resource in a row of PostgreSQL, for the guards of database/sql and pgx.
package postgres

import (
	"context"
	"errors"
	"fmt"
	"math"
	"time"

	"ringleader.example/ringleader/fence"
)

// Create makes the table. Its row of a resource has the highest term that has written.
const Create = `CREATE TABLE IF NOT EXISTS ringleader_fence (resource text PRIMARY KEY, term bigint NOT NULL)`

const (
	// limit bounds what a leader that is paused in its transaction can do to its successor, which waits for the same row: the server ends
	// its session. A term that a crash of the server loses would admit a leader that was refused before.
	limit = `SELECT set_config('idle_in_transaction_session_timeout', $1, true),
		set_config('synchronous_commit', CASE current_setting('synchronous_commit') WHEN 'off' THEN 'on' ELSE current_setting('synchronous_commit') END, true)`

	// admit locks the row until the end of the transaction, and returns its term. A transaction that waits for the row compares what is
	// committed then; above the level READ COMMITTED, it fails and has to run again.
	admit = `INSERT INTO ringleader_fence AS fence (resource, term) VALUES ($1, $2)
		ON CONFLICT (resource) DO UPDATE SET term = greatest(fence.term, EXCLUDED.term) RETURNING term`

	highest = `SELECT coalesce(max(term), 0) FROM ringleader_fence WHERE resource = $1`
)

// Idle is how long a transaction may do nothing between two statements, if a guard does not say.
const Idle = 5 * time.Second

// Row is a row of a result.
type Row interface {
	Scan(into ...any) error
}

// Query asks for one row, in a transaction.
type Query func(ctx context.Context, statement string, arguments ...any) Row

// Admit compares a term with that of a resource, and keeps it, for the rest of a transaction. The error is [fence.ErrStale] if a
// higher term has written.
func Admit(ctx context.Context, query Query, resource string, term uint64, idle time.Duration) error {
	if term == 0 || term > math.MaxInt64 {
		return fmt.Errorf("term %d is none that a fence can keep", term)
	}
	if idle == 0 {
		idle = Idle
	}
	var text string
	milliseconds := min(max(1, idle.Milliseconds()), math.MaxInt32) // 0 would be no limit, and the server refuses more
	if err := query(ctx, limit, fmt.Sprint(milliseconds)).Scan(&text, &text); err != nil {
		return err
	}
	var stored uint64
	if err := query(ctx, admit, resource, int64(term)).Scan(&stored); err != nil {
		return err
	}
	if stored > term {
		return fmt.Errorf("%w: term %d, and this is term %d", fence.ErrStale, stored, term)
	}
	return nil
}

// Highest returns the highest term of a resource; 0: none has written.
func Highest(ctx context.Context, query Query, resource string) (term uint64, err error) {
	err = query(ctx, highest, resource).Scan(&term)
	return term, err
}

// attempts is how often a transaction runs that others have disturbed.
const attempts = 10

// Again runs a transaction. It retries a few times if the server has rolled it back because of a concurrent transaction.
func Again(ctx context.Context, run func() error) (err error) {
	for range attempts {
		if err = run(); err == nil || !disturbed(err) || ctx.Err() != nil {
			return err
		}
	}
	return err
}

// disturbed reports whether the server has rolled a transaction back because of a concurrent one: the error is serialization_failure or
// deadlock_detected, from any driver.
func disturbed(err error) bool {
	switch state(err) {
	case "40001", "40P01":
		return true
	}
	return false
}

// Made turns the error of [Create] into nil if another session has made the table at the same time.
func Made(err error) error {
	switch state(err) {
	case "23505", "42P07", "42710": // unique_violation, of a catalogue of the server; duplicate_table; duplicate_object, of its type
		return nil
	}
	return err
}

func state(err error) string {
	var server interface {
		error
		SQLState() string
	}
	if errors.As(err, &server) {
		return server.SQLState()
	}
	return ""
}
