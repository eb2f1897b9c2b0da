package prove_test

import (
	"context"
	"errors"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"strings"
	"testing"
	"testing/fstest"
	"time"

	"ringleader.example/ringleader/internal/core/needs"
	"ringleader.example/ringleader/internal/study/logic"
	"ringleader.example/ringleader/internal/study/prove"
	"ringleader.example/ringleader/internal/study/prove/provetest"
)

const counter = `(model counter (title "T") (theorem "T.") (source "S") (code "C"))
(sort Process "w")
(constant top () Process "w")
(constant sure () Bool "w")
(axiom one "w" (forall ((p Process)) (= p top)))
(axiom certain "w" sure)
(state value (Process) Int "w")
(state other () Bool "w")
(initially (value p) 0)
(action rise ((P Process) (N Int)) "w" (guard "w" (> N 0)) (put (value P) (+ (value P) N)))
(action turn () "w" (put (other) (not other)))
(invariant positive "w" (forall ((p Process)) (>= (value p) 0)))
(safety fine "w" (>= (value top) 0))
`

func plan(t *testing.T, text string) *prove.Plan {
	t.Helper()
	files := fstest.MapFS{"m.model": {Data: []byte(text)}}
	m, err := logic.Load(files, files, "m.model")
	if err != nil {
		t.Fatal(err)
	}
	return prove.Obligations(m)
}

// There is an obligation for each pair that shares something, and none for the others.
func TestPairsThatShareNothingAreKeptBySyntax(t *testing.T) {
	p := plan(t, counter)
	var names []string
	for _, o := range p.Obligations[1:] {
		names = append(names, o.Name)
	}
	if got := strings.Join(names, ", "); got != "at first positive, rise keeps positive, safety fine" || p.Kept != 1 {
		t.Errorf("%s, and %d are kept", got, p.Kept)
	}
}

// A model that is false is refused with the pair that fails, and one whose axioms contradict each other is found.
func TestAFalseModelIsRefused(t *testing.T) {
	for _, s := range provetest.Needed(t) {
		for _, c := range []struct {
			old, now, open string
			contradiction  bool
		}{
			{"", "", "", false},
			{"(> N 0)", "(> N (- 1))", "", false},
			{"(> N 0)", "(> N (- 2))", "rise keeps positive", false},
			{"(initially (value p) 0)", "(initially (value p) (- 1))", "at first positive", false},
			{"(>= (value top) 0)", "(> (value top) 0)", "safety fine", false},
			{"(= p top))", "(distinct p top))", "", true},
		} {
			p := plan(t, strings.Replace(counter, c.old, c.now, 1))
			r, err := s.Prove(context.Background(), p, prove.Options{Limit: time.Minute})
			if err != nil {
				t.Fatal(err)
			}
			var open []string
			for i, a := range r.Answers[1:] {
				if a.Verdict != prove.Proved {
					open = append(open, p.Obligations[i+1].Name)
				}
			}
			if got := strings.Join(open, ", "); got != c.open || r.Contradiction() != c.contradiction {
				t.Errorf("%s, %q: open %q, contradiction %v", s.Name, c.now, got, r.Contradiction())
			}
		}
	}
}

// A solver finds the parts of a model that say nothing.
func TestWhatSaysNothingIsFound(t *testing.T) {
	for _, s := range provetest.Needed(t) {
		for _, c := range [][3]string{
			{"", "", ""},
			{`(guard "w" (> N 0))`, `(guard "w" (> N N))`, "the action rise is never possible: its guards contradict each other or the axioms"},
			{`(guard "w" (> N 0))`, `(guard "w" (not sure))`, "the action rise is never possible: its guards contradict each other or the axioms"}, // by an axiom
			{`(guard "w" (> N 0))`, `(guard "w" (= N 0))`, "the action rise changes nothing"},
			{`(guard "w" (> N 0))`, `(guard "w" (< (value P) 0))`, "the action rise is never possible where the invariants hold"},
			{"(not other)", "other", "the action turn changes nothing"},
			{"(>= (value p) 0)))\n(safety", "(= (value p) (value p))))\n(safety", "the invariant positive follows from the axioms alone, so it says nothing"},
			{"(>= (value top) 0)", "(or other (not other))", "the safety formula fine follows from the axioms alone, so it says nothing"},
			{"(= p top))", "(distinct p top))", ""}, // anything follows from it
		} {
			p := prove.Vacuous(plan(t, strings.Replace(counter, c[0], c[1], 1)).Model)
			r, err := s.Prove(t.Context(), p, prove.Options{Limit: time.Minute, Once: true})
			if err != nil {
				t.Fatal(err)
			}
			if got := strings.Join(p.Warnings(r), ", "); got != c[2] {
				t.Errorf("%s, %q: %s, want %s", s.Name, c[1], got, c[2])
			}
		}
	}
}

