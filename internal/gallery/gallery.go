// Package gallery holds elections that are broken on purpose: an algorithm outside its assumptions, or with a rule changed. Each
// names the assumption or the rule, and the property that the checker must find violated.
package gallery

import (
	"iter"

	"ringleader.example/ringleader/election"
	"ringleader.example/ringleader/internal/process"
	"ringleader.example/ringleader/network"
	"ringleader.example/ringleader/verify"
)

// Exhibit is a broken election.
type Exhibit struct {
	Name     string // one word, for the command line
	Broken   string // the assumption or rule that does not hold
	Property string // what the checker finds
	Command  string // the arguments of ringleader verify that show the same; empty if a rule is changed
	Program  *process.Program
	Options  verify.Options
}

// Outcome is what the checker found about an exhibit.
type Outcome struct {
	*Exhibit
	*verify.Report
}

// Caught reports whether the checker found the property that the exhibit violates.
func (o *Outcome) Caught() bool { return o.Violation != nil && o.Violation.Property == o.Property }

// Verify checks exhibits one after the other.
func Verify(exhibits []Exhibit) iter.Seq2[Outcome, error] {
	return func(yield func(Outcome, error) bool) {
		for i := range exhibits {
			e := &exhibits[i]
			r, err := verify.Program(e.Program, e.Options)
			if !yield(Outcome{e, r}, err) {
				return
			}
		}
	}
}

// exhibit adds the program of an algorithm.
func exhibit[S, M any](a election.Algorithm[S, M], e Exhibit) Exhibit {
	e.Program = process.Must(process.Of(&a))
	return e
}

// with returns the options for every order of so many identifiers, with parameters: names and values in turn.
func with(size int, parameters ...string) verify.Options {
	o := verify.Options{Size: size, Instance: network.Setup{Parameters: map[string]string{}}}
	for i := 0; i < len(parameters); i += 2 {
		o.Instance.Parameters[parameters[i]] = parameters[i+1]
	}
	return o
}

// All returns the exhibits, those of one-directional rings first.
func All() []Exhibit {
	var all []Exhibit
	for _, part := range [][]Exhibit{rings(), failures(), leases()} {
		all = append(all, part...)
	}
	return all
}
