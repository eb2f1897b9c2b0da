// Package provetest finds the solvers that tests of proofs run.
package provetest

import (
	"os"
	"testing"

	"ringleader.example/ringleader/internal/study/prove"
)

// Installed returns the solvers that are installed. In CI all must be.
func Installed(t *testing.T) (all []*prove.Solver) {
	t.Helper()
	for _, name := range prove.Solvers {
		s, err := prove.Find(name)
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
