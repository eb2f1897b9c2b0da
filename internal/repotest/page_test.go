package repotest

import (
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
)

// aFile is a Go file of a page, lastLine a later function main of main.go, and shown a command with what it prints.
var (
	aFile    = regexp.MustCompile("(?s)```go\n// (\\w+\\.go)\n(.*?)```")
	lastLine = regexp.MustCompile("(?s)```go\n// main\\.go, its last line\n(.*?)```")
	shown    = regexp.MustCompile("(?s)```console\n\\$ \\./swallow ([^\n]*)\n(.*?)```")
)

// Page 1 of docs is a module of its own. Its files compile, its tests pass, and its commands print what it shows. With -long the test of snippets vets them.
func TestPageOneIsAModuleThatDoesWhatThePageShows(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	foreign(t, dir)
	page := pageOne(t, dir)
	if lines := strings.Count(read(t, filepath.Join(dir, "swallow.go")), "\n"); lines >= 60 {
		t.Errorf("the algorithm takes %d lines, and should take less than 60", lines)
	}
	outside(t, dir, "go", "build", "-ldflags=-s -w", "-o", "swallow.exe", ".")
	outside(t, dir, "go", "test", "-vet=off", "-ldflags=-s -w", ".")
	commands := shown.FindAllStringSubmatch(page, -1)
	if len(commands) < 14 {
		t.Errorf("the page shows %d commands", len(commands))
	}
	for _, command := range commands {
		run := exec.Command(filepath.Join(dir, "swallow.exe"), arguments(command[1])...)
		run.Dir, run.Env = dir, append(os.Environ(), "COLUMNS=80")
		if out, _ := run.CombinedOutput(); string(out) != command[2] { // the exit status is what it is
			t.Errorf("./swallow %s prints\n%swhere the page shows\n%s", command[1], out, command[2])
		}
	}
	if _, err := os.Stat(filepath.Join(dir, "swallow.svg")); err != nil {
		t.Error(err)
	}
}

// pageOne writes the files of page 1 into a folder, and returns the page.
func pageOne(t *testing.T, dir string) (page string) {
	t.Helper()
	page = read(t, filepath.Join(root, "docs", "1-your-own-algorithm.md"))
	files := aFile.FindAllStringSubmatch(page, -1)
	later := lastLine.FindStringSubmatch(page)
	if len(files) != 7 || later == nil {
		t.Fatalf("the page has %d files, want 7, and another last line of main.go: %v", len(files), later != nil)
	}
	for _, file := range files {
		if before, _, found := strings.Cut(file[2], "func main()"); found {
			file[2] = before + later[1]
		}
		write(t, filepath.Join(dir, file[1]), file[2])
	}
	return page
}

// arguments splits a command line into words, of which quotes join several.
func arguments(line string) (words []string) {
	for i, part := range strings.Split(line, "'") {
		if i%2 == 1 {
			words = append(words, part)
			continue
		}
		words = append(words, strings.Fields(part)...)
	}
	return words
}
