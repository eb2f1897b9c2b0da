package tie_test

import (
	"bytes"
	"cmp"
	"context"
	"flag"
	"fmt"
	"io/fs"
	"maps"
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"ringleader.example/ringleader/internal/study/models"
	"ringleader.example/ringleader/internal/study/prove"
	"ringleader.example/ringleader/internal/study/prove/provetest"
	"ringleader.example/ringleader/tests/symbolic"
	"ringleader.example/ringleader/tests/tie"
)

var (
	update = flag.Bool("update", false, "write NAME.code.proved, and docs/proved-code.md")
	long   = flag.Bool("long", false, "let each solver prove, and look for paths that contradict themselves")
)

const (
	folder = "../../proofs"
	module = "ringleader.example/ringleader/"
	// limit is for solvers that wait for the processor, too: on an idle machine no part takes more than a second.
	limit = 10 * time.Minute
	// brief is how long, in the record, the quickest solver took at most for a proof that each go test ./... repeats. Others are repeated with -long: no test
	// passes once code or model are others than what was proved.
	brief = 0.5 // seconds
	// patience is for a solver that has not proved the code of an algorithm yet.
	patience = time.Minute
)

// names are the models whose code is tied to them.
var names = []string{"franklin", "hirschberg-sinclair", "lcr", "lelann", "peterson"}

// files are those of folder proofs.
func files(t *testing.T) fs.FS {
	t.Helper()
	root, err := os.OpenRoot(folder)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = root.Close() })
	return root.FS()
}

// code returns the correspondence of a model.
func code(t *testing.T, name string) *tie.Code {
	t.Helper()
	text, err := fs.ReadFile(files(t), name+".code")
	if err != nil {
		t.Fatal(err)
	}
	c, err := tie.ParseCode(name+".code", string(text))
	if err != nil {
		t.Fatal(err)
	}
	return c
}

// loaded are the handlers of all algorithms, from source.
var loaded = sync.OnceValues(func() ([]*symbolic.Handlers, error) {
	var paths []string
	for _, name := range names {
		m, err := models.Load(name)
		if err != nil {
			return nil, err
		}
		paths = append(paths, module+m.Code)
	}
	return symbolic.Load("..", nil, paths...)
})

// handlers returns the handlers of an algorithm.
func handlers(t *testing.T, name string) *symbolic.Handlers {
	t.Helper()
	all, err := loaded()
	if err != nil {
		t.Fatal(err)
	}
	return all[slices.Index(names, name)]
}

// ties returns the ties of all models.
func ties(t *testing.T) (all []*tie.Tie) {
	t.Helper()
	for _, name := range names {
		found, err := tie.New(files(t), code(t, name), handlers(t, name))
		if err != nil {
			t.Fatal(err)
		}
		all = append(all, found)
	}
	return all
}

// record returns what was proved of a tie.
func record(t *testing.T, name string) *prove.Record {
	t.Helper()
	text, err := os.ReadFile(filepath.Join(folder, name+".code.proved"))
	if err != nil {
		t.Fatal(err)
	}
	r, err := prove.ParseRecord(string(text))
	if err != nil {
		t.Fatalf("%s: %v", name, err)
	}
	return r
}

// The solver that was the quickest proves each path; with -long, each that is installed, if it did so before. With -update that is recorded: one has to prove all.
func TestEveryStepOfTheCodeIsProved(t *testing.T) {
	if testing.Short() {
		t.Skip("it runs solvers")
	}
	found := provetest.Needed(t)
	for i, tied := range ties(t) {
		t.Run(names[i], func(t *testing.T) {
			t.Parallel()
			r, err := tied.Record()
			if err != nil {
				t.Fatal(err)
			}
			if !*update && !*long && !slices.ContainsFunc(record(t, names[i]).Runs, func(run prove.Run) bool { return run.Seconds <= brief }) {
				t.Skipf("the proof takes longer than %v s, and is repeated with -long", brief)
			}
			solvers := found
			if !*update && !*long {
				solvers = provetest.Quickest(found, record(t, names[i]))
			}
			for _, s := range solvers {
				options := prove.Options{Limit: limit, Work: 20 * work[s.Name]}
				switch {
				case *update:
					options = prove.Options{Limit: patience, First: true}
				case !slices.ContainsFunc(record(t, names[i]).Runs, func(run prove.Run) bool { return run.Solver == s.Name }):
					t.Logf("%s has not proved it before, and does not try", s.Name)
					continue
				}
				result, err := tied.Prove(context.Background(), s, options)
				if err != nil {
					t.Fatal(err)
				}
				t.Logf("%s: %d paths, %d of %d parts in %v", s.Name, len(tied.Paths), result.Proved, tied.Parts(), result.Used)
				switch {
				case result.Proved == tied.Parts():
					r.Runs = append(r.Runs, prove.Run{Solver: s.Name, Version: s.Version, Proved: result.Proved, Seconds: result.Used.Seconds()})
				case *update:
					t.Logf("%s does not prove %s", s.Name, result.Open[0])
				default:
					t.Errorf("%s: %s", s.Name, strings.Join(result.Open, "\n"))
				}
			}
			switch {
			case *update && len(r.Runs) == 0:
				t.Error("no solver has proved it")
			case *update:
				write(t, filepath.Join(folder, names[i]+".code.proved"), r.String())
			}
		})
	}
}

