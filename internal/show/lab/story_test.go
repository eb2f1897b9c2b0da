package lab_test

import (
	"fmt"
	"io/fs"
	"os"
	"slices"
	"strings"
	"sync"
	"testing"
	"testing/fstest"

	"ringleader.example/ringleader/catalogue/all"
	"ringleader.example/ringleader/election"
	"ringleader.example/ringleader/internal/show/lab"
	"ringleader.example/ringleader/network"
	"ringleader.example/ringleader/simulate"
	"ringleader.example/ringleader/trace"
)

// story returns the text of a story with these chapters.
func story(chapters string) string {
	return "---\ntitle: T\nsource: S\nabout: A\n---\n" + chapters
}

const chapter = "# One\n\n```\nringleader run lcr --ids 3,1,2\n```\n\n"

// record makes the run of LCR on the ring 3, 1, 2.
var record = sync.OnceValues(func() (*trace.Record, error) {
	lcr, err := all.Algorithms.Find("lcr")
	if err != nil {
		return nil, err
	}
	r, err := lcr.Simulate(simulate.Options{Record: true, Setup: network.On(3, 1, 2)})
	if err != nil {
		return nil, err
	}
	return r.Record, nil
})

// ring returns the record of LCR on the ring 3, 1, 2.
func ring(t *testing.T) *trace.Record {
	t.Helper()
	r, err := record()
	if err != nil {
		t.Fatal(err)
	}
	return r
}

func TestAStoryIsReadFromItsFile(t *testing.T) {
	text := story(chapter + "## start\nFirst *line*,\nsecond.\n\nNext.\n\n\n## end\r\nLast.\r\n\n# Two\n```json\n" +
		`{"ringleader":"1.0","run":["bully","--n=2"],"choices":[{"what":"start"}]}` + "\n```\n## LEADER\nL\n")
	s, err := lab.ParseStory("folder/my-story.md", text)
	if err != nil {
		t.Fatal(err)
	}
	got := fmt.Sprintf("%s|%s|%s|%s", s.Name, s.Title, s.Source, s.About)
	for _, c := range s.Chapters {
		got += fmt.Sprintf("\n%s %q %s", c.Title, c.Run.Run, c.Run.Choices)
		for _, stop := range c.Stops {
			got += fmt.Sprintf("\n  %s %q", stop.Moment, stop.Text)
		}
	}
	want := `my-story|T|S|A
One ["lcr" "--ids=3,1,2"] 
  start ["First *line*, second." "Next."]
  end ["Last."]
Two ["bully" "--n=2"] [{"what":"start"}]
  LEADER ["L"]`
	if got != want {
		t.Errorf("got\n%s\nwant\n%s", got, want)
	}
}

func TestTheRunOfAChapterIsACommand(t *testing.T) {
	for command, want := range map[string]string{
		"ringleader run lcr --n 5":                         `["lcr" "--n=5"]`,
		"$ ringleader run lcr --n=5 --order=random":        `["lcr" "--n=5" "--order=random"]`,
		"mine run lcr --n 5 \\\n  --seed 2":                `["lcr" "--n=5" "--seed=2"]`,
		`x run bully --n 3 --fault "crash 3 at 5" --lazy`:  `["bully" "--n=3" "--fault=crash 3 at 5" "--lazy=true"]`,
		"x run bully --lazy --n 3 --fault='dead 3'":        `["bully" "--lazy=true" "--n=3" "--fault=dead 3"]`,
		"x run bully --n 3 --fault ''":                     `["bully" "--n=3" "--fault="]`,
		"x run odd-pair --n 3 --param a=1,b=2 --param c=3": `["odd-pair" "--n=3" "--param=a=1,b=2" "--param=c=3"]`,
	} {
		s, err := lab.ParseStory("s.md", story("# One\n```\n"+command+"\n```\n## end\nx\n"))
		if err != nil {
			t.Errorf("%s: %v", command, err)
		} else if got := fmt.Sprintf("%q", s.Chapters[0].Run.Run); got != want {
			t.Errorf("%s is %s, want %s", command, got, want)
		}
	}
}

