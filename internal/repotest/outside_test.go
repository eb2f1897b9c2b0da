package repotest

import (
	"flag"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"runtime"
	"slices"
	"strconv"
	"strings"
	"testing"
)

// program uses the library as another module does.
const program = `package main

import (
	"context"
	"errors"
	"fmt"
	"log"

	"ringleader.example/ringleader"
	"ringleader.example/ringleader/algorithms/lcr"
	"ringleader.example/ringleader/network"
	"ringleader.example/ringleader/simulate"
	"ringleader.example/ringleader/verify"
)

func main() {
	result, err := simulate.Run(lcr.Algorithm, simulate.Options{Setup: network.On(5, 4, 3, 2, 1)})
	if err != nil {
		log.Fatal(err)
	}
	fmt.Println(result.Messages.Election, result.Messages.Announcement)

	report, err := verify.Run(lcr.Algorithm, verify.Options{Size: 3})
	if err != nil {
		log.Fatal(err)
	}
	fmt.Println(report.Complete, report.Violation == nil)

	_, err = ringleader.Join(context.Background(), ringleader.Config{})
	fmt.Println(errors.Is(err, ringleader.ErrConfig))
}
`

func TestAnotherModuleCanImportTheLibrary(t *testing.T) {
	t.Parallel()
	name, dir := tree(t).name, t.TempDir()
	foreign(t, dir)
	write(t, filepath.Join(dir, "main.go"), strings.ReplaceAll(program, "ringleader.example/ringleader", name))
	if out := outside(t, dir, "go", "run", "."); out != "15 5\ntrue true\ntrue\n" {
		t.Errorf("a program of another module prints %q", out)
	}
}

// goLine is the line of go.mod with the version of Go.
var goLine = regexp.MustCompile(`(?m)^go .*$`)

// foreign begins a module that finds this one in its folder, through a workspace: what is compiled there is what is compiled here, and
// is in the cache. With a replacement, all would have another version, and would be compiled again.
func foreign(t *testing.T, dir string) {
	t.Helper()
	here, err := filepath.Abs(root)
	if err != nil {
		t.Fatal(err)
	}
	version := goLine.FindString(read(t, filepath.Join(root, "go.mod")))
	write(t, filepath.Join(dir, "go.mod"), "module m.example/m\n\n"+version+"\n")
	write(t, filepath.Join(dir, "go.work"), version+"\n\nuse (\n\t.\n\t"+strconv.Quote(filepath.ToSlash(here))+"\n)\n")
}

// outside runs a command of Go in a folder with a workspace, and returns what it prints. It has no flags of its own that change what is
// compiled: with them the library would be compiled again.
func outside(t *testing.T, dir string, command ...string) string {
	t.Helper()
	run := exec.Command(command[0], command[1:]...)
	run.Dir = dir
	run.Env = append(os.Environ(), "GOFLAGS="+os.Getenv("GOFLAGS")+" -mod=readonly", "GOWORK="+filepath.Join(dir, "go.work"))
	out, err := run.CombinedOutput()
	if err != nil {
		t.Fatalf("%s: %v\n%s", strings.Join(command, " "), err, out)
	}
	return string(out)
}

// long has tests do what takes seconds of a processor and seldom finds anything.
var long = flag.Bool("long", false, "rename the module, link a program that is too large, and vet what pages show with all that it imports")

// rename gives the module another path. README.md gives the same command.
const rename = `grep -rlI --exclude-dir=.git ringleader.example/ringleader . | xargs sed -i 's,ringleader\.example/ringleader,github.com/you/ringleader,g'`

func TestOneLineRenamesTheModule(t *testing.T) {
	if !*long {
		t.Skip("-long: it compiles again")
	}
	if runtime.GOOS != "linux" {
		t.Skip("sed -i is another thing here")
	}
	m := tree(t)
	if m.name != "ringleader.example/ringleader" {
		t.Skip("it has been renamed")
	}
	dir := t.TempDir()
	for _, f := range slices.Concat(m.texts, m.others) {
		write(t, filepath.Join(dir, filepath.FromSlash(f.name)), string(f.data))
	}
	// A renamed package compiles as before if its imports are found; so one stands for the many that take minutes.
	for _, line := range []string{rename, "go list -deps -test ./... >/dev/null", "go build ./algorithms/lcr"} {
		run := exec.Command("sh", "-c", line)
		run.Dir = dir
		// The folder is another one each time; what is compiled without its name is found in the build cache again.
		run.Env = append(os.Environ(), "GOFLAGS="+os.Getenv("GOFLAGS")+" -trimpath")
		if out, err := run.CombinedOutput(); err != nil {
			t.Fatalf("%s: %v\n%s", line, err, out)
		}
	}
	renamed := loaded(t, os.DirFS(dir))
	if renamed.name != "github.com/you/ringleader" {
		t.Errorf("go.mod says module %s", renamed.name)
	}
	for _, f := range renamed.texts {
		if strings.Contains(string(f.data), m.name) {
			t.Errorf("%s has still the old name", f.name)
		}
	}
	if readme, err := fs.ReadFile(os.DirFS(root), "README.md"); err != nil || !strings.Contains(string(readme), rename) {
		t.Errorf("README.md (%v) does not say how to rename the module: %s", err, rename)
	}
}

func read(t *testing.T, name string) string {
	t.Helper()
	data, err := os.ReadFile(name)
	if err != nil {
		t.Fatal(err)
	}
	return string(data)
}

func write(t *testing.T, name, text string) {
	t.Helper()
	if err := os.MkdirAll(filepath.Dir(name), 0o777); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(name, []byte(text), 0o666); err != nil {
		t.Fatal(err)
	}
}