// A program that talks without end is no solver, and does not fill the memory.
func TestAVersionHasAnEnd(t *testing.T) {
	if runtime.GOOS == "windows" {
		t.Skip("the solver is a shell script")
	}
	dir := t.TempDir()
	t.Setenv("PATH", dir+string(filepath.ListSeparator)+os.Getenv("PATH"))
	if err := os.WriteFile(filepath.Join(dir, "z3"), []byte("#!/bin/sh\nexec yes version 9.9\n"), 0o755); err != nil {
		t.Fatal(err)
	}
	ctx, stop := context.WithCancel(t.Context())
	defer stop()
	if _, err := prove.Find(ctx, "z3"); err == nil || ctx.Err() != nil {
		t.Error(err)
	}
}

// Whatever a solver says, only unsat is a proof.
func TestNothingButUnsatIsAProof(t *testing.T) {
	if runtime.GOOS == "windows" {
		t.Skip("the solver is a shell script")
	}
	dir := t.TempDir()
	t.Setenv("PATH", dir+string(filepath.ListSeparator)+os.Getenv("PATH"))
	for _, c := range []struct {
		says string
		want prove.Verdict
		err  string
	}{
		{"sleep .1; answer unknown", prove.TimedOut, ""}, // the limit of this one is a millisecond
		{"answer unsat", prove.Proved, ""},
		{"answer sat", prove.Refuted, ""},
		{"answer unknown", prove.Unknown, ""},
		{"exit 3", prove.Unanswered, ""},
		{"kill -SEGV $$", prove.Unanswered, ""},
		{"echo out of memory >&2; exit 1", prove.Unanswered, ""},
		{"echo unsat", prove.Unanswered, ""}, // it has ended before it repeated what that was about
		{"echo unsat; echo unsat", prove.Unanswered, "z3 9.9 answers what it was not asked: unsat"},
		{"echo unsat; answer unsat", prove.Unanswered, "z3 9.9 answers what it was not asked: unsat"},
		{"answer unsat | sed 's/n 1$/n 2/'", prove.Unanswered, "z3 9.9 answers what it was not asked: obligation 2"},
		{"echo; answer unsat", prove.Unanswered, "z3 9.9 answers neither sat, unsat nor unknown: an empty line"},
		{"answer 'unsat sat'", prove.Unanswered, "z3 9.9 answers neither sat, unsat nor unknown: unsat sat"},
		{"exec sleep 1000", prove.TimedOut, "z3 9.9 has answered nothing, and was killed after 2ms"}, // likewise a millisecond
		// It has not gone back to what it knew before, so its next answers are about anything.
		{"echo '(error \"line 1 column 7: push canceled\")'; answer unsat", prove.TimedOut, ""},
		{"echo '(error \"line 1\")'", prove.Unanswered, `z3 9.9 answers neither sat, unsat nor unknown: (error "line 1")`},
		{"echo unsatisfiable", prove.Unanswered, "z3 9.9 answers neither sat, unsat nor unknown: unsatisfiable"},
		{"printf '\\033[2Jerror\\n'", prove.Unanswered, `z3 9.9 answers neither sat, unsat nor unknown: "\x1b[2Jerror"`},
		{"printf 'unsat\\0\\n'", prove.Unanswered, `z3 9.9 answers neither sat, unsat nor unknown: "unsat\x00"`},
		{"printf '%01000d\\n' 0", prove.Unanswered, `z3 9.9 answers neither sat, unsat nor unknown: "` + strings.Repeat("0", 200) + `"…`},
		{"printf '%070000d\\n' 0", prove.Unanswered, "z3 9.9: an answer of more than 65536 bytes"},
	} {
		script := provetest.Solver + c.says + "\ncat >/dev/null\n"
		if err := os.WriteFile(filepath.Join(dir, "z3"), []byte(script), 0o755); err != nil {
			t.Fatal(err)
		}
		s, err := prove.Find(t.Context(), "z3")
		if err != nil || s.Version != "9.9" {
			t.Fatal(s, err)
		}
		o := prove.Options{Limit: time.Minute}
		if strings.HasPrefix(c.says, "sleep") {
			o.Limit = time.Millisecond
		}
		if strings.HasPrefix(c.says, "exec sleep") {
			o.Limit, o.Patience = time.Millisecond, time.Millisecond
		}
		r, err := s.Prove(context.Background(), plan(t, counter), o)
		if (err != nil || c.err != "") && (err == nil || err.Error() != c.err) {
			t.Errorf("%q: %v, want %s", c.says, err, c.err)
		}
		if r.Answers[1].Verdict != c.want || r.Proved() == 3 != (c.want == prove.Proved) {
			t.Errorf("%q: %v, want %v", c.says, r.Answers, c.want)
		}
	}
	t.Setenv("PATH", t.TempDir())
	if _, err := prove.Find(t.Context(), "z3"); !errors.Is(err, exec.ErrNotFound) || !strings.Contains(err.Error(), "z3 is not installed (on Debian and Ubuntu: apt-get install z3 cvc5)") {
		t.Error(err)
	}
}

