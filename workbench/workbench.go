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
	"errors"
	"fmt"
	"regexp"

	"ringleader.example/ringleader/catalogue"
	"ringleader.example/ringleader/catalogue/all"
	"ringleader.example/ringleader/election"
	"ringleader.example/ringleader/simulate"
)

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