const (
	page = "../../docs/proved-code.md"
	head = `# What is proved of the code for every number of processes

The handlers of these algorithms, as Go has them, are executed with unknown values: each way through Start and Receive is a path. For each path it is
proved that it is a sequence of actions of the [model](proved.md), or changes nothing that the model speaks of. So what is proved of the model, for
every number of processes, holds of the code. Seconds are those of a processor. [What stays
assumed](decisions/proofs-for-every-number.md#handlers-are-the-actions-of-their-models) is told there.

| model | paths | of these, that none can take | parts to prove | z3 | cvc5 |
|---|---|---|---|---|---|
`
)

// docs/proved-code.md is made of the code, of correspondences and of their records.
func TestThePageTellsWhichPathIsWhichAction(t *testing.T) {
	var table, sections strings.Builder
	for i, tied := range ties(t) {
		never := 0
		fmt.Fprintf(&sections, "\n## %s\n\nIt is assumed that:\n\n", names[i])
		c := code(t, names[i])
		for _, words := range c.Assumptions() {
			fmt.Fprintf(&sections, "* %s\n", words)
		}
		sections.WriteString("\nThese hold of each process before and after each step:\n\n")
		for _, words := range c.Coupled() {
			fmt.Fprintf(&sections, "* %s\n", words)
		}
		sections.WriteString("\n| path | conditions | actions |\n|---|---|---|\n")
		for _, p := range tied.Paths {
			var actions, conditions []string
			for _, a := range p.Actions {
				actions = append(actions, a[0])
			}
			for _, t := range p.Conditions {
				conditions = append(conditions, "`"+t.String()+"`")
			}
			if slices.Contains(actions, tie.Never) {
				never++
				continue
			}
			fmt.Fprintf(&sections, "| %s | %s | %s |\n", p.Name, strings.Join(conditions, ", "), cmp.Or(strings.Join(actions, ", "), "none"))
		}
		fmt.Fprintf(&table, "| [%s](#%[1]s) | %d | %d | %d |", names[i], len(tied.Paths), never, tied.Parts())
		r := record(t, names[i])
		for _, s := range prove.Solvers {
			text := " not proved |"
			for _, run := range r.Runs {
				if run.Solver == s {
					text = fmt.Sprintf(" %s: %.1f s |", run.Version, run.Seconds)
				}
			}
			table.WriteString(text)
		}
		table.WriteString("\n")
	}
	made := head + table.String() + sections.String()
	text, err := os.ReadFile(page)
	if *update {
		write(t, page, made)
	} else if err != nil || string(text) != made {
		t.Errorf("%s is not what the code is: go test ./tie -update makes it", page)
	}
}

func write(t *testing.T, file, text string) {
	t.Helper()
	if err := os.WriteFile(file, []byte(text), 0o644); err != nil {
		t.Fatal(err)
	}
}

// A machine without solvers refuses code that has changed since it was proved.
func TestEveryHandlerIsWhatWasProved(t *testing.T) {
	for i, tied := range ties(t) {
		if err := tied.Covers(record(t, names[i])); err != nil {
			t.Errorf("%v: prove it with go test ./tie -update", err)
		}
	}
}

// overlay returns the source of an algorithm with changes: each is an old text, and the one in its place.
func overlay(t *testing.T, name string, changes ...string) map[string][]byte {
	t.Helper()
	file, err := filepath.Abs(filepath.Join("../../algorithms", name, name+".go"))
	if err != nil {
		t.Fatal(err)
	}
	text, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	for pair := range slices.Chunk(changes, 2) {
		if bytes.Count(text, []byte(pair[0])) != 1 {
			t.Fatalf("%s: %q is there %d times", name, pair[0], bytes.Count(text, []byte(pair[0])))
		}
		text = bytes.Replace(text, []byte(pair[0]), []byte(pair[1]), 1)
	}
	return map[string][]byte{file: text}
}

// change is a planted change of an algorithm's source.
type change struct {
	code, old, now string
	open           string   // what no solver proves
	more           []string // changes besides
}

