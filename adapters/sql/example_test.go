package fencesql_test

import (
	"context"
	"database/sql"

	"ringleader.example/ringleader"
	fencesql "ringleader.example/ringleader/adapters/sql"
)

// Work of a leader writes with its term. If another leader has written since, nothing is changed, and the error is fence.ErrStale.
func ExampleGuard() {
	work := func(member *ringleader.Member, db *sql.DB) func(context.Context, ringleader.Leadership) error {
		jobs := fencesql.Guard{DB: db, Resource: "jobs"}
		return func(ctx context.Context, l ringleader.Leadership) error {
			if err := jobs.Create(ctx); err != nil {
				return err
			}
			return jobs.Do(ctx, l.Term(), func(ctx context.Context, tx *sql.Tx) error {
				_, err := tx.ExecContext(ctx, "UPDATE jobs SET state = $1 WHERE id = $2", "done", 7)
				return err
			})
		}
	}
	_ = work
}
