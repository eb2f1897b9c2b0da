package fencesql

import (
	"context"
	"database/sql"
	"time"

	"ringleader.example/ringleader/adapters/internal/postgres"
)

// Guard admits writes to a resource in terms that do not decrease. Its methods may be called at any time, by any goroutine and process.
type Guard struct {
	DB *sql.DB

	// Resource is the name of what is written. All leaders that write to it use the same.
	Resource string

	// Idle is how long a transaction may do nothing between two statements before the server ends its session, in whole milliseconds: so
	// long a successor waits for a leader that is paused in it. The default is 5 s, and the most 24 days.
	Idle time.Duration
}

// Create makes the table ringleader_fence in the current schema, if it is not there. Any number of processes may call it at the same time.
func (g *Guard) Create(ctx context.Context) error {
	_, err := g.DB.ExecContext(ctx, postgres.Create)
	return postgres.Made(err)
}

// Do runs a write of the leader of a term in a transaction, and commits it. If a higher term has written, the write does not run, and the
// error is fence.ErrStale. An error of the write undoes the transaction, and is returned; then the term is not kept either.
//
// The transaction is READ COMMITTED: what is read after a wait for another leader is what that has committed. If the server ends it with a
// deadlock or another disturbance, the write runs again, so all that it does should be in the transaction. After an error of the commit
// itself, such as a broken connection, it may have taken place.
func (g *Guard) Do(ctx context.Context, term uint64, write func(context.Context, *sql.Tx) error) error {
	return postgres.Again(ctx, func() error {
		tx, err := g.DB.BeginTx(ctx, &sql.TxOptions{Isolation: sql.LevelReadCommitted})
		if err != nil {
			return err
		}
		defer tx.Rollback() // after the commit it does nothing
		if err := g.Admit(ctx, tx, term); err != nil {
			return err
		}
		if err := write(ctx, tx); err != nil {
			return err
		}
		return tx.Commit()
	})
}

// Admit is for a transaction of your own: call it first, and undo the transaction if it fails. The error is fence.ErrStale if a higher
// term has written. The resource is locked until the end of the transaction. Above the level READ COMMITTED, a wait for
// another leader ends with the error serialization_failure, and the transaction has to run again.
func (g *Guard) Admit(ctx context.Context, tx *sql.Tx, term uint64) error {
	return postgres.Admit(ctx, ask(tx.QueryRowContext), g.Resource, term, g.Idle)
}

// Highest returns the highest term that has written; 0: none has.
func (g *Guard) Highest(ctx context.Context) (uint64, error) {
	return postgres.Highest(ctx, ask(g.DB.QueryRowContext), g.Resource)
}

// ask takes the method of a database or transaction as a query.
func ask(row func(context.Context, string, ...any) *sql.Row) postgres.Query {
	return func(ctx context.Context, statement string, arguments ...any) postgres.Row {
		return row(ctx, statement, arguments...)
	}
}