func TestWhatIsNoStoryIsAnErrorWithItsLine(t *testing.T) {
	for _, c := range []struct{ text, want string }{
		{"", "s.md:1: a story begins with a line ---"},
		{"# One\n", "s.md:1: a story begins with a line ---"},
		{"---\ntitle: T\n", "there is no line --- after"},
		{"---\n---\n", "s.md:2: the story has no title"},
		{"---\ntitle: T\ntitle: U\n---\n", "s.md:3: a second title"},
		{"---\ntitle:\n---\n", "s.md:2: title has no value"},
		{"---\nname: T\n---\n", `s.md:2: "name: T" is none of title`},
		{story(""), "the story has no chapter"},
		{story("hello\n"), `s.md:6: "hello" belongs to no stop`},
		{story("## end\n"), "s.md:6: a stop before the first chapter"},
		{story("# One\n## end\nx\n"), "s.md:7: the chapter has no run"},
		{story("# One\n```\nringleader run lcr --n 3\n"), "there is no ``` after the run"},
		{story("# One\n```\nringleader run\n```\n"), "s.md:9: \"ringleader run\" is not a run"},
		{story("# One\n```\nringleader verify lcr --n 3\n```\n"), "is not a run"},
		{story("# One\n```\nringleader run --n 3\n```\n"), "is not a run"},
		{story("# One\n```\nringleader run lcr 5\n```\n"), `"5" is not a flag`},
		{story("# One\n```\nringleader run lcr --n 3\n--seed 4\n```\n"), "a line that goes on ends in \\"},
		{story("# One\n```\nringleader run lcr --fault 'x\n```\n"), "there is no second '"},
		{story("# One\n```\n{\"run\":[]}\n```\n"), `one object, with a "run"`},
		{story("# One\n```\n{\"run\":[\"lcr\"],\"x\":1}\n```\n"), `unknown field "x"`},
		{story("# One\n```\n{\"run\":[\"lcr\"]} {}\n```\n"), "one object"},
		{story(chapter + "```\nringleader run lcr --n 3\n```\n"), "s.md:12: a second run"},
		{story(chapter + "## end\nx\n```\n"), "a run stands after the title of a chapter"},
		{story("```\nringleader run lcr --n 3\n```\n"), "a run stands after the title of a chapter"},
		{story(chapter), "the chapter of line 6 has no stop"},
		{story(chapter + "# Two\n"), "the chapter of line 6 has no stop"},
		{story(chapter + "## end\n"), "the stop of line 12 has no text"},
		{story(chapter + "##\n"), "s.md:12: a heading without a text"},
		{story(chapter + "### end\n"), "there are no smaller headings"},
		{story(chapter + "## step x\n"), "s.md:12: one number follows step"},
		{story(chapter + "## time\n"), "one number follows time"},
		{story(chapter + "## start now\n"), "nothing follows the word start"},
		{story(chapter + "## message 3 comes\n"), "message 3 arrives"},
		{story(chapter + "## end\n- a list\n"), "s.md:13: the text of a stop is paragraphs"},
		{story(chapter + "## end\n<b>x</b>\n"), "no lists, quotes, tables or HTML"},
		{story(chapter + "## end\n\xff\n"), "not text in UTF-8"},
		{story(chapter + "## end\n" + strings.Repeat("x", 256<<10)), "a story has at most"},
		{story(chapter + strings.Repeat("## step 1\nx\n", 501)), "at most 500 stops"},
	} {
		if s, err := lab.ParseStory("s.md", c.text); err == nil || !strings.Contains(err.Error(), c.want) {
			t.Errorf("%.80q: %v, %v; want %q", c.text, s, err, c.want)
		}
	}
}

// The run of a story on the ring 3, 1, 2 has these moments.
func TestMomentsAreSteps(t *testing.T) {
	for _, c := range []struct {
		stops string
		want  []int
	}{
		{"start", []int{0}},
		{"start, end", []int{0, 11}},
		{"LEADER, end", []int{11, 11}},
		{"step 1, step 11", []int{1, 11}},
		{"time 0, time 1, time 6", []int{3, 6, 11}},
		{"time 99", []int{11}},
		{"message 1 is sent, message 1 arrives", []int{1, 4}},
		{"message 2 arrives", []int{5}},
		{"3 receives election 2", []int{6}},
		{"3 receives election from 2, 3 receives ⟨election⟩ from 2", []int{6, 8}},
		{"2 no action", []int{5}},
		{"follower, follower, LEADER", []int{9, 10, 11}},
		{"2 follower of 3", []int{10}},
		{"3 initiates", []int{1}},
		{"start, 1 initiates", []int{0, 2}},
	} {
		text := ""
		for moment := range strings.SplitSeq(c.stops, ", ") {
			text += "## " + moment + "\nx\n"
		}
		s, err := lab.ParseStory("s.md", story(chapter+text))
		if err == nil {
			err = s.Place(func(lab.Scenario) (*trace.Record, error) { return ring(t), nil })
		}
		if err != nil {
			t.Errorf("%s: %v", c.stops, err)
			continue
		}
		var got []int
		for _, stop := range s.Chapters[0].Stops {
			got = append(got, stop.Step)
		}
		if fmt.Sprint(got) != fmt.Sprint(c.want) {
			t.Errorf("%s are the steps %v, want %v", c.stops, got, c.want)
		}
	}
}

func TestAMomentThatTheRunDoesNotHaveIsAnErrorWithItsLine(t *testing.T) {
	for _, c := range []struct{ stops, want string }{
		{"4 initiates", `s.md:12: the run has no such moment: "4 initiates"`},
		{"3 initiates from 1", "no such moment"},
		{"election receives", "no such moment"},
		{"step 12", "no such moment"},
		{"end, start", `s.md:14: the run has no such moment after step 11, where the stop before is: "start"`},
		{"start, start", "no such moment"},
		{"step 5, step 5", "no such moment after step 5"},
		{"LEADER, follower", "no such moment after step 11"},
		{"time 1, time 1", "no such moment after step 6"},
		{"message 9 arrives", "no such moment"},
		{"message 1 is lost", "no such moment"},
	} {
		text := ""
		for moment := range strings.SplitSeq(c.stops, ", ") {
			text += "## " + moment + "\nx\n"
		}
		s, err := lab.ParseStory("s.md", story(chapter+text))
		if err != nil {
			t.Fatal(err)
		}
		err = s.Place(func(lab.Scenario) (*trace.Record, error) { return ring(t), nil })
		if err == nil || !strings.Contains(err.Error(), c.want) {
			t.Errorf("%s: %v, want %q", c.stops, err, c.want)
		}
	}
}

