package cli

import (
	"os"
	"path/filepath"
	"runtime"
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

// A solver of another version than that of the records is named in one line. What it does not call unsatisfiable is not proved, whatever it says.
func TestASolverOfAnotherVersionIsNamed(t *testing.T) {
	if runtime.GOOS == "windows" {
		t.Skip("the solver is a shell script")
	}
	dir := t.TempDir()
	t.Setenv("PATH", dir+string(filepath.ListSeparator)+os.Getenv("PATH"))
	for says, want := range map[string]string{
		"unsat": "void ", "unknown": "not proved: at first passed   (z3 unknown)", "timeout": "not proved: at first passed   (z3 unknown)", "sat": "(z3 refuted)",
	} {
		script := "#!/bin/sh\nif [ \"$1\" = --version ]; then echo Z3 version 99.1; exit; fi\nwhile read -r line; do case \"$line\" in *check-sat*) echo " + says + ";; esac; done\n"
		if err := os.WriteFile(filepath.Join(dir, "z3"), []byte(script), 0o755); err != nil {
			t.Fatal(err)
		}
		code, stdout, stderr := call("prove", "lcr", "--solver", "z3")
		if !strings.Contains(stderr, "z3 is 99.1 here; what is recorded was proved by ") || !strings.Contains(stdout, want) {
			t.Errorf("%s: exit status %d, stdout %q, stderr %q", says, code, stdout, stderr)
		}
		// It also says unsat of the axioms, which is no proof but a contradiction.
		if says == "unsat" && (code == 0 || !strings.Contains(stdout, "void") || !strings.Contains(stdout, "the axioms contradict each other")) || says != "unsat" && strings.Contains(stdout, " proved ") {
			t.Errorf("%s: exit status %d, stdout %q", says, code, stdout)
		}
	}
}