// planted returns the handlers of algorithms with a change each. It loads one change of each algorithm at once, as often as one has changes.
func planted(t *testing.T, changes []change) []*symbolic.Handlers {
	t.Helper()
	found := make([]*symbolic.Handlers, len(changes))
	for slices.Contains(found, nil) {
		files := map[string][]byte{}
		var paths []string
		var loading []int
		for i, c := range changes {
			path := module + "algorithms/" + c.code
			if found[i] != nil || slices.Contains(paths, path) {
				continue
			}
			maps.Copy(files, overlay(t, c.code, append(c.more, c.old, c.now)...))
			paths, loading = append(paths, path), append(loading, i)
		}
		all, err := symbolic.Load("..", files, paths...)
		if err != nil {
			t.Fatal(err)
		}
		for i, h := range all {
			found[loading[i]] = h
		}
	}
	return found
}

// A change of the code is refused: without a solver, by the record, and by each solver with the path that fails.
func TestAPlantedChangeIsRefused(t *testing.T) {
	found := provetest.Installed(t)
	cases := []change{
		{"lcr", "case m.ID > p.ID: // L6", "case m.ID < p.ID: // L6", "receive-3 (algorithms/lcr/lcr.go:99): messages", nil},
		{"lcr", "out.Send(Right, Leader, m)\n\tcase !p.Participant", "out.Lead(0)\n\tcase !p.Participant", "receive-5 (algorithms/lcr/lcr.go:101): decisions", nil},
		{"lelann", "p.Largest = max(p.Largest, m.ID)", "p.Largest = min(p.Largest, m.ID)", "receive-11 (algorithms/lelann/lelann.go:136): coupled", nil},
		{"hirschbergsinclair", "case m.ID < p.ID: // R1", "case m.ID > p.ID: // R1", "receive-7a (algorithms/hirschbergsinclair/hirschbergsinclair.go:184): guards", nil},
		{"franklin", "case x < p.ID && y < p.ID: // F2", "case x < p.ID && y > p.ID: // F2", "receive-20a (algorithms/franklin/franklin.go:116): coupled", nil},
		{"peterson", "p.NTID >= max(p.TID, m.ID): // P6", "p.NTID >= min(p.TID, m.ID): // P6", "receive-8b (algorithms/peterson/peterson.go:124): guards", nil},
		{ // a constant has the name of a parameter
			"lcr", "switch {\n\tcase kind == Leader", "if from != port {\n\t\tout.Lead(0)\n\t\treturn\n\t}\n\tswitch {\n\tcase kind == Leader",
			"receive-1 (algorithms/lcr/lcr.go:90): decisions",
			[]string{"Receive(_ election.Port", "Receive(from election.Port", "election.Port = 0", "election.Port = 0; const port election.Port = 1"},
		},
		{ // a field of a field, and one that has both of their names
			"lcr", "switch {\n\tcase kind == Leader", "if p.A.B {\n\t\tp.A.B = true\n\t}\n\tif p.AB && !p.A.B {\n\t\tout.Lead(0)\n\t\treturn\n\t}\n\tswitch {\n\tcase kind == Leader",
			"receive-15 (algorithms/lcr/lcr.go:93): decisions",
			[]string{"p.Participant = true                     // L4", "p.Participant, p.AB = true, true", "type Process struct {", "type inner struct{ B bool }; type Process struct { A inner; AB bool"},
		},
	}
	if !*long { // three algorithms need one load, and differ in what is not proved
		cases = []change{cases[0], cases[2], cases[3]}
	}
	loaded := planted(t, cases)
	for i, c := range cases {
		t.Run(c.code+" "+c.now, func(t *testing.T) {
			t.Parallel()
			h := loaded[i]
			name := cmp.Or(map[string]string{"hirschbergsinclair": "hirschberg-sinclair"}[c.code], c.code)
			tied, err := tie.New(files(t), code(t, name), h)
			if err != nil {
				t.Fatal(err)
			}
			if err := tied.Covers(record(t, name)); err == nil || !strings.Contains(err.Error(), "has changed since it was proved") {
				t.Errorf("the record covers it: %v", err)
			}
			if testing.Short() {
				return
			}
			tied.Paths = slices.DeleteFunc(tied.Paths, func(p *tie.Tied) bool { return !strings.HasPrefix(c.open, p.String()+":") })
			solvers := found
			if !*long {
				solvers = provetest.Quickest(found, record(t, name))
			}
			for _, s := range solvers {
				r, err := tied.Prove(context.Background(), s, prove.Options{Limit: limit, Work: work[s.Name], First: true})
				if err != nil {
					t.Fatal(err)
				}
				if len(r.Open) != 1 || !strings.HasPrefix(r.Open[0], c.open) {
					t.Errorf("%s: %q, want %s", s.Name, r.Open, c.open)
				}
			}
		})
	}
}

// work is how long a solver tries what is false, in its own units, which do not depend on the machine: it may never end.
var work = map[string]int{"z3": 500_000, "cvc5": 50_000}

