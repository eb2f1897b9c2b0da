// Package workbench is the command ringleader with a user's own algorithms beside those of the catalogue. A program of
// ten lines runs, compares, verifies and draws them, prints JSON and completes their names in a shell:
//
//	package main
//
//	import "ringleader.example/ringleader/workbench"
//
//	func main() {
//		workbench.Main(workbench.Of(&Algorithm), workbench.Of(&Other))
//	}
//
// Package election, and step by step the first page of the course, explain how to write such an algorithm.
package workbench

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"os/signal"
	"path/filepath"
	"regexp"
	"strings"
	"syscall"

	"ringleader.example/ringleader/catalogue"
	"ringleader.example/ringleader/catalogue/all"
	"ringleader.example/ringleader/election"
	"ringleader.example/ringleader/internal/cli"
	"ringleader.example/ringleader/simulate"
)

// wrongCall is the exit status of a call that was wrong, as for every command.
const wrongCall = 2

// nameable matches valid names on a command line.
var nameable = regexp.MustCompile(`^[a-z0-9]+(-[a-z0-9]+)*$`)

// Entry is an algorithm that [Main] offers in every command. See [Of].
type Entry struct {
	entry catalogue.Entry
	err   error
}

// Of prepares an algorithm for [Main], which reports its errors. An algorithm without a Title is shown with its Name,
// and one without a Source as the user's own.
func Of[S, M any](a *election.Algorithm[S, M]) Entry {
	if a == nil {
		return Entry{err: errors.New("an algorithm is nil")}
	}
	if !nameable.MatchString(a.Name) {
		return Entry{err: fmt.Errorf("algorithm %q: the Name is what one types: lower-case letters and digits, with hyphens between them", a.Name)}
	}
	own := *a
	if own.Title == "" {
		own.Title = own.Name
	}
	if own.Source == "" {
		own.Source = "own algorithm"
	}
	runner, err := simulate.Of(&own)
	if err != nil {
		return Entry{err: err}
	}
	return Entry{entry: catalogue.Of(runner, nil)}
}

// Main is the command line: it reads the arguments, streams and environment of the program, knows the user's own
// algorithms and those of the catalogue, and ends the program with the exit status of the command. An interrupt ends the
// command cleanly, and a second one at once. Exit status 2 with one line on stderr reports an own algorithm that cannot
// be offered: its declaration or its types break the contract, or another algorithm has its name.
func Main(own ...Entry) {
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	context.AfterFunc(ctx, stop) // a second signal does not wait for a clean end
	code := run(ctx, own, os.Args, os.Stdin, os.Stdout, os.Stderr, os.Getenv)
	stop()
	os.Exit(code)
}

// run is [Main] with explicit arguments, streams and environment. Args begin with the program's name.
func run(ctx context.Context, own []Entry, args []string, stdin io.Reader, stdout, stderr io.Writer, getenv func(string) string) int {
	name := strings.TrimSuffix(filepath.Base(args[0]), ".exe")
	list, err := algorithms(own)
	if err != nil {
		fmt.Fprintf(stderr, "%s: %s\n", name, strings.ReplaceAll(err.Error(), "\n", "; "))
		return wrongCall
	}
	return cli.Run(ctx, name, list, args[1:], stdin, stdout, stderr, getenv)
}

// algorithms lists the user's own algorithms before those of the catalogue.
func algorithms(own []Entry) (catalogue.List, error) {
	entries := make([]catalogue.Entry, len(own))
	for i, e := range own {
		if e.err != nil {
			return nil, e.err
		}
		if entries[i] = e.entry; e.entry.Declaration == nil {
			return nil, errors.New("an entry is empty; workbench.Of makes one of an algorithm")
		}
	}
	return all.Algorithms.Before(entries...)
}
