package main

import (
	"bytes"
	"fmt"
	"go/parser"
	"go/token"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"
	"time"
)

const root = "../.."

var tested = regexp.MustCompile(`(?m)^func (Test\w+)\(`)

// This compiles nothing, so it is cheap enough for each change of the repository.
func TestEveryBugAppliesToThisTreeAndHasATest(t *testing.T) {
	bugs, err := readBugs("bugs")
	if err != nil {
		t.Fatal(err)
	}
	all := names{}
	for _, b := range bugs {
		content, err := b.planted(root)
		if err == nil {
			_, err = parser.ParseFile(token.NewFileSet(), b.file, content, parser.SkipObjectResolution)
		}
		if err != nil {
			t.Errorf("%s: %v", b.name, err)
		}
		for _, test := range b.tests {
			whole, _, _ := strings.Cut(test.pattern, "/")
			if pattern, err := regexp.Compile(whole); err != nil || !slices.ContainsFunc(all.of(t, test.folder), pattern.MatchString) {
				t.Errorf("%s: there is no test %s", b.name, test)
			}
		}
	}
}

// names are the tests of a folder.
type names map[string][]string

func (n names) of(t *testing.T, folder string) []string {
	t.Helper()
	if _, known := n[folder]; !known {
		files, err := filepath.Glob(filepath.Join(root, folder, "*_test.go"))
		if err != nil {
			t.Fatal(err)
		}
		n[folder] = []string{}
		for _, file := range files {
			text, err := os.ReadFile(file)
			if err != nil {
				t.Fatal(err)
			}
			for _, name := range tested.FindAllSubmatch(text, -1) {
				n[folder] = append(n[folder], string(name[1]))
			}
		}
	}
	return n[folder]
}

// The module under test: a function, a program that uses it, and tests of both. The last test runs the program as a process.
var module = map[string]string{
	"go.mod":  "module m.example/m\n\ngo 1.26\n",
	"m.go":    "package m\n\nfunc Less(a, b int) bool {\n\treturn a < b\n}\n\nfunc Never() bool {\n\treturn false\n}\n",
	"c/c.go":  "package main\n\nimport \"m.example/m\"\n\nfunc main() {\n\tprintln(m.Less(1, 1))\n}\n",
	"late.go": "package m\n\nfunc Wait() {\n}\n",
	"m_test.go": `package m

import (
	"os/exec"
	"testing"
)

func TestLess(t *testing.T) {
	t.Run("equal", func(t *testing.T) {
		if Less(1, 1) {
			t.Error("1 < 1")
		}
	})
}

func TestProgram(t *testing.T) {
	if text, err := exec.Command("go", "run", "./c").CombinedOutput(); err != nil || string(text) != "false\n" {
		t.Errorf("%v: %s", err, text)
	}
}

func TestWait(*testing.T) { Wait() }
`,
}

func TestWhatBecomesOfABug(t *testing.T) {
	folder := t.TempDir()
	write := func(name, text string) {
		t.Helper()
		path := filepath.Join(folder, name)
		if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	for name, text := range module {
		write(name, text)
	}
	bug := func(name, file, pattern, before, after string) {
		write("tools/plant/bugs/"+name+".txt", fmt.Sprintf("It is wrong.\nfile: . %s\ntest: . %s\n-- before --\n%s\n-- after --\n%s\n", file, pattern, before, after))
	}
	bug("a/killed", "m.go", "TestLess", "return a < b", "return a <= b")
	bug("a/killed-in-a-program", "m.go", "TestProgram", "\t\treturn a < b", "return a <= b")
	bug("late/late", "late.go", "TestWait", "func Wait() {", "func Wait() {\n\tselect {}")
	bug("b/stale", "m.go", "TestLess", "return a > b", "return a >= b")
	bug("b/survives", "m.go", "TestLess", "return false", "return true")
	bug("b/invalid", "m.go", "TestLess", "return false", "return 1")
	bug("b/untested", "m.go", "TestMore", "return false", "return true")
	run := func(args ...string) (bool, string) {
		t.Helper()
		var output, progress bytes.Buffer
		o, err := parse(slices.Concat([]string{"--root", folder, "--parallel", "2", "--only"}, args), &progress)
		if err != nil {
			t.Fatal(err)
		}
		found, err := run(t.Context(), o, &output, &progress)
		if err != nil {
			t.Fatal(err)
		}
		return found, output.String()
	}
	if found, text := run("^a/", "--limit", "5m"); !found || !strings.Contains(text, "TestLess/equal\n") || !strings.Contains(text, "2 bugs: 2 were found by a test, 0 were not") {
		t.Errorf("found all: %v\n%s", found, text)
	}
	if found, text := run("^late/", "--limit", "100ms", "--skip-first"); !found || !strings.Contains(text, "killed by time-out") {
		t.Errorf("found: %v\n%s", found, text)
	}
	found, text := run("^b/", "--limit", "5m")
	for _, want := range []string{"DOES NOT APPLY", "occurs 0 times", "SURVIVES", "INVALID", "cannot use 1", "NO TEST", "matches no test", "4 bugs: 0 were found by a test, 4 were not"} {
		if !strings.Contains(text, want) {
			t.Errorf("%q is not in\n%s", want, text)
		}
	}
	if found {
		t.Error("all were found")
	}
	if text, err := os.ReadFile(filepath.Join(folder, "m.go")); err != nil || string(text) != module["m.go"] {
		t.Errorf("the file has changed: %s, %v", text, err)
	}
}

func TestWrongCallsAreRefused(t *testing.T) {
	for _, args := range [][]string{{"bugs"}, {"--parallel", "0"}, {"--limit", "0s"}, {"--only", "("}, {"--onli", "x"}} {
		if _, err := parse(args, new(bytes.Buffer)); err == nil {
			t.Errorf("%q is right", args)
		}
	}
	o, err := parse(nil, nil)
	if err != nil || o.jobs != 1 || o.limit != 2*time.Minute {
		t.Errorf("%+v, %v", o, err)
	}
}

func TestAWrongFileIsRefused(t *testing.T) {
	const right = "It is wrong.\nfile: . m.go\ntest: . TestLess\n-- before --\na\n-- after --\nb\n"
	if _, err := parseBug([]byte(right)); err != nil {
		t.Fatal(err)
	}
	for _, part := range []string{"It is wrong.\n", "file: . m.go\n", "test: . TestLess\n", "-- before --\na\n", "-- after --\nb\n"} {
		if b, err := parseBug([]byte(strings.Replace(right, part, "", 1))); err == nil {
			t.Errorf("without %q it is %+v", part, b)
		}
	}
	if _, err := parseBug([]byte(strings.Replace(right, "b\n", "a\n", 1))); err == nil {
		t.Error("it changes nothing")
	}
}