// A solver that is a script, and waits for another process, ends with its context, and so does that process. One that leaves its group is not
// waited for.
func TestASolverThatWaitsForAnotherProcessIsStopped(t *testing.T) {
	for name, c := range map[string]struct {
		waits string
		flag  int // how the test opens the pipe behind $0: that waits until the other process has opened it
	}{
		"it is killed":   {"sleep 1000 >$0.pipe", os.O_RDONLY},
		"it has escaped": {"setsid sh -c 'read x <$0.pipe' $0", os.O_WRONLY},
	} {
		for _, tool := range []string{"mkfifo", "setsid"} {
			needs.Program(t, tool, "coreutils util-linux")
		}
		dir := t.TempDir()
		t.Setenv("PATH", dir+string(filepath.ListSeparator)+os.Getenv("PATH"))
		path := filepath.Join(dir, "z3")
		solver := func(says string) {
			if err := os.WriteFile(path, []byte("#!/bin/sh\n"+says+"\n"+c.waits+"\ntrue\n"), 0o755); err != nil {
				t.Fatal(err)
			}
		}
		stopped := func(do func(ctx context.Context)) {
			_ = os.Remove(path + ".pipe") // the process before may not have closed it yet
			if out, err := exec.CommandContext(t.Context(), "mkfifo", path+".pipe").CombinedOutput(); err != nil {
				t.Fatal(err, string(out))
			}
			ctx, stop := context.WithCancel(t.Context())
			held := make(chan *os.File)
			go func() {
				f, err := os.OpenFile(path+".pipe", c.flag, 0)
				if err != nil {
					t.Error(err)
				}
				stop()
				held <- f
			}()
			returned := make(chan bool)
			go func() {
				do(ctx)
				close(returned)
			}()
			f := <-held
			select {
			case <-returned:
			case <-time.After(30 * time.Second):
				t.Errorf("%s: its end is waited for", name)
			}
			if c.flag == os.O_RDONLY {
				_ = f.SetReadDeadline(time.Now().Add(30 * time.Second))
				if _, err := io.ReadAll(f); err != nil {
					t.Errorf("%s: it runs on: %v", name, err)
				}
			}
			_ = f.Close()
			<-returned
		}
		solver("")
		stopped(func(ctx context.Context) {
			if _, err := prove.Find(ctx, "z3"); err == nil || !strings.HasSuffix(err.Error(), "z3 does not tell its version") {
				t.Errorf("%s: %v", name, err)
			}
		})
		solver("if [ \"$1\" = --version ]; then echo Z3 version 9.9; exit; fi")
		s, err := prove.Find(t.Context(), "z3")
		if err != nil {
			t.Fatal(err)
		}
		stopped(func(ctx context.Context) {
			r, err := s.Prove(ctx, plan(t, counter), prove.Options{Limit: time.Hour})
			if err != nil || r.Proved() != 0 || r.Answers[0].Verdict != prove.Unanswered {
				t.Errorf("%s: %+v, %v", name, r, err)
			}
		})
	}
}
