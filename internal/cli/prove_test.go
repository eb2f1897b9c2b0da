package cli

import (
	"strings"
	"testing"

	"ringleader.example/ringleader/internal/show/report"
)

// Without a solver nothing is proved; one line says how to install them, and a counterexample to induction is shown all the same.
func TestWithoutASolverNothingIsProved(t *testing.T) {
	t.Setenv("PATH", t.TempDir())
	for _, c := range []struct{ call, says, shows string }{
		{"prove lcr", "no solver is installed, so nothing is proved; on Debian and Ubuntu: apt-get install z3 cvc5", ""},
		{"prove lcr --solver cvc5", "cvc5 is not installed (on Debian and Ubuntu: apt-get install z3 cvc5)", ""},
		{"prove lcr --drop passed", "no solver is installed", "broken home: An identifier that has come home is the largest."},
	} {
		code, stdout, stderr := call(strings.Fields(c.call)...)
		if code != report.ExitIncomplete || !strings.Contains(stderr, c.says) || !strings.Contains(stdout, c.shows) || c.shows == "" && stdout != "" {
			t.Errorf("ringleader %s: exit status %d, stdout %q, stderr %q", c.call, code, stdout, stderr)
		}
	}
}
