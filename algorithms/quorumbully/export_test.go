package quorumbully

import (
	"ringleader.example/ringleader/simulate"
	"ringleader.example/ringleader/verify"
)

// Mutant is a mutant of this package's tests, for tests outside of it.
type Mutant struct {
	Name   string
	Mutate func(*algorithm)
	Runs   func(seed uint64) simulate.Options // where the simulator finds it
	Check  func() verify.Options              // with which the checker finds it; nil: it does not, or in lazy time only
}

// Mutants returns the mutants of rules 1 to 8, those of rule 9, and those of lengths.
func Mutants() (all []Mutant) {
	for _, m := range mutants {
		more := Mutant{m.name, m.mutate, m.runs, nil}
		if m.runs == nil {
			more.Runs = harsh
		}
		if m.check != nil && !m.check.lazy {
			more.Check = m.check.few
		}
		all = append(all, more)
	}
	for _, m := range careless {
		more := Mutant{m.name, m.mutate, m.runs, nil}
		if m.runs == nil {
			more.Runs = changing
		}
		all = append(all, more)
	}
	for _, m := range twoLengths {
		all = append(all, Mutant{m.name, func(a *algorithm) { vary(a); m.mutate(a) }, varied, nil})
	}
	return all
}

// Harsh, Varied, Changing and Script are scripts of faults; Varied is for requests of different lengths.
var (
	Harsh    = harsh
	Varied   = varied
	Changing = changing
	Script   = script
)

// Host turns the checker's command into a change of the voters, if they are to change.
func Host(a *algorithm, change bool) {
	if change {
		host(a)
	}
}

// Vary lets lengths of requests vary as much as they may.
func Vary(a *algorithm) { vary(a) }

// Few returns options of the checker for three members, of which the first is a witness.
func Few(terms, crashes int) verify.Options {
	return budget{terms: terms, crashes: crashes, recoveries: crashes}.few()
}

// Changes returns options of the checker for changes of the voters.
func Changes(members, standby, commands, terms, renewals, crashes int) verify.Options {
	return changes{members, standby, commands, terms, renewals, crashes}.options()
}

// Long reports whether tests take long.
func Long() bool { return *long }
