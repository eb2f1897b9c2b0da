// Package gallery holds elections that are broken on purpose: an algorithm outside its assumptions, or with a rule changed. Each
// names the assumption or the rule, and the property that must be found violated: by the search, by random walks, or in a simulated run.
package gallery

import (
	"iter"

	"ringleader.example/ringleader/election"
	"ringleader.example/ringleader/internal/core/process"
	"ringleader.example/ringleader/network"
	"ringleader.example/ringleader/simulate"
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
	Walks    int // random walks with seed 1 in place of the search, which takes too long; 0: the search

	// Runner makes one simulated run instead, for what a search or walks do not find in time; nil: the checker does it.
	Runner *simulate.Runner
	Run    simulate.Options
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
			r, err := exhibits[i].check()
			if !yield(Outcome{&exhibits[i], r}, err) {
				return
			}
		}
	}
}

// check searches for the violation: by a simulated run, by random walks, or under every schedule.
func (e *Exhibit) check() (*verify.Report, error) {
	switch {
	case e.Runner != nil:
		return e.simulate()
	case e.Walks > 0:
		return verify.Walks(e.Program, e.Options, e.Walks, 1)
	}
	return verify.Program(e.Program, e.Options)
}

// simulate makes the run up to the unit of time in which the simulator first complains.
func (e *Exhibit) simulate() (*verify.Report, error) {
	for until := uint64(1); ; until++ {
		o := e.Run
		o.Until, o.Record = election.Units(until), true
		r, err := e.Runner.Run(o)
		if err != nil {
			return nil, err
		}
		found := &verify.Report{States: len(r.Record.Steps), Walks: 1}
		if len(r.Faults) > 0 {
			found.Violation = &verify.Violation{Property: e.Property, Detail: r.Faults[0], Record: *r.Record}
			return found, nil
		}
		if o.Until == e.Run.Until {
			return found, nil
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
	o := verify.Options{Size: size, Setup: network.Setup{Parameters: map[string]string{}}}
	for i := 0; i < len(parameters); i += 2 {
		o.Setup.Parameters[parameters[i]] = parameters[i+1]
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
