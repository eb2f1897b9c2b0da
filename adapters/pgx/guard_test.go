package fencepgx_test

import (
	"context"
	"errors"
	"testing"
	"time"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgconn"
	"github.com/jackc/pgx/v5/pgxpool"

	fencepgx "ringleader.example/ringleader/adapters/pgx"

	"ringleader.example/ringleader/adapters/internal/postgrestest"
	"ringleader.example/ringleader/fence"
)

func TestAGuardOfPgx(t *testing.T) {
	address := postgrestest.Start(t)
	pool, err := pgxpool.New(t.Context(), address+" pool_max_conns=8")
	if err != nil {
		t.Fatal(err)
	}
	defer pool.Close()
	terms := func() []uint64 {
		rows, err := pool.Query(t.Context(), "SELECT term FROM writes ORDER BY id")
		if err != nil {
			t.Fatal(err)
		}
		terms, err := pgx.CollectRows(rows, pgx.RowTo[uint64])
		if err != nil {
			t.Fatal(err)
		}
		return terms
	}
	postgrestest.TestGuard(t, func(resource string, idle time.Duration) postgrestest.Guard {
		g := &fencepgx.Guard{DB: pool, Resource: resource, Idle: idle}
		return postgrestest.Guard{Create: g.Create, Highest: g.Highest, Do: func(ctx context.Context, term uint64, write func(context.Context, postgrestest.Exec) error) error {
			return g.Do(ctx, term, func(ctx context.Context, tx pgx.Tx) error {
				return write(ctx, func(ctx context.Context, statement string, arguments ...any) error {
					_, err := tx.Exec(ctx, statement, arguments...)
					return err
				})
			})
		}}
	}, terms)
	t.Run("a connection, and a transaction of one's own", func(t *testing.T) { testConnection(t, address) })
}

func testConnection(t *testing.T, address string) {
	connect := func() *pgx.Conn {
		c, err := pgx.Connect(t.Context(), address)
		if err != nil {
			t.Fatal(err)
		}
		t.Cleanup(func() { c.Close(context.Background()) })
		return c
	}
	c := connect()
	g, other := fencepgx.Guard{DB: c, Resource: "connection"}, fencepgx.Guard{DB: connect(), Resource: "connection"}
	nothing := func(context.Context, pgx.Tx) error { return nil }
	if err := g.Do(t.Context(), 4, nothing); err != nil {
		t.Fatal(err)
	}
	tx, err := c.BeginTx(t.Context(), pgx.TxOptions{IsoLevel: pgx.Serializable})
	if err != nil {
		t.Fatal(err)
	}
	if _, err := tx.Exec(t.Context(), "SELECT 1 FROM writes"); err != nil { // takes the snapshot
		t.Fatal(err)
	}
	if err := other.Do(t.Context(), 5, nothing); err != nil {
		t.Fatal(err)
	}
	var server *pgconn.PgError
	if err := g.Admit(t.Context(), tx, 4); !errors.As(err, &server) || server.Code != "40001" {
		t.Errorf("in a snapshot from before the other leader's write: %v", err)
	}
	if err := tx.Rollback(t.Context()); err != nil {
		t.Error(err)
	}
	if err := g.Do(t.Context(), 4, nothing); !errors.Is(err, fence.ErrStale) {
		t.Error(err)
	}
}
