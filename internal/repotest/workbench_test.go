package repotest

import (
	"encoding/json"
	"errors"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
)

// workbenches is a program of another module with algorithms of its own: one that elects, one that elects two leaders, one
// that panics, one that is impure, one that draws until a value suits it, and one that sends where it has no port.
const workbenches = `package main

import (
	"ringleader.example/ringleader/election"
	"ringleader.example/ringleader/workbench"
)

type process struct{ ID election.ID }

type (
	out   = *election.Out[election.ID]
	event = func(p *process, m election.ID, out out)
)

var steps int

// ring passes greater identifiers on; what it does about smaller ones differs.
func ring(name string, smaller event) *election.Algorithm[process, election.ID] {
	return &election.Algorithm[process, election.ID]{
		Declaration: election.Declaration{
			Name: name, Topology: election.Ring, OneWay: true, Starts: election.AllStart, Winner: election.Largest,
			Kinds: []election.MessageKind{{Name: "probe"}, {Name: "victory", Class: election.Announcement}},
		},
		New:   func(l election.Local) process { return process{l.ID} },
		Start: func(p *process, out out) { out.Send(0, 0, p.ID) },
		Receive: func(p *process, _ election.Port, kind election.Kind, m election.ID, out out) {
			switch {
			case kind == 1 && m != p.ID:
				out.Follow(m, 0)
				out.Send(0, 1, m)
			case kind == 0 && m == p.ID:
				out.Lead(0)
				out.Send(0, 1, m)
			case kind == 0 && m > p.ID:
				out.Send(0, 0, m)
			case kind == 0:
				smaller(p, m, out)
			}
		},
	}
}

func main() {
	workbench.Main(
		workbench.Of(ring("mine", func(*process, election.ID, out) {})),
		workbench.Of(ring("two-leaders", func(p *process, _ election.ID, out out) { out.Lead(0) })),
		workbench.Of(ring("panicking", func(*process, election.ID, out) { panic("by design") })),
		workbench.Of(ring("impure", func(p *process, m election.ID, out out) {
			steps++ // and sends a number of messages that no earlier step has sent
			out.Send(0, 0, election.ID(steps))
		})),
		workbench.Of(ring("drawing", func(_ *process, _ election.ID, out out) {
			for out.Choose(4) == 3 {
			}
		})),
		workbench.Of(ring("astray", func(p *process, m election.ID, out out) { out.Send(7, 0, m) })),
	)
}
`

