package repotest

import (
	"fmt"
	"os"
	"path"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"
	"unicode"
)

// mostLines is the number of lines that a newcomer reads to the end, for each page that a newcomer is sent to.
var mostLines = map[string]int{"README.md": 220, "DESIGN.md": 220, "CONTRIBUTING.md": 100}

var (
	pageLink = regexp.MustCompile(`\]\(([^)\s]+)\)`)
	aHeading = regexp.MustCompile(`(?m)^#+ (.*)$`)
	codeIn   = regexp.MustCompile("(?s)```.*?```")
	aPath    = regexp.MustCompile("`([a-z.][a-z0-9_./-]*/[a-z0-9_./-]*)`")
)

func TestPagesForNewcomersAreShort(t *testing.T) {
	for name, most := range mostLines {
		if n := strings.Count(read(t, filepath.Join(root, name)), "\n"); n > most {
			t.Errorf("%s has %d lines; at most %d are read to the end", name, n, most)
		}
	}
}

// A reader of DESIGN.md finds each package there, except the parts of a room, which its own comment describes.
func TestDesignNamesEachPackage(t *testing.T) {
	design := read(t, filepath.Join(root, "DESIGN.md"))
	packages := tree(t).packages
	for _, p := range packages {
		inside := slices.ContainsFunc([]string{"./algorithms/", "./internal/runners/", "./examples/", "./internal/repotest/"}, func(folder string) bool { return strings.HasPrefix(p.path, folder) })
		part := strings.HasPrefix(p.path, "./internal/") && strings.Count(p.path, "/") > 3
		if len(p.files) == 0 || inside || part || p.path == "." {
			continue
		}
		if name := regexp.QuoteMeta(path.Base(p.path)); !regexp.MustCompile("[`/]" + name + "/?`").MatchString(design) {
			t.Errorf("DESIGN.md does not name %s", p.path)
		}
	}
}

// The comment of a wing names its rooms, and says which packages import it.
func TestWingsNameTheirRooms(t *testing.T) {
	comments := map[string]string{"core": "doc.go", "serve": "doc.go", "study": "doc.go", "show": "doc.go", "cli": "cli.go"}
	for wing, file := range comments {
		comment, _, _ := strings.Cut(read(t, filepath.Join(root, "internal", wing, file)), "\npackage ")
		if !strings.Contains(comment, " import this wing") {
			t.Errorf("%s/%s does not say which packages import this wing", wing, file)
		}
		for _, p := range tree(t).packages {
			room, inside := strings.CutPrefix(p.path, "./internal/"+wing+"/")
			if inside && !strings.Contains(room, "/") && !regexp.MustCompile(`//.*\b`+room+`\b.*:`).MatchString(comment) {
				t.Errorf("%s/%s does not name %s", wing, file, room)
			}
		}
	}
}

// notPaths are the words of these pages that look like a path.
var notPaths = []string{"js/wasm", "testing/synctest", "text/template"}

// A path in DESIGN.md, CONTRIBUTING.md or a decision is a file or folder of this module.
func TestPagesNamePathsThatExist(t *testing.T) {
	decisions, err := filepath.Glob(filepath.Join(root, "docs", "decisions", "*.md"))
	if err != nil || len(decisions) < 20 {
		t.Fatalf("%d decisions: %v", len(decisions), err)
	}
	for _, page := range append(decisions, filepath.Join(root, "DESIGN.md"), filepath.Join(root, "CONTRIBUTING.md")) {
		for _, found := range aPath.FindAllStringSubmatch(codeIn.ReplaceAllString(read(t, page), ""), -1) {
			if _, err := os.Stat(filepath.Join(root, found[1])); err != nil && !slices.Contains(notPaths, found[1]) {
				t.Errorf("%s names %s, which does not exist", page, found[1])
			}
		}
	}
}

// A link of a page leads to a file of this module, and to a heading that is there.
func TestLinksOfPagesLeadSomewhere(t *testing.T) {
	links := 0
	for _, text := range tree(t).texts {
		if path.Ext(text.name) != ".md" || strings.Contains(text.name, "testdata/") {
			continue
		}
		for _, found := range pageLink.FindAllStringSubmatch(codeIn.ReplaceAllString(string(text.data), ""), -1) {
			if strings.Contains(found[1], "://") || strings.HasPrefix(found[1], "#/") { // elsewhere, or a view of the lab
				continue
			}
			links++
			if problem := follow(text.name, found[1]); problem != "" {
				t.Errorf("%s: the link %s: %s", text.name, found[1], problem)
			}
		}
	}
	if links < 100 {
		t.Errorf("the pages have %d links", links)
	}
}

// follow returns what is wrong with a link of a page, or "".
func follow(page, link string) string {
	file, anchor, anchored := strings.Cut(link, "#")
	target := page
	if file != "" {
		target = path.Join(path.Dir(page), file)
	}
	data, err := os.ReadFile(filepath.Join(root, target))
	switch {
	case err != nil && anchored:
		return err.Error()
	case err != nil:
		if _, err := os.Stat(filepath.Join(root, target)); err != nil {
			return err.Error()
		}
		return ""
	case !anchored || path.Ext(target) != ".md":
		return ""
	}
	if !slices.Contains(anchors(string(data)), anchor) {
		return fmt.Sprintf("%s has no heading #%s", target, anchor)
	}
	return ""
}

// anchors returns the anchors of a page's headings, as GitHub makes them.
func anchors(page string) (all []string) {
	for _, heading := range aHeading.FindAllStringSubmatch(codeIn.ReplaceAllString(page, ""), -1) {
		all = append(all, strings.Map(func(r rune) rune {
			switch {
			case r == ' ':
				return '-'
			case r == '-' || r == '_' || unicode.IsLetter(r) || unicode.IsDigit(r):
				return unicode.ToLower(r)
			}
			return -1
		}, strings.TrimSpace(heading[1])))
	}
	return all
}
