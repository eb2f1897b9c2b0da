//go:build unix

package cli_test

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"ringleader.example/ringleader/internal/cli/clitest"
	"ringleader.example/ringleader/internal/show/report"
	"ringleader.example/ringleader/internal/study/prove/provetest"
	"ringleader.example/ringleader/proofs"
)

// A counterexample to induction is an answer also where no solver is installed.
func TestACounterexampleToInductionNeedsNoSolver(t *testing.T) {
	t.Setenv("PATH", t.TempDir())
	code, out, errs := clitest.Call("prove", "lcr", "--drop", "passed")
	if code != report.ExitNo || !strings.Contains(out, "broken home") || !strings.Contains(errs, "no solver is installed") {
		t.Errorf("exit status %d: %s%s", code, out, errs)
	}
}

// Whatever is wrong with solvers is one line, and then nothing counts as proved.
func TestWhatIsWrongWithSolversIsOneLine(t *testing.T) {
	for name, c := range map[string]struct {
		solver    string // a script; "": there is none
		flags     []string
		out, errs string
	}{
		"none":            {"", nil, "", "no solver is installed, so nothing is proved; on Debian and Ubuntu: apt-get install z3 cvc5"},
		"another program": {"#!/bin/sh\necho hello", nil, "", "no solver can be run, so nothing is proved: DIR/z3 does not tell its version"},
		"unknown": {
			provetest.Solver + "answer unknown", nil,
			"  not proved: at first passed, at first home, at first announced and 9 more   (z3 unknown)", "z3 is 9.9 here; what is recorded was proved by 4.8.12",
		},
		"another language": {provetest.Solver + "echo yes", nil, "", "z3 is 9.9 here; what is recorded was proved by 4.8.12\nnothing of lcr is proved: z3 9.9 answers neither sat, unsat nor unknown: yes"},
		"each answer twice": {
			provetest.Solver + "answer 'unsat\nunsat'", nil, "",
			"z3 is 9.9 here; what is recorded was proved by 4.8.12\nnothing of lcr is proved: z3 9.9 answers what it was not asked: unsat",
		},
		"silence": {
			provetest.Solver, nil,
			"  not proved: at first passed, at first home, at first announced and 9 more   (z3 no answer)", "z3 is 9.9 here; what is recorded was proved by 4.8.12",
		},
		// cvc5 has a process for each question, and this one counts for longer than its limit. One that answers several is taken for quick if its
		// reader is late.
		"a time-out of cvc5": {
			strings.Replace(provetest.Solver, "Z3", "cvc5", 1) + "i=0; while [ $i -lt 20000 ]; do i=$((i+1)); done; answer unknown",
			[]string{"--timeout", "1ms"},
			"  not proved: at first passed, at first home, at first announced and 9 more   (cvc5 timed out)", "cvc5 is 9.9 here; what is recorded was proved by 1.0.3",
		},
	} {
		t.Run(name, func(t *testing.T) {
			dir := t.TempDir()
			t.Setenv("PATH", dir)
			solver, other := "z3", "cvc5"
			if strings.HasSuffix(name, other) {
				solver, other = other, solver
			}
			if c.solver != "" {
				if err := os.WriteFile(filepath.Join(dir, solver), []byte(c.solver+"\n"), 0o755); err != nil {
					t.Fatal(err)
				}
			}
			code, out, errs := clitest.CallWith(map[string]string{"COLUMNS": "1000"}, append([]string{"prove", "lcr"}, c.flags...)...)
			var below []string // the table of the model
			for line := range strings.Lines(out) {
				if strings.HasPrefix(line, "  ") {
					below = append(below, strings.TrimRight(line, "\n"))
				}
				if strings.HasPrefix(line, "lcr ") && !strings.Contains(line, "0 of 12") {
					t.Errorf("it counts as proved: %s", line)
				}
			}
			if code != report.ExitIncomplete || strings.Join(below, "\n") != c.out {
				t.Errorf("exit status %d: %s", code, out)
			}
			var said []string
			for line := range strings.Lines(errs) {
				if !strings.Contains(line, other+" is not installed") {
					said = append(said, strings.TrimPrefix(strings.ReplaceAll(strings.TrimSpace(line), dir, "DIR"), "ringleader: "))
				}
			}
			if strings.Join(said, "\n") != c.errs {
				t.Errorf("it says %s", errs)
			}
		})
	}
}

// A model that claims something else in words than what was proved is not taken for that: neither its theorem nor its ties are.
func TestWhatAModelClaimsIsRecorded(t *testing.T) {
	dir := t.TempDir()
	t.Setenv("PATH", dir)
	solver := strings.Replace(provetest.Solver, "9.9", "4.8.12", 1) + "answer unsat\n"
	if err := os.WriteFile(filepath.Join(dir, "z3"), []byte(solver), 0o755); err != nil {
		t.Fatal(err)
	}
	text, err := proofs.Files.ReadFile("lcr.model")
	if err != nil {
		t.Fatal(err)
	}
	file := filepath.Join(dir, "lcr.model")
	for _, c := range []struct{ old, now, tie, says string }{
		{"(search)", "(search)", "c", ""},
		{"At most one process leads", "Each process leads", "none", "what lcr claims in words has changed since it was proved"},
		{"(tie c", "(tie a", "none", "what lcr claims in words has changed since it was proved"},
		{"(less N S)", "(less S N)", "none", "lcr has changed since it was proved"},
	} {
		if !strings.Contains(string(text), c.old) {
			t.Fatalf("%s is not in the model", c.old)
		}
		if err := os.WriteFile(file, []byte(strings.ReplaceAll(string(text), c.old, c.now)), 0o644); err != nil {
			t.Fatal(err)
		}
		if _, out, errs := clitest.CallWith(nil, "prove", file, "--solver", "z3"); !strings.Contains(out, " "+c.tie+" ") {
			t.Errorf("%s: %s%s", c.now, out, errs)
		}
		code, out, errs := clitest.CallWith(nil, "prove", file, "--recorded")
		if ok := c.says == ""; ok != (code == 0) || ok == (out == "") || !strings.Contains(errs, c.says) {
			t.Errorf("%s: exit status %d: %s%s, want %s", c.now, code, out, errs, c.says)
		}
	}
}
