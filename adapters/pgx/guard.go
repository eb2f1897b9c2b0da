package fencepgx

import (
	"context"
	"time"

	"github.com/jackc/pgx/v5"

	"ringleader.example/ringleader/adapters/internal/postgres"
)

// DB begins transactions: a *pgxpool.Pool, or a *pgx.Conn, which one goroutine uses at a time.
type DB interface {
	BeginTx(context.Context, pgx.TxOptions) (pgx.Tx, error)
}

// Guard admits writes to a resource in terms that do not decrease. Its methods may be called at any time, by any goroutine and process, as far
// as its DB allows it.
type Guard struct {
	DB DB

	// Resource is the name of what is written. All leaders that write to it use the same.
	Resource string

	// Idle is how long a transaction may do nothing between two statements before the server ends its session, in whole milliseconds: so
	// long a successor waits for a leader that is paused in it. The default is 5 s, and the most 24 days.
	Idle time.Duration
}

// readCommitted sees, after a wait for another leader, what that has committed.
var readCommitted = pgx.TxOptions{IsoLevel: pgx.ReadCommitted, AccessMode: pgx.ReadWrite}

// Create makes the table ringleader_fence in the current schema, if it is not there. Any number of processes may call it at the same time.
func (g *Guard) Create(ctx context.Context) error {
	return postgres.Made(pgx.BeginTxFunc(ctx, g.DB, readCommitted, func(tx pgx.Tx) error {
		_, err := tx.Exec(ctx, postgres.Create)
		return err
	}))
}

// Do runs a write of the leader of a term in a transaction, and commits it. If a higher term has written, the write does not run, and the
// error is fence.ErrStale. An error of the write undoes the transaction, and is returned; then the term is not kept either.
//
// The transaction is READ COMMITTED: what is read after a wait for another leader is what that has committed. If the server ends it with a
// deadlock or another disturbance, the write runs again, so all that it does should be in the transaction. After an error of the commit
// itself, such as a broken connection, it may have taken place.
func (g *Guard) Do(ctx context.Context, term uint64, write func(context.Context, pgx.Tx) error) error {
	return postgres.Again(ctx, func() error {
		return pgx.BeginTxFunc(ctx, g.DB, readCommitted, func(tx pgx.Tx) error {
			if err := g.Admit(ctx, tx, term); err != nil {
				return err
			}
			return write(ctx, tx)
		})
	})
}

// Admit is for a transaction of your own: call it first, and undo the transaction if it fails. The error is fence.ErrStale if a higher
// term has written. The resource is locked until the end of the transaction. Above the level READ COMMITTED, a wait for
// another leader ends with the error serialization_failure, and the transaction has to run again.
func (g *Guard) Admit(ctx context.Context, tx pgx.Tx, term uint64) error {
	return postgres.Admit(ctx, ask(tx), g.Resource, term, g.Idle)
}

// Highest returns the highest term that has written; 0: none has.
func (g *Guard) Highest(ctx context.Context) (term uint64, err error) {
	err = pgx.BeginTxFunc(ctx, g.DB, readCommitted, func(tx pgx.Tx) (err error) {
		term, err = postgres.Highest(ctx, ask(tx), g.Resource)
		return err
	})
	return term, err
}

// ask takes a transaction as a query.
func ask(tx pgx.Tx) postgres.Query {
	return func(ctx context.Context, statement string, arguments ...any) postgres.Row {
		return tx.QueryRow(ctx, statement, arguments...)
	}
}
