package export_test

import (
	"bytes"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strconv"
	"strings"
	"testing"

	"ringleader.example/ringleader/catalogue/all"
	"ringleader.example/ringleader/election"
	"ringleader.example/ringleader/internal/core/needs"
	"ringleader.example/ringleader/internal/study/export"
	"ringleader.example/ringleader/network"
	"ringleader.example/ringleader/verify"
)

func model(t *testing.T, algorithm string, setup network.Setup) *verify.Model {
	t.Helper()
	e, err := all.Algorithms.Find(algorithm)
	if err != nil {
		t.Fatal(err)
	}
	m, err := verify.ModelOf(e.Program, setup)
	if err != nil {
		t.Fatal(err)
	}
	return m
}

// spin runs Spin on a model, and returns how many states it stores and how many errors it finds.
func spin(t *testing.T, m *verify.Model) (states, wrong int) {
	t.Helper()
	var text bytes.Buffer
	if err := export.Promela(&text, m); err != nil {
		t.Fatal(err)
	}
	folder := t.TempDir()
	if err := os.WriteFile(filepath.Join(folder, "model.pml"), text.Bytes(), 0o600); err != nil {
		t.Fatal(err)
	}
	var out []byte
	for _, command := range [][]string{
		{"spin", "-a", "model.pml"},
		{"gcc", "-DSAFETY", "-DNOREDUCE", "-o", "pan", "pan.c"},
		{"./pan", "-m100000", "-e", "-c0"},
	} {
		c := exec.Command(command[0], command[1:]...)
		c.Dir = folder
		var err error
		if out, err = c.CombinedOutput(); err != nil {
			t.Fatalf("%s: %v\n%s", strings.Join(command, " "), err, out)
		}
	}
	number := func(pattern string) int {
		found := regexp.MustCompile(pattern).FindSubmatch(out)
		if found == nil {
			t.Fatalf("Spin prints no %s:\n%s", pattern, out)
		}
		n, err := strconv.Atoi(string(found[1]))
		if err != nil {
			t.Fatal(err)
		}
		return n
	}
	return number(`(\d+) states, stored`), number(`errors: (\d+)`)
}

// needsSpin ends a test where Spin or a C compiler is missing.
func needsSpin(t *testing.T) {
	t.Helper()
	needs.Program(t, "spin", "spin")
	needs.Program(t, "gcc", "gcc libc6-dev")
}

// A model has the states that verify counts.
func TestAModelHasTheStatesOfTheSearch(t *testing.T) {
	for _, algorithm := range []string{"lcr", "peterson", "franklin", "hirschberg-sinclair", "dolev-klawe-rodeh"} {
		e, err := all.Algorithms.Find(algorithm)
		if err != nil {
			t.Fatal(err)
		}
		setup := network.On(3, 1, 2)
		r, err := e.Verify(verify.Options{Setup: setup})
		if err != nil {
			t.Fatal(err)
		}
		m := model(t, algorithm, setup)
		if m.States != r.States || m.Transitions != r.Transitions || m.Finals != r.Finals {
			t.Errorf("%s: %d states, %d steps, %d final; verify: %d, %d, %d", algorithm, m.States, m.Transitions, m.Finals, r.States, r.Transitions, r.Finals)
		}
	}
}

func TestOnlyAsynchronousAlgorithmsWithoutTimersHaveAModel(t *testing.T) {
	e, err := all.Algorithms.Find("bully")
	if err != nil {
		t.Fatal(err)
	}
	if _, err := verify.ModelOf(e.Program, network.On(1, 2, 3)); !errors.Is(err, verify.ErrOptions) {
		t.Errorf("bully: %v", err)
	}
}

// TLC is not run here: what can be tested is that each step is there, as a record, and the modules whose operators the model has. TLC of the revision
// cc6b616cf, run by hand, finds the states, the steps and the verdicts of the models of the next test.
func TestTLAHasEveryStep(t *testing.T) {
	m := model(t, "lcr", network.On(3, 2, 1))
	var text bytes.Buffer
	if err := export.TLA(&text, m, "lcr"); err != nil {
		t.Fatal(err)
	}
	if got := strings.Count(text.String(), "[process |->"); got != len(m.Steps) {
		t.Errorf("%d records for %d steps", got, len(m.Steps))
	}
	for _, part := range []string{"---- MODULE lcr ----", "EXTENDS Integers, Sequences, FiniteSets, TLC\n", "Leads == 0 :> {2} @@ 1 :> {} @@ 2 :> {}", "OneLeader == Cardinality(Leaders) <= 1"} {
		if !strings.Contains(text.String(), part) {
			t.Errorf("no %q in\n%s", part, text.String())
		}
	}
}

// What is exported is a graph of states, whatever the algorithm. To compile that of one takes a second of a processor.
func TestSpinFindsTheSameStatesAndVerdicts(t *testing.T) {
	needsSpin(t)
	for _, c := range []struct {
		algorithm string
		setup     network.Setup
		wrong     bool
	}{
		{algorithm: "lcr", setup: network.On(1)},
		{algorithm: "lcr", setup: network.Setup{IDs: election.List{2, 1, 2}, Duplicates: true}, wrong: true},
		{algorithm: "franklin", setup: network.On(3, 1, 4, 2)},
		{algorithm: "itai-rodeh", setup: network.Setup{IDs: make(election.List, 3), Parameters: map[string]string{"rounds": "unnumbered"}}},
	} {
		t.Run(fmt.Sprintf("%s of %d", c.algorithm, c.setup.IDs.Len()), func(t *testing.T) {
			m := model(t, c.algorithm, c.setup)
			states, wrong := spin(t, m)
			if c.wrong {
				if wrong == 0 || m.Violated == "" {
					t.Errorf("Spin finds %d errors; violated: %q", wrong, m.Violated)
				}
				return
			}
			if states != m.States+m.Finals || wrong != 0 || m.Violated != "" {
				t.Errorf("Spin stores %d states and finds %d errors; the model has %d and %d final ones; violated: %q", states, wrong, m.States, m.Finals, m.Violated)
			}
		})
	}
}