func TestAProgramOutsideHasEveryCommandForItsOwnAlgorithms(t *testing.T) {
	t.Parallel()
	dir, name := t.TempDir(), tree(t).name
	foreign(t, dir)
	write(t, filepath.Join(dir, "main.go"), strings.ReplaceAll(workbenches, "ringleader.example/ringleader", name))
	outside(t, dir, "go", "build", "-ldflags=-s -w", "-o", "bench.exe", ".")
	if complaint := command.complaint(megabytes(t, filepath.Join(dir, "bench.exe"))); sized && complaint != "" {
		t.Error(complaint)
	}
	for _, c := range []struct {
		call string
		code int
		says []string // on stdout or stderr
	}{
		{"algorithms", 0, []string{"\nmine  ", "\nlcr  "}},
		{"algorithms mine", 0, []string{"own algorithm", "no closed form"}},
		{"count mine --n 3", 64, []string{"bench: there is no closed form for mine"}},
		{"run mine --ids 3,1,2", 0, []string{"leader 3, agreed by all 3"}},
		{"run mine --n 5 --over tcp", 0, []string{"leader 5, agreed by all 5"}},
		{"run mine --n 3 --over processes", 0, []string{"leader 3, agreed by all 3"}},
		{"run mine --n 9 --draw mine.svg", 0, []string{"leader 9"}},
		{"run mine --n 5000 --order random", 0, []string{"leader 5000"}},
		{"compare mine lcr --n 8 --orders 10", 0, []string{"bench compare mine lcr", "each simulated", "each counted exactly"}},
		{"worst mine --n 4", 0, []string{"exact worst case: 10 election messages", "$ bench run mine --ids "}},
		{"verify mine --n 3", 0, []string{"holds: one leader"}},
		{"__complete run m", 0, []string{"mine\n"}},
		{"run --help", 0, []string{"\n  bench run lcr --ids 5,4,3,2,1\n"}},
		{"rn mine", 64, []string{`bench: unknown command "rn"; did you mean run?`}},
		{"run min --n 3", 64, []string{"did you mean mine?"}},

		{"run two-leaders --ids 3,1,2", 1, []string{"process 2 decided twice: was leader, then follower"}},
		{"verify two-leaders --n 3", 1, []string{"wrong leader: process 2 leads; the right leader is 3", "2  receives ⟨probe 1⟩ from 1", "LEADER\n"}},
		{"run panicking --n 2", 1, []string{"panic: process 2 receives ⟨probe 1⟩ from process 1 and panics: by design\n", "BREAKS THE CONTRACT: panics: by design\n"}},
		{"run panicking --ids 2,1,4,3 --schedule burns", 1, []string{"  1 → 2 → 4 → 3 →", "BREAKS THE CONTRACT: panics: by design\n"}},
		{"run panicking --n 5000", 1, []string{"and panics: by design\n", "BREAKS THE CONTRACT: panics: by design\n"}},
		{"verify panicking --n 2", 1, []string{"panic: process 2 receives ⟨probe 1⟩ from process 1 and panics: by design\n", "BREAKS THE CONTRACT: panics: by design\n"}},
		{"compare panicking --n 4", 1, []string{"and panics: by design\n", "BREAKS THE CONTRACT: panics: by design\n"}},
		{"worst panicking --n 4", 1, []string{"and panics: by design\n", "BREAKS THE CONTRACT: panics: by design\n"}},
		{"run panicking --n 2 --over tcp", 1, []string{"process 2 receives ⟨probe 1⟩ from process 1 and panics: by design"}},
		{"run panicking --n 2 --over processes", 1, []string{"process 2 receives ⟨probe 1⟩ from process 1 and panics: by design"}},
		{"run impure --n 2", 1, []string{"broke the contract: process 2 receives ⟨probe 1⟩ from process 1 and does something else when", "BREAKS THE CONTRACT: does something else"}},
		{"verify impure --n 2", 1, []string{"and does something else when", "BREAKS THE CONTRACT: does something else"}},
		{"run drawing --n 2", 0, []string{"leader 2"}},
		{"verify drawing --n 2", 3, []string{"bench: drawing is beyond the limits of the checker: process 2 receives ⟨probe 1⟩ from process 1 and chooses more than 64 times; the"}},
		{"run astray --n 2", 1, []string{"and sends on port 7; its ports are 0 to 1\n", "BREAKS THE CONTRACT: sends on port 7"}},
		{"run astray --ids 5,7,5,7 --anonymous", 1, []string{"and sends on port 7; its ports are 0 to 1\n", "BREAKS THE CONTRACT: sends on port 7"}},
		{"verify astray --n 2", 1, []string{"and sends on port 7; its ports are 0 to 1\n", "BREAKS THE CONTRACT: sends on port 7"}},
	} {
		code, out := bench(t, dir, strings.Fields(c.call)...)
		for _, says := range append(c.says, "") {
			if code != c.code || !strings.Contains(words(out), words(says)) || strings.Contains(out, "goroutine ") || strings.Contains(out, "this is a bug") {
				t.Errorf("bench %s: exit status %d, want %d; it does not print %q in\n%s", c.call, code, c.code, says, out)
				break
			}
		}
	}
	if svg := read(t, filepath.Join(dir, "mine.svg")); !strings.Contains(svg, "<svg") {
		t.Errorf("no drawing: %s", svg)
	}
	violated(t, dir, "run panicking --n 2 --json")
	violated(t, dir, "verify panicking --n 2 --json")
}

// words is a text with its words a space apart: lines are broken where a terminal ends.
func words(text string) string { return strings.Join(strings.Fields(text), " ") }

// violated wants the violation of the algorithm that panics in the JSON of a command.
func violated(t *testing.T, dir, call string) {
	t.Helper()
	_, out := bench(t, dir, strings.Fields(call)...)
	var result struct {
		Algorithm string
		Violation struct {
			Property, Detail string
			IDs              []uint64
			Steps            []struct{ Broken string }
		}
	}
	if err := json.Unmarshal([]byte(out), &result); err != nil {
		t.Fatalf("bench %s: %v: %s", call, err, out)
	}
	v := result.Violation
	if v.Property != "panic" || !strings.HasSuffix(v.Detail, "panics: by design") || len(v.IDs) != 2 || len(v.Steps) == 0 || v.Steps[len(v.Steps)-1].Broken != "panics: by design" {
		t.Errorf("bench %s prints %s", call, out)
	}
}

// bench runs the program, and returns its exit status and what it prints.
func bench(t *testing.T, dir string, args ...string) (code int, out string) {
	t.Helper()
	run := exec.Command(filepath.Join(dir, "bench.exe"), args...)
	run.Dir = dir
	run.Env = append(os.Environ(), "RINGLEADER_DEBUG=", "COLUMNS=1000")
	printed, err := run.CombinedOutput()
	if exit := new(exec.ExitError); errors.As(err, &exit) {
		code = exit.ExitCode()
	} else if err != nil {
		t.Fatal(err)
	}
	return code, string(printed)
}
