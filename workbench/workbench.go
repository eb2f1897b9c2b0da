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
//
// This package is v0: its API may change with any version.
package workbench

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path"
	"path/filepath"
	"reflect"
	"regexp"
	"runtime"
	"strings"
	"sync"

	"ringleader.example/ringleader/algorithms"
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
	file  string // of the algorithm, as the compiler noted it
	err   error
}

// Of prepares an algorithm for [Main], which reports its errors. An algorithm without a Title is shown with its Name,
// and one without a Source as the user's own. The lab shows the source of its package beside a run, from where the program
// was compiled; [Entry.Listed] puts the source into the program.
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
	e := Entry{entry: catalogue.Of(runner, nil), file: fileOf(&own)}
	e.entry.Listing = beside(e.file)
	return e
}

// Listed returns the entry with the Go files of the algorithm's package, for the lab. It needs them if the program is built
// with -trimpath, runs where its source is not, or is exported for the browser:
//
//	//go:embed *.go
//	var files embed.FS
//
//	workbench.Of(&Algorithm).Listed(files)
func (e Entry) Listed(files fs.FS) Entry {
	first := path.Base(e.file)
	e.entry.Listing = sync.OnceValues(func() ([]string, func(string, int) int) { return algorithms.List(files, ".", first) })
	return e
}

// fileOf returns the file of a function of the algorithm, as the compiler noted it: a path without its beginning after -trimpath.
// The package is that of the state.
func fileOf[S, M any](a *election.Algorithm[S, M]) string {
	home := reflect.TypeFor[S]().PkgPath()
	for _, function := range []any{a.Receive, a.Start, a.New} {
		f := runtime.FuncForPC(reflect.ValueOf(function).Pointer())
		if file, _ := f.FileLine(f.Entry()); strings.HasPrefix(f.Name(), home+".") && strings.HasSuffix(file, ".go") {
			return file
		}
	}
	return ""
}

// beside returns the listing of a file's folder, without lines if the file is not on this machine.
func beside(file string) func() ([]string, func(string, int) int) {
	return sync.OnceValues(func() ([]string, func(string, int) int) {
		if !filepath.IsAbs(file) {
			return nil, nil
		}
		return algorithms.List(os.DirFS(filepath.Dir(file)), ".", filepath.Base(file))
	})
}

// list lists the user's own algorithms before those of the catalogue.
func list(own []Entry) (catalogue.List, error) {
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
