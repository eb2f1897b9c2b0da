package cli_test

import (
	"bytes"
	"flag"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"ringleader.example/ringleader/internal/cli/clitest"
	"ringleader.example/ringleader/internal/study/gallery"
)

//go:generate go test -run TestPagesShowWhatIsPrinted|TestThePageOfResultsIsMadeOfThem . -update

var update = flag.Bool("update", false, "write into the pages what their commands print")

// costly are commands of pages that take half a second of a core or more. Without -long or -update a test runs cheaper ones in their place, and
// compares what these print with the page.
var costly = map[string]struct {
	call func() string // not a variable: each process that a test starts would make all exhibits
	as   func(t *testing.T, printed, page string)
}{
	"verify --gallery":         {func() string { return "verify --gallery " + strings.Join(quickExhibits(), " ") }, partsOf},
	"count lcr --n 1000000000": {func() string { return "count lcr --n 1000000" }, alikeButForNumbers},
	"verify bully --n 4 --crash 1 --recover 1 --param bullying=no --start every-set --shrink": {func() string {
		return "verify bully --n 3 --crash 1 --recover 1 --param bullying=no --start every-set --shrink"
	}, alikeButForNumbers},
	"verify bully --n 3 --crash 1 --recover 1": {func() string { return "verify bully --n 2 --crash 1 --recover 1" }, alikeButForNumbers},
	"verify hirschberg-sinclair --n 4":         {func() string { return "verify hirschberg-sinclair --n 3" }, alikeButForNumbers},
	"verify hirschberg-sinclair --n 7 --start all --reduce confluence": {func() string {
		return "verify hirschberg-sinclair --n 5 --start all --reduce confluence"
	}, alikeButForNumbers},
}

// quickExhibits are the names of the gallery without the eight whose search takes a third of a second or more.
func quickExhibits() (names []string) {
	long := []string{
		"quorum-bully-fast-clocks", "quorum-bully-lower-renewal", "quorum-bully-early-reading", "quorum-bully-arrival-counts", "quorum-bully-short-wait",
		"quorum-bully-nameless-death", "quorum-bully-term-again", "quorum-bully-own-grant",
	}
	for _, x := range gallery.All() {
		if !slices.Contains(long, x.Name) {
			names = append(names, x.Name)
		}
	}
	return names
}

// partsOf fails if the page does not have each exhibit of an output, and a last line like its.
func partsOf(t *testing.T, printed, page string) {
	t.Helper()
	printed, last, _ := strings.Cut(printed, "\n\n")
	_, lastOfAll, _ := strings.Cut(page, "\n\n")
	alikeButForNumbers(t, last, lastOfAll)
	if strings.Contains(page, " · missed") {
		t.Error("the page has an exhibit that is not caught")
	}
	parts := 0
	for part := range strings.SplitSeq(regexp.MustCompile(`(?m)^\S+ · `).ReplaceAllString(printed, "\x00$0"), "\x00") {
		if parts++; !strings.Contains(page, part) {
			t.Errorf("the page lacks\n%s", part)
		}
	}
	if want := len(quickExhibits()); parts <= want {
		t.Errorf("%d parts, want more than %d:\n%s", parts, want, printed)
	}
}

// alikeButForNumbers fails if a text differs from that of the page in more than numbers.
func alikeButForNumbers(t *testing.T, printed, page string) {
	t.Helper()
	number := regexp.MustCompile(`[0-9][0-9.e+]*`)
	if !shortened(number.ReplaceAllString(page, "0")).MatchString(number.ReplaceAllString(printed, "0")) {
		t.Errorf("a smaller one prints\n%sand the page says\n%s", printed, page)
	}
}

// shown is a command of a page and what it prints: in a block, or, if that is Markdown, between comments.
var shown = regexp.MustCompile("(?s)(```console\n|<!-- )\\$ ringleader ([^\n]*?)( -->)?\n(.*?)(```|<!-- end -->)")

