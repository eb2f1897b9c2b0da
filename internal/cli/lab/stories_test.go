package lab

import (
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"ringleader.example/ringleader/catalogue/all"
	"ringleader.example/ringleader/internal/show/lab"
)

// storiesOf returns the stories that a lab answers, by name.
func storiesOf(t *testing.T, l *laboratory) (names []string, stories []*lab.Story) {
	t.Helper()
	text, err := l.Ask(t.Context(), "stories", []byte("{}"), func(string) {})
	if err != nil {
		t.Fatal(err)
	}
	if err := json.Unmarshal(text, &stories); err != nil {
		t.Fatal(err)
	}
	for _, s := range stories {
		names = append(names, s.Name)
	}
	return names, stories
}

func TestEveryStoryRunsAndItsStopsAreInTheOrderOfTheRun(t *testing.T) {
	if testing.Short() {
		t.Skip("it only computes")
	}
	names, stories := storiesOf(t, newLab("ringleader", all.Algorithms))
	if len(names) < 7 {
		t.Errorf("the stories are %s", names)
	}
	for _, s := range stories {
		for _, c := range s.Chapters {
			last := 0
			for _, stop := range c.Stops {
				if stop.Step < last {
					t.Errorf("%s: %s is step %d, after step %d", s.Name, stop.Moment, stop.Step, last)
				}
				last = stop.Step
			}
			if last == 0 {
				t.Errorf("%s: nothing happens in %s", s.Name, c.Title)
			}
		}
	}
}

func TestOwnStoriesComeAfterThoseOfTheProgram(t *testing.T) {
	if testing.Short() {
		t.Skip("it only computes")
	}
	const good = "---\ntitle: T\n---\n# One\n```\nringleader run lcr --n 3\n```\n## LEADER\nx\n"
	l := newLab("ringleader", all.Algorithms)
	own, _ := storiesOf(t, l)
	dir := t.TempDir()
	put := func(name, text string) {
		t.Helper()
		if err := os.WriteFile(filepath.Join(dir, name), []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	put("mine.md", good)
	if err := l.add(dir); err != nil {
		t.Fatal(err)
	}
	if names, _ := storiesOf(t, l); len(names) != len(own)+1 || names[len(own)] != "mine" {
		t.Errorf("the stories are %s", names)
	}
	for _, c := range [][3]string{
		{"mine.md", strings.Replace(good, "LEADER", "9 initiates", 1), "mine.md:8: the run has no such moment"},
		{"mine.md", strings.Replace(good, "lcr", "lcx", 1), `mine.md:4: unknown algorithm "lcx"`},
		{"mine.md", strings.Replace(good, "--n 3", "--n 3 --draw x.svg", 1), "mine.md:4: this is no run"},
		{"mine.md", "title: T\n", "mine.md:1: a story begins with"},
		{own[0] + ".md", good, "ringleader has a story " + own[0]},
	} {
		dir = t.TempDir()
		put(c[0], c[1])
		if err := l.add(dir); err == nil || !strings.Contains(err.Error(), c[2]) {
			t.Errorf("%s: error %v, want %q", c[0], err, c[2])
		}
	}
	if err := l.add(t.TempDir()); err == nil || !strings.Contains(err.Error(), "no file that ends in .md") {
		t.Errorf("error %v", err)
	}
	if err := l.add(filepath.Join(dir, "none")); err == nil || !strings.Contains(err.Error(), "cannot read") {
		t.Errorf("error %v", err)
	}
}

// A story that the page about the lab shows has a run, and each of its stops is a moment of it.
func TestTheStoriesOfThePageAboutTheLabRun(t *testing.T) {
	page, err := os.ReadFile("../../../docs/11-lab.md")
	if err != nil {
		t.Fatal(err)
	}
	stories := strings.Split(string(page), "````markdown\n")[1:]
	if len(stories) < 2 {
		t.Fatalf("the page has %d stories", len(stories))
	}
	dir := t.TempDir()
	for i, text := range stories {
		text, _, _ := strings.Cut(text, "````\n")
		if err := os.WriteFile(filepath.Join(dir, fmt.Sprintf("page-%d.md", i)), []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	if err := newLab("ringleader", all.Algorithms).add(dir); err != nil {
		t.Error(err)
	}
}
