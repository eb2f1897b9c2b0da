package fencesql_test

import (
	"bufio"
	"context"
	"database/sql"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"strings"
	"testing"
	"time"

	_ "github.com/jackc/pgx/v5/stdlib"

	fencesql "ringleader.example/ringleader/adapters/sql"

	"ringleader.example/ringleader/adapters/internal/postgrestest"
	"ringleader.example/ringleader/fence"
)

// child is the variable with the database of a leader that a test starts as a process.
const child = "FENCESQL_TEST_DATABASE"

func TestMain(m *testing.M) {
	if address := os.Getenv(child); address != "" {
		if err := lead(address); err != nil {
			fmt.Println("refused:", err)
		}
		return
	}
	os.Exit(m.Run())
}

// lead is the leader of term 1. It says when it has checked its term, and writes when it is told to.
func lead(address string) error {
	db, err := sql.Open("pgx", address)
	if err != nil {
		return err
	}
	defer db.Close()
	g := fencesql.Guard{DB: db, Resource: "process", Idle: 300 * time.Millisecond}
	return g.Do(context.Background(), 1, func(ctx context.Context, tx *sql.Tx) error {
		fmt.Println("checked")
		if _, err := bufio.NewReader(os.Stdin).ReadString('\n'); err != nil {
			return err
		}
		_, err := tx.ExecContext(ctx, "INSERT INTO writes (term, resource) VALUES (1, 'process')")
		return err
	})
}

func TestAGuardOfDatabaseSQL(t *testing.T) {
	address := postgrestest.Start(t)
	db, err := sql.Open("pgx", address)
	if err != nil {
		t.Fatal(err)
	}
	defer db.Close()
	terms := func() (terms []uint64) {
		rows, err := db.QueryContext(t.Context(), "SELECT term FROM writes ORDER BY id")
		if err != nil {
			t.Fatal(err)
		}
		defer rows.Close()
		for rows.Next() {
			var term uint64
			if err := rows.Scan(&term); err != nil {
				t.Fatal(err)
			}
			terms = append(terms, term)
		}
		if err := rows.Err(); err != nil {
			t.Fatal(err)
		}
		return terms
	}
	postgrestest.TestGuard(t, func(resource string, idle time.Duration) postgrestest.Guard {
		g := &fencesql.Guard{DB: db, Resource: resource, Idle: idle}
		return postgrestest.Guard{Create: g.Create, Highest: g.Highest, Do: func(ctx context.Context, term uint64, write func(context.Context, postgrestest.Exec) error) error {
			return g.Do(ctx, term, func(ctx context.Context, tx *sql.Tx) error {
				return write(ctx, func(ctx context.Context, statement string, arguments ...any) error {
					_, err := tx.ExecContext(ctx, statement, arguments...)
					return err
				})
			})
		}}
	}, terms)
	t.Run("a transaction with a snapshot", func(t *testing.T) { testSnapshot(t, db) })
	t.Run("a process that is stopped between check and write", func(t *testing.T) {
		before := len(terms())
		testStopped(t, address, db)
		if written := terms()[before:]; len(written) != 1 || written[0] != 2 {
			t.Errorf("written: %d", written)
		}
	})
}

// A transaction that began before a later leader has written is not admitted by what it saw then.
func testSnapshot(t *testing.T, db *sql.DB) {
	g := fencesql.Guard{DB: db, Resource: "snapshot", Idle: time.Minute}
	nothing := func(context.Context, *sql.Tx) error { return nil }
	if err := g.Do(t.Context(), 1, nothing); err != nil {
		t.Fatal(err)
	}
	for _, level := range []sql.IsolationLevel{sql.LevelRepeatableRead, sql.LevelSerializable} {
		tx, err := db.BeginTx(t.Context(), &sql.TxOptions{Isolation: level})
		if err != nil {
			t.Fatal(err)
		}
		var rows int
		if err := tx.QueryRow("SELECT count(*) FROM writes").Scan(&rows); err != nil { // takes the snapshot
			t.Fatal(err)
		}
		if err := g.Do(t.Context(), 2, nothing); err != nil {
			t.Fatal(err)
		}
		var server interface{ SQLState() string }
		if err := g.Admit(t.Context(), tx, 1); !errors.As(err, &server) || server.SQLState() != "40001" {
			t.Errorf("%s: %v", level, err)
		}
		if err := tx.Rollback(); err != nil {
			t.Error(err)
		}
	}
}

func testStopped(t *testing.T, address string, db *sql.DB) {
	leader := exec.CommandContext(t.Context(), os.Args[0])
	leader.Env = append(os.Environ(), child+"="+address)
	in, err := leader.StdinPipe()
	if err != nil {
		t.Fatal(err)
	}
	out, err := leader.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := leader.Start(); err != nil {
		t.Fatal(err)
	}
	said := bufio.NewReader(out)
	if line, err := said.ReadString('\n'); err != nil || line != "checked\n" {
		t.Fatalf("%q, %v", line, err)
	}
	stop(t, leader.Process)
	ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
	defer cancel()
	g := fencesql.Guard{DB: db, Resource: "process", Idle: time.Minute}
	err = g.Do(ctx, 2, func(ctx context.Context, tx *sql.Tx) error {
		_, err := tx.ExecContext(ctx, "INSERT INTO writes (term, resource) VALUES (2, 'process')")
		return err
	})
	if err != nil {
		t.Errorf("the successor: %v", err)
	}
	proceed(t, leader.Process)
	fmt.Fprintln(in)
	if line, err := said.ReadString('\n'); err != nil || !strings.HasPrefix(line, "refused:") {
		t.Errorf("the late write: %q, %v", line, err)
	}
	if err := leader.Wait(); err != nil {
		t.Error(err)
	}
	if err := g.Do(ctx, 1, nil); !errors.Is(err, fence.ErrStale) {
		t.Errorf("its next write: %v", err)
	}
}