// Whatever a page shows a command to print, it prints, and what it draws is the drawing that the page shows.
// A line of … stands for lines that are left out.
func TestPagesShowWhatIsPrinted(t *testing.T) {
	if testing.Short() {
		t.Skip("it only computes, for ten seconds")
	}
	const docs, readme, sources = "../../docs", "../../README.md", "../../docs/sources.md"
	pages, err := filepath.Glob(docs + "/[2-9]-*.md") // page 1 is a module of its own, which internal/repotest runs
	later, _ := filepath.Glob(docs + "/1[0-9]-*.md")
	if err != nil || len(pages) < 8 || len(later) < 2 {
		t.Fatalf("%d pages: %v", len(pages), err)
	}
	for _, file := range slices.Concat(pages, later, []string{readme, sources}) {
		t.Run(filepath.Base(file), func(t *testing.T) {
			old := clitest.Contents(t, file)
			page, ran, drawn := printed(t, string(old))
			if blocks := strings.Count(page, "```console\n"); ran < blocks && file != readme || ran < 3 && file != sources || ran == 0 {
				t.Errorf("%d commands show what they print, in %d blocks", ran, blocks)
			}
			if *update && page != string(old) {
				if err := os.WriteFile(file, []byte(page), 0o644); err != nil {
					t.Fatal(err)
				}
			}
			for _, drawing := range drawn {
				if !bytes.Equal(clitest.Contents(t, drawing), clitest.Contents(t, filepath.Join(docs, filepath.Base(drawing)))) {
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
		if want == "" && part[3] == "" || strings.HasPrefix(want, "$ ") || strings.HasPrefix(command, "join ") {
			return block // nothing is shown
		}
		ran++
		if c, is := costly[command]; is && !*long && !*update {
			_, stdout, stderr := clitest.Call(clitest.Arguments(c.call())...)
			c.as(t, stdout+stderr, want)
			return block
		}
		_, stdout, stderr := clitest.Call(clitest.Arguments(command)...)
		out := stdout + stderr
		if shortened(want).MatchString(out) {
			return block
		}
		if !*update {
			t.Errorf("ringleader %s prints\n%swhere the page says\n%s", command, out, want)
		}
		return part[1] + "$ ringleader " + command + part[3] + "\n" + likewise(out, want) + part[5]
	})
	t.Chdir(home)
	written, err = filepath.Glob(filepath.Join(dir, "*.*")) // no directories
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

// likewise shortens an output as an older one was: it finds the lines of the older one that were shown among the new
// lines, by their likeness, and leaves out what was left out between them.
func likewise(out, old string) string {
	var shown []string
	var cut []bool // before each line that was shown, and at the end
	left := false
	for line := range strings.Lines(old) {
		if strings.TrimSpace(line) == "…" {
			left = true
			continue
		}
		shown, cut, left = append(shown, line), append(cut, left), false
	}
	cut = append(cut, left)
	if !slices.Contains(cut, true) {
		return out
	}
	lines := slices.Collect(strings.Lines(out))
	n, m := len(shown), len(lines)
	best := make([][]int, n+1) // the most likeness of lines shown from i on to lines from j on
	for i := range best {
		best[i] = make([]int, m+1)
	}
	for i := n - 1; i >= 0; i-- {
		for j := m - 1; j >= 0; j-- {
			best[i][j] = max(best[i+1][j], best[i][j+1], best[i+1][j+1]+likeness(shown[i], lines[j]))
		}
	}
	var b strings.Builder
	next := 0
	gap := func(to int, leave bool) {
		if leave && to > next {
			b.WriteString("…\n")
		} else {
			b.WriteString(strings.Join(lines[next:to], ""))
		}
		next = to
	}
	leave := false
	for i, j := 0, 0; i < n && j < m; {
		switch best[i][j] {
		case best[i][j+1]:
			j++
		case best[i+1][j]:
			leave = leave || cut[i]
			i++
		default:
			gap(j, cut[i] || leave)
			b.WriteString(lines[j])
			next, i, j, leave = j+1, i+1, j+1, false
		}
	}
	gap(m, cut[n] || leave)
	return b.String()
}

// likeness is large for lines that are equal, and more than half of that for lines that have most words in common.
func likeness(a, b string) int {
	if a == b {
		return 1000
	}
	words := map[string]int{}
	for word := range strings.FieldsSeq(a) {
		words[word]++
	}
	common, all := 0, max(1, len(strings.Fields(a)), len(strings.Fields(b)))
	for word := range strings.FieldsSeq(b) {
		if words[word] > 0 {
			words[word]--
			common++
		}
	}
	return 1 + 900*common*common/(all*all)
}

func TestANewOutputIsShortenedAsTheOldOneWas(t *testing.T) {
	for _, c := range [][3]string{
		{"a 1\nb 2\nc 3\n", "a 1\n…\nc 4\n", "a 1\n…\nc 3\n"},
		{"a 1\nb 2\nc 3\n", "a 1\nb 9\nc 3\n", "a 1\nb 2\nc 3\n"},
		{"x\na 1\nnew\nb 2 2\nc 3\nd\n", "…\na 1\nb 2 3\n…\n", "…\na 1\nnew\nb 2 2\n…\n"},
	} {
		if got := likewise(c[0], c[1]); got != c[2] {
			t.Errorf("%q like %q is %q, not %q", c[0], c[1], got, c[2])
		}
	}
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
