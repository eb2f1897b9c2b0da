// Package catalogue joins algorithms to the engines, so that a tool can use every algorithm in the same way. Package
// catalogue/all has the algorithms of Ringleader; this package knows none.
//
// This package is v0: its API may change with any version.
package catalogue

import (
	"errors"
	"fmt"
	"slices"
	"strings"

	"ringleader.example/ringleader/count"
	"ringleader.example/ringleader/election"
	"ringleader.example/ringleader/internal/core/process"
	"ringleader.example/ringleader/network"
	"ringleader.example/ringleader/program"
	"ringleader.example/ringleader/simulate"
	"ringleader.example/ringleader/trace"
	"ringleader.example/ringleader/verify"
)

// Entry is an algorithm, joined to the engines.
type Entry struct {
	*election.Declaration
	Program  program.Program
	Simulate func(simulate.Options) (*simulate.Result, error)   // [simulate.Run]
	Symmetry func(simulate.Options) (*simulate.Symmetry, error) // [simulate.Symmetric]
	Session  func(simulate.Options) (*simulate.Session, error)  // [simulate.NewSession]
	Verify   func(verify.Options) (*verify.Report, error)       // [verify.Run]
	Count    count.Func                                         // nil without a closed form
	Ranges   count.Ranged                                       // the same by ranges of positions; nil if it cannot be counted so
	Check    Check                                              // nil without statements about every run
	Aliases  []string                                           // other accepted names
	Family   string                                             // the common name of the algorithm's forms on several networks; empty if it has one form

	// Listing returns the lines of its Go files, for reading beside a run, and the number there of a line of a file; see
	// [simulate.Options]. Nil, or without lines: they are not at hand.
	Listing func() (lines []string, number func(file string, line int) int)
	list    List
}

// Check judges the record of a run by what the source of its algorithm states about every run.
type Check func(*trace.Record, *network.Instance) ([]Claim, error)

// Claim is a statement of a source about every run, judged on one.
type Claim struct {
	Source   string // where it is stated
	Text     string // the statement
	Holds    bool   // in this run
	Count    int    // the number of cases, or the largest amount
	Measured string // the measured values, or the first failure
}

// Of joins a runner to the other engines. exact is the closed form of its algorithm, or nil.
func Of(runner *simulate.Runner, exact count.Func) Entry {
	p := runner.Program()
	return Entry{
		Declaration: p.Declared(), Program: p, Count: exact,
		Simulate: runner.Run, Symmetry: runner.Symmetric, Session: runner.Session,
		Verify: func(o verify.Options) (*verify.Report, error) { return verify.Program(p, o) },
	}
}

// Detects reports whether it has a failure detector.
func (e *Entry) Detects() bool { return e.functions().Suspect }

// Phased reports whether its election messages belong to phases.
func (e *Entry) Phased() bool { return e.functions().Phase }

// Commanded reports whether a host can command its processes.
func (e *Entry) Commanded() bool { return e.functions().Command }

func (e *Entry) functions() election.Functions { return process.Opened(e.Program).Functions }

// List is a list of algorithms, which a tool finds by name.
type List []*Entry

// New returns a list of entries, each of which then knows its list. Names must differ.
func New(entries ...Entry) List {
	list := make(List, len(entries))
	for i := range entries {
		list[i] = &entries[i]
	}
	for _, e := range list {
		e.list = list
	}
	return list
}

// mostChecked is the number of processes from which on the steps of a user's own algorithms are not checked.
const mostChecked = 1 << 8

// Before returns a list with a user's own entries before those of the list. Simulations of own entries with fewer
// than 256 processes check each step. The error wraps [ErrName] if two entries have the same name.
func (l List) Before(own ...Entry) (List, error) {
	taken := map[string]bool{}
	for _, e := range l {
		taken[e.Name] = true
	}
	for i := range own {
		if taken[own[i].Name] {
			return nil, fmt.Errorf("%w %q; give one of the two another name", ErrName, own[i].Name)
		}
		taken[own[i].Name] = true
	}
	all := slices.Clone(own)
	for i := range all {
		simulated := all[i].Simulate
		all[i].Simulate = func(o simulate.Options) (*simulate.Result, error) {
			o.Check = o.Check || o.Setup.IDs != nil && o.Setup.IDs.Len() < mostChecked
			return simulated(o)
		}
	}
	for _, e := range l {
		all = append(all, *e)
	}
	return New(all...), nil
}

// List returns the list that an entry belongs to.
func (e *Entry) List() List { return e.list }

// Forms returns the names of the forms of the algorithm on all networks, including its own, or nil if it has one
// form.
func (e *Entry) Forms() []string {
	if e.Family == "" {
		return nil
	}
	return e.list.Where(func(other *Entry) bool { return other.Family == e.Family })
}

// On returns the form of an algorithm for a topology if the family has the algorithm's name, and otherwise the
// algorithm.
func (e *Entry) On(topology election.Topology) *Entry {
	if e.Family == e.Name {
		for _, form := range e.list {
			if form.Family == e.Family && form.Topology == topology {
				return form
			}
		}
	}
	return e
}

// ErrUnknown reports that no algorithm has that name. The text of the error lists the names.
var ErrUnknown = errors.New("unknown algorithm")

// ErrName reports that two algorithms have the same name.
var ErrName = errors.New("two algorithms are called")

// Names returns the names of all algorithms, in order.
func (l List) Names() []string { return l.Where(func(*Entry) bool { return true }) }

// Where returns the names of the algorithms for which a condition holds, in order.
func (l List) Where(condition func(*Entry) bool) (names []string) {
	for _, e := range l {
		if condition(e) {
			names = append(names, e.Name)
		}
	}
	return names
}

// Also returns the entry with other accepted names.
func (e Entry) Also(aliases ...string) Entry {
	e.Aliases = aliases
	return e
}

// called reports whether a name is one of the algorithm's names, ignoring case.
func (e *Entry) called(name string) bool {
	return strings.EqualFold(e.Name, name) || slices.ContainsFunc(e.Aliases, func(alias string) bool { return strings.EqualFold(alias, name) })
}

// Find returns the algorithm with that name or alias, ignoring case.
func (l List) Find(name string) (*Entry, error) {
	i := slices.IndexFunc(l, func(e *Entry) bool { return e.called(name) })
	if i < 0 {
		return nil, fmt.Errorf("%w %q; choose one of %s", ErrUnknown, name, strings.Join(l.Names(), ", "))
	}
	return l[i], nil
}

// Program returns the algorithm of that name, for engines on sockets.
func (l List) Program(name string) (program.Program, error) {
	e, err := l.Find(name)
	if err != nil {
		return nil, err
	}
	return e.Program, nil
}
