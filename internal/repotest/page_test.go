package repotest

import (
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
)

// aFile is a Go file of a page, and shown is a command with what it prints.
var (
	aFile = regexp.MustCompile("(?s)```go\n// (\\w+\\.go)\n(.*?)```")
	shown = regexp.MustCompile("(?s)```console\n\\$ \\./swallow ([^\n]*)\n(.*?)```")
)

// Page 1 of docs is a module of its own. Its files compile, its tests pass, and its commands print what it shows.
func TestPageOneIsAModuleThatDoesWhatThePageShows(t *testing.T) {
	page := read(t, filepath.Join(root, "docs", "1-your-own-algorithm.md"))
	dir := t.TempDir()
	foreign(t, dir)
	files := aFile.FindAllStringSubmatch(page, -1)
	if len(files) != 3 {
		t.Fatalf("the page has %d files, want 3", len(files))
	}
	for _, file := range files {
		write(t, filepath.Join(dir, file[1]), file[2])
		if lines := strings.Count(file[2], "\n"); file[1] == "swallow.go" && lines >= 60 {
			t.Errorf("the algorithm takes %d lines, and should take less than 60", lines)
		}
	}
	outside(t, dir, "go", "build", "-ldflags=-s -w", "-o", "swallow.exe", ".")
	outside(t, dir, "go", "test", ".")
	commands := shown.FindAllStringSubmatch(page, -1)
	if len(commands) < 5 {
		t.Errorf("the page shows %d commands", len(commands))
	}
	for _, command := range commands {
		run := exec.Command(filepath.Join(dir, "swallow.exe"), strings.Fields(command[1])...)
		run.Dir = dir
		if out, _ := run.CombinedOutput(); string(out) != command[2] { // the exit status is what it is
			t.Errorf("./swallow %s prints\n%swhere the page shows\n%s", command[1], out, command[2])
		}
	}
	if _, err := os.Stat(filepath.Join(dir, "swallow.svg")); err != nil {
		t.Error(err)
	}
}
