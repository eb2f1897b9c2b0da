package cli

import (
	"bytes"
	"flag"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
)

//go:generate go test -run TestPagesShowWhatIsPrinted . -update

var update = flag.Bool("update", false, "write into the pages what their commands print")

// shown is a command of a page and what it prints: in a block, or, if that is Markdown, between comments.
var shown = regexp.MustCompile("(?s)(```console\n|<!-- )\\$ ringleader ([^\n]*?)( -->)?\n(.*?)(```|<!-- end -->)")

// Whatever a page shows a command to print, it prints, and what it draws is the drawing that the page shows.
// A line of … stands for lines that are left out.
func TestPagesShowWhatIsPrinted(t *testing.T) {
	const docs, readme = "../../docs", "../../README.md"
	pages, err := filepath.Glob(docs + "/[2-9]-*.md") // page 1 is a module of its own, which internal/repotest runs
	if err != nil || len(pages) < 5 {
		t.Fatalf("%d pages: %v", len(pages), err)
	}
	for _, file := range append(pages, readme) {
		t.Run(filepath.Base(file), func(t *testing.T) {
			old := contents(t, file)
			page, ran, drawn := printed(t, string(old))
			if blocks := strings.Count(page, "```console\n"); ran < blocks && file != readme || ran < 3 {
				t.Errorf("%d commands show what they print, in %d blocks", ran, blocks)
			}
			if *update && page != string(old) {
				if err := os.WriteFile(file, []byte(page), 0o644); err != nil {
					t.Fatal(err)
				}
			}
			for _, drawing := range drawn {
				if !bytes.Equal(contents(t, drawing), contents(t, filepath.Join(docs, filepath.Base(drawing)))) {
					t.Errorf("docs/%s is not what the command draws: go generate ./...", filepath.Base(drawing))
				}
			}
		})
	}
}

// printed is a page with what its commands print now, how many these are, and the files that they write.
func printed(t *testing.T, page string) (now string, ran int, written []string) {
	home, err := os.Getwd()
	if err != nil {
		t.Fatal(err)
	}
	dir := t.TempDir()
	t.Chdir(dir)
	ran = 0
	now = shown.ReplaceAllStringFunc(page, func(block string) string {
		part := shown.FindStringSubmatch(block)
		command, want := part[2], part[4]
		if want == "" || strings.HasPrefix(want, "$ ") || strings.HasPrefix(command, "join ") {
			return block // nothing is shown
		}
		ran++
		_, stdout, stderr := call(arguments(command)...)
		out := stdout + stderr
		if shortened(want).MatchString(out) {
			return block
		}
		if !*update {
			t.Errorf("ringleader %s prints\n%swhere the page says\n%s", command, out, want)
		}
		return part[1] + "$ ringleader " + command + part[3] + "\n" + out + part[5]
	})
	t.Chdir(home)
	written, err = filepath.Glob(filepath.Join(dir, "*"))
	if err != nil {
		t.Fatal(err)
	}
	return now, ran, written
}

// shortened matches a text of which a page leaves out the lines that are … there.
func shortened(text string) *regexp.Regexp {
	var pattern strings.Builder
	for line := range strings.Lines(text) {
		if strings.TrimSpace(line) == "…" {
			pattern.WriteString(`(?:.*\n)+?`)
		} else {
			pattern.WriteString(regexp.QuoteMeta(line))
		}
	}
	return regexp.MustCompile(`^` + pattern.String() + `$`)
}

func contents(t *testing.T, file string) []byte {
	t.Helper()
	b, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	return b
}

func TestShortenedTextsMatchWhatTheyLeaveOutAndNothingElse(t *testing.T) {
	for text, want := range map[string]bool{
		"a\nb\nc\n": true, "a\n…\nc\n": true, "…\nc\n": true, "a\n…\n": true,
		"a\nc\n": false, "a\nb\n…\nc\n": false, "b\n…\n": false, "a\nb\nc\n…\n": false, "": false,
	} {
		if shortened(text).MatchString("a\nb\nc\n") != want {
			t.Errorf("%q: want %v", text, want)
		}
	}
}
