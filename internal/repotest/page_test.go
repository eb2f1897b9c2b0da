package repotest

import (
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
