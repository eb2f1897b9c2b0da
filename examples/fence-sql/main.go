// Fence-sql shows the late write of a leader that was replaced, in a row of a database: once unfenced, which loses the newer
// write, and once fenced, which changes no row.
//
// It talks to SQLite by the command sqlite3, so that this module needs no driver. The statements are those of any database.
package main

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"log"
	"os"
	"path/filepath"

	"ringleader.example/ringleader/examples/internal/sqlite"
	"ringleader.example/ringleader/examples/internal/start"
)

func main() {
	log.SetFlags(0)
	command := flag.String("sqlite3", "sqlite3", "`path` of the command sqlite3")
	start.Flags("Shows that a write of a replaced leader can arrive late, and how a row of a database is fenced against it.")
	if err := run(*command); err != nil {
		log.Fatal(err)
	}
}

var errStale = errors.New("a leader of a later term has written already")

func run(command string) error {
	directory, err := os.MkdirTemp("", "fence-sql")
	if err != nil {
		return err
	}
	defer os.RemoveAll(directory)
	db := sqlite.Database{Command: command, File: filepath.Join(directory, "jobs.db")}
	if _, err := db.Run(context.Background(), "CREATE TABLE jobs (id INTEGER PRIMARY KEY, state TEXT, term INTEGER); INSERT INTO jobs VALUES (1, '', 0), (2, '', 0)"); err != nil {
		return err
	}

	fmt.Println("without a fence")
	err = start.LateWrite(func(_ uint64, text string) error {
		_, err := db.Run(context.Background(), "UPDATE jobs SET state = "+sqlite.Quoted(text)+" WHERE id = 1")
		return err
	})
	if err != nil {
		return err
	}
	state, err := db.Run(context.Background(), "SELECT state FROM jobs WHERE id = 1")
	if err != nil {
		return err
	}
	fmt.Printf("the row has: %s. The newer write is lost.\n\nwith a fence\n", state)

	late := start.LateWrite(func(term uint64, text string) error { return fenced(db, term, text) })
	if !errors.Is(late, errStale) {
		return fmt.Errorf("the late write was not refused: %w", late)
	}
	state, err = db.Run(context.Background(), "SELECT state FROM jobs WHERE id = 2")
	fmt.Printf("refused: %v\nthe row has: %s\n", late, state)
	return err
}

// fenced writes for the leader of a term. One statement compares the term, and stores it with the state: between two
// statements another leader could write.
func fenced(db sqlite.Database, term uint64, text string) error {
	changed, err := db.Run(context.Background(), fmt.Sprintf("UPDATE jobs SET state = %s, term = %d WHERE id = 2 AND term <= %[2]d; SELECT changes()", sqlite.Quoted(text), term))
	if err == nil && changed == "0" {
		err = errStale
	}
	return err
}
