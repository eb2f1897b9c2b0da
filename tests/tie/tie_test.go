package tie_test

import (
	"context"
	"errors"
	"flag"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"ringleader.example/ringleader/internal/study/models"
	"ringleader.example/ringleader/internal/study/prove"
	"ringleader.example/ringleader/tests/symbolic"
	"ringleader.example/ringleader/tests/tie"
)

var (
	update = flag.Bool("update", false, "write NAME.code.proved, and docs/proved-code.md")
	long   = flag.Bool("long", false, "look for paths that contradict themselves, too")
)

const (
	folder = "../../proofs"
	module = "ringleader.example/ringleader/"
	// limit is for solvers that wait for the processor, too: on an idle machine no part takes more than a second.
	limit = 10 * time.Minute
	// patience is for a solver that has not proved the code of an algorithm yet.
	patience = time.Minute
)

// names are the models whose code is tied to them.
var names = []string{"franklin", "hirschberg-sinclair", "lcr", "lelann", "peterson"}

// proofs are the files of folder proofs.
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

// handlers returns the handlers of algorithms, from source.
func handlers(t *testing.T, overlay map[string][]byte, names ...string) []*symbolic.Handlers {
	t.Helper()
	var paths []string
	for _, name := range names {
		m, err := models.Load(name)
		if err != nil {
			t.Fatal(err)
		}
		paths = append(paths, module+m.Code)
	}
	all, err := symbolic.Load("..", overlay, paths...)
	if err != nil {
		t.Fatal(err)
	}
	return all
}

// ties returns the ties of all models.
func ties(t *testing.T) (all []*tie.Tie) {
	t.Helper()
	for i, h := range handlers(t, nil, names...) {
		found, err := tie.New(files(t), code(t, names[i]), h)
		if err != nil {
			t.Fatal(err)
		}
		all = append(all, found)
	}
	return all
}

// solvers returns those that are installed. In CI all must be.
func solvers(t *testing.T) (all []*prove.Solver) {
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

// Each solver that is installed proves each path, if it did so before. With -update that is recorded: one has to prove all.
func TestEveryStepOfTheCodeIsProved(t *testing.T) {
	if testing.Short() {
		t.Skip("it runs solvers")
	}
	found := solvers(t)
	if len(found) == 0 {
		t.Skipf("no solver is installed, so nothing is proved again; %s", prove.Install)
	}
	for i, tied := range ties(t) {
		t.Run(names[i], func(t *testing.T) {
			r, err := tied.Record()
			if err != nil {
				t.Fatal(err)
			}
			for _, s := range found {
				options := prove.Options{Limit: limit}
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

var _ = errors.New
var _ = strings.Cut