func TestARunWithoutAClockHasNoTimes(t *testing.T) {
	s, err := lab.ParseStory("s.md", story(chapter+"## time 1\nx\n"))
	if err != nil {
		t.Fatal(err)
	}
	timeless := *ring(t)
	timeless.Clock, timeless.Steps = false, slices.Clone(timeless.Steps)
	for i := range timeless.Steps {
		timeless.Steps[i].Time = election.Ticks{}
	}
	if err := s.Place(func(lab.Scenario) (*trace.Record, error) { return &timeless, nil }); err == nil || !strings.Contains(err.Error(), "no such moment") {
		t.Errorf("error %v", err)
	}
}

func TestStoriesOfAFolderAreReadInTheOrderOfTheirNames(t *testing.T) {
	good := &fstest.MapFile{Data: []byte(story(chapter + "## end\nx\n"))}
	stories, err := lab.ReadStories(fstest.MapFS{"b.md": good, "a.md": good, "notes.txt": good, "more/c.md": good})
	if err != nil {
		t.Fatal(err)
	}
	var names []string
	for _, s := range stories {
		names = append(names, s.Name)
	}
	if fmt.Sprint(names) != "[a b]" {
		t.Errorf("read %v", names)
	}
	bad := fstest.MapFS{"a.md": good, "b.md": {Data: []byte("x")}}
	if _, err := lab.ReadStories(bad); err == nil || !strings.Contains(err.Error(), "b.md:1: ") {
		t.Errorf("error %v", err)
	}
	if _, err := lab.ReadStories(fstest.MapFS{"a.md": {Data: make([]byte, 1<<20)}}); err == nil || !strings.Contains(err.Error(), "at most") {
		t.Errorf("error %v", err)
	}
	if _, err := lab.ReadStories(fstest.MapFS{"a.md": {Mode: fs.ModeDir}}); err == nil || !strings.Contains(err.Error(), "a.md is not a file") {
		t.Errorf("error %v", err)
	}
	many := fstest.MapFS{}
	for i := range 201 {
		many[fmt.Sprintf("%d.md", i)] = good
	}
	if _, err := lab.ReadStories(many); err == nil || !strings.Contains(err.Error(), "at most 200 are read") {
		t.Errorf("error %v", err)
	}
}

// The story that the page about the lab shows is one.
func TestTheStoryOfTheDocsIsAStory(t *testing.T) {
	page, err := os.ReadFile("../../../docs/11-lab.md")
	if err != nil {
		t.Fatal(err)
	}
	_, text, _ := strings.Cut(string(page), "````markdown\n")
	text, _, found := strings.Cut(text, "````\n")
	if !found {
		t.Fatal("docs/11-lab.md shows no story")
	}
	s, err := lab.ParseStory("three.md", text)
	if err != nil {
		t.Fatal(err)
	}
	if run := fmt.Sprint(s.Chapters[0].Run.Run); run != "[lcr --ids=3,1,2]" {
		t.Errorf("its run is %s", run)
	}
	if err := s.Place(func(lab.Scenario) (*trace.Record, error) { return ring(t), nil }); err != nil {
		t.Error(err)
	}
}

func FuzzAStoryIsReadOrRefusedWithItsLine(f *testing.F) {
	for _, name := range []string{"1-swallowing.md", "5-timing.md"} {
		text, err := fs.ReadFile(lab.Stories(), name)
		if err != nil {
			f.Fatal(err)
		}
		f.Add(string(text))
	}
	f.Add(story(chapter + "## message 7 is sent\n*a* `b`\n\nc\n"))
	f.Add(story("# One\n```\n{\"run\":[\"lcr\",\"--n=3\"]}\n```\n## 3 receives\nx\n"))
	f.Fuzz(func(t *testing.T, text string) {
		s, err := lab.ParseStory("s.md", text)
		if err != nil {
			if message := err.Error(); !strings.HasPrefix(message, "s.md") || strings.Contains(message, "\n") {
				t.Errorf("error %q", message)
			}
			return
		}
		if s.Title == "" || len(s.Chapters) == 0 {
			t.Errorf("%+v", s)
		}
		for _, c := range s.Chapters {
			if len(c.Run.Run) == 0 || len(c.Stops) == 0 {
				t.Errorf("%+v", c)
			}
			for _, stop := range c.Stops {
				if stop.Moment == "" || len(stop.Text) == 0 {
					t.Errorf("%+v", stop)
				}
			}
		}
		_ = s.Place(func(lab.Scenario) (*trace.Record, error) { return ring(t), nil }) // an error at most
	})
}
