package house

import (
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
)

// Page 1 of docs is a module of its own, and prints what it says.
func TestPageOneRuns(t *testing.T) {
	name := tree(t).name
	page := read(t, filepath.Join(root, "docs", "1-your-own-algorithm.md"))
	dir := t.TempDir()
	foreign(t, dir, name)
	files := 0
	for block := range strings.SplitSeq(page, "```go\n// ") {
		file, code, _ := strings.Cut(block, "\n")
		if !strings.HasSuffix(file, ".go") {
			continue
		}
		files++
		code, _, _ = strings.Cut(code, "```")
		write(t, filepath.Join(dir, file), code)
		if lines := strings.Count(code, "\n"); file == "swallow.go" && lines >= 60 {
			t.Errorf("the algorithm takes %d lines, and should take less than 60", lines)
		}
	}
	if files != 2 {
		t.Fatalf("the page has %d files, want 2", files)
	}
	_, want, _ := strings.Cut(page, "```text\n")
	want, _, _ = strings.Cut(want, "```")
	if out := runOutside(t, dir); out != want {
		t.Errorf("it prints\n%swhere the page says\n%s", out, want)
	}
}

// foreign begins a module that finds this one in its folder.
func foreign(t *testing.T, dir, name string) {
	t.Helper()
	here, err := filepath.Abs(root)
	if err != nil {
		t.Fatal(err)
	}
	write(t, filepath.Join(dir, "go.mod"), "module m.example/m\n\ngo 1.26\n\n"+
		"require "+name+" v0.0.0\n\nreplace "+name+" => "+filepath.ToSlash(here)+"\n")
	write(t, filepath.Join(dir, "go.sum"), read(t, filepath.Join(root, "go.sum")))
}

// runOutside runs the program in a folder, with the proxy off: nothing may be missing but what this
// module itself needs.
func runOutside(t *testing.T, dir string) string {
	t.Helper()
	run := exec.Command("go", "run", ".")
	run.Dir = dir
	run.Env = append(os.Environ(), "GOFLAGS=-mod=mod", "GOPROXY=off", "GOWORK=off")
	out, err := run.CombinedOutput()
	if err != nil {
		t.Fatalf("%v\n%s", err, out)
	}
	return string(out)
}
