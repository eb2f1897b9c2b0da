package fencepgx_test

import (
	"context"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgxpool"

	"ringleader.example/ringleader"
	fencepgx "ringleader.example/ringleader/adapters/pgx"
)

// Work of a leader writes with its term. If another leader has written since, nothing is changed, and the error is fence.ErrStale.
func ExampleGuard() {
	work := func(member *ringleader.Member, pool *pgxpool.Pool) func(context.Context, ringleader.Leadership) error {
		jobs := fencepgx.Guard{DB: pool, Resource: "jobs"}
		return func(ctx context.Context, l ringleader.Leadership) error {
			if err := jobs.Create(ctx); err != nil {
				return err
			}
			return jobs.Do(ctx, l.Term(), func(ctx context.Context, tx pgx.Tx) error {
				_, err := tx.Exec(ctx, "UPDATE jobs SET state = $1 WHERE id = $2", "done", 7)
				return err
			})
		}
	}
	_ = work
}