// Whatever a solver says, only unsat is a proof; so is none that is not there.
func TestNothingButUnsatIsAProof(t *testing.T) {
	if runtime.GOOS == "windows" {
		t.Skip("the solver is a shell script")
	}
	tied, err := tie.New(files(t), code(t, "lcr"), handlers(t, "lcr"))
	if err != nil {
		t.Fatal(err)
	}
	dir := t.TempDir()
	t.Setenv("PATH", dir+string(filepath.ListSeparator)+os.Getenv("PATH"))
	for says, want := range map[string]string{
		"answer sat": ": refuted", "answer unknown": ": unknown", "exit 3": ": no answer",
	} {
		script := provetest.Solver + says + "\n"
		if err := os.WriteFile(filepath.Join(dir, "z3"), []byte(script), 0o755); err != nil {
			t.Fatal(err)
		}
		s, err := prove.Find(t.Context(), "z3")
		if err != nil {
			t.Fatal(err)
		}
		r, err := tied.Prove(context.Background(), s, prove.Options{Limit: time.Minute, First: true})
		if err != nil || r.Proved != 0 || len(r.Open) != 1 || !strings.HasSuffix(r.Open[0], want) {
			t.Errorf("%q: %+v, %v", says, r, err)
		}
	}
	none := record(t, "lcr")
	none.Runs = nil
	if err := tied.Covers(none); err == nil || err.Error() != "no solver has proved the code of lcr" {
		t.Error(err)
	}
}

// What the code does is possible: no solver shows that the conditions of a path contradict what is assumed of it, unless it is said to
// be so.
func TestNoPathContradictsWhatIsAssumed(t *testing.T) {
	if !*long {
		t.Skip("without -long")
	}
	for _, s := range provetest.Installed(t) {
		for i, tied := range ties(t) {
			said := map[string]int{} // what the solver says of paths that can be taken
			for _, p := range tied.Paths {
				if len(p.Parts) > 0 && p.Parts[0].Name == tie.Never {
					continue
				}
				p.Parts = []tie.Part{{Name: "false", Goals: []string{"false"}}}
				plan, err := tied.Plan(p, false)
				if err != nil {
					t.Fatal(err)
				}
				r, err := s.Prove(context.Background(), plan, prove.Options{Limit: limit, Work: work[s.Name]})
				if err != nil {
					t.Fatal(err)
				}
				if r.Contradiction() || r.Answers[1].Verdict == prove.Proved {
					t.Errorf("%s: %v cannot happen", s.Name, p)
				}
				said[r.Answers[1].Verdict.String()]++
			}
			t.Logf("%s: %s: %v", s.Name, names[i], said)
		}
	}
}

// A correspondence that is wrong gives one error with its place.
func TestAWrongCorrespondenceIsRefused(t *testing.T) {
	for text, says := range map[string]string{
		"":                           "x.code: there is no form (code MODEL)",
		"(code lcr":                  "x.code:1: this parenthesis is not closed",
		"(code lcr))":                "x.code:1: a parenthesis is closed that was not opened",
		"(code lcr)\n(cod lcr)":      "x.code:2: this is no form of a correspondence: (cod lcr)",
		"(code lcr)\nlcr":            "x.code:2: this is no form of a correspondence: lcr",
		"(code lcr)\n\x1b[2J":        `x.code:2: this is no form of a correspondence: "\x1b[2J"`,
		"(code lcr)\n(coupled a)":    "x.code:2: this is no form of a correspondence: (coupled a)",
		"(code \"lcr)":               "x.code:1: this text has no end",
		"(code lcr)(steps start ())": "x.code:1: this is no form of a correspondence: (steps start ())",
	} {
		if _, err := tie.ParseCode("x.code", text); err == nil || err.Error() != says {
			t.Errorf("%q: %v", text, err)
		}
	}
	h := handlers(t, "lcr")
	text, err := fs.ReadFile(files(t), "lcr.code")
	if err != nil {
		t.Fatal(err)
	}
	for _, c := range [][3]string{
		{"(pass (who m-ID) me)", "(fly me)", "receive-3 (algorithms/lcr/lcr.go:99): lcr has no action fly with 1 arguments"},
		{"(decision Lead", "(decision Leads", "receive-1 (algorithms/lcr/lcr.go:92): its correspondence does not say what Lead means"},
		{"(message Leader", "(message Election2", "its correspondence does not say what a message of the kind Leader means"},
		{"(leads me)", "(leads you)", "nothing is called you"},
	} {
		changed, err := tie.ParseCode("lcr.code", strings.Replace(string(text), c[0], c[1], 1))
		if err != nil {
			t.Fatal(err)
		}
		if _, err := tie.New(files(t), changed, h); err == nil || !strings.Contains(err.Error(), c[2]) {
			t.Errorf("%s: %v", c[1], err)
		}
	}
}
