// Package provetest finds the solvers that tests of proofs run.
package provetest

import (
	"cmp"
	"os"
	"slices"
	"testing"

	"ringleader.example/ringleader/internal/study/prove"
)

// Solver is the beginning of a script that is a solver of version 9.9: "answer WORD" answers each question in its input with that word. It needs
// a shell, and nothing else.
const Solver = `#!/bin/sh
if [ "$1" = --version ]; then echo Z3 version 9.9; exit; fi
answer() { while read -r line; do case $line in '(echo "'*) line=${line#*\"}; echo "$1"; echo "${line%\"*}" ;; esac; done; }
`

// Installed returns the solvers that are installed. In CI all must be.
func Installed(t *testing.T) (all []*prove.Solver) {
	t.Helper()
	for _, name := range prove.Solvers {
		s, err := prove.Find(t.Context(), name)
		switch {
		case err == nil:
			all = append(all, s)
		case os.Getenv("CI") == "true":
			t.Fatal(err)
		default:
			t.Log(err)
		}
	}
	return all
}

// Needed is [Installed] for a test that needs one: without any it is skipped, and says how they are installed.
func Needed(t *testing.T) (all []*prove.Solver) {
	t.Helper()
	if all = Installed(t); len(all) == 0 {
		t.Skipf("no solver is installed, so nothing is proved again; %s", prove.Install)
	}
	return all
}

// Quickest returns the one of some solvers that took the least time for what a record is of: one proof is enough to see that a proof still
// goes through. Without such a solver it returns all.
func Quickest(all []*prove.Solver, record *prove.Record) []*prove.Solver {
	runs := slices.SortedFunc(slices.Values(record.Runs), func(a, b prove.Run) int { return cmp.Compare(a.Seconds, b.Seconds) })
	for _, run := range runs {
		if i := slices.IndexFunc(all, func(s *prove.Solver) bool { return s.Name == run.Solver }); i >= 0 {
			return all[i : i+1]
		}
	}
	return all
}
