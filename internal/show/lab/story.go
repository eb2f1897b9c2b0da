package lab

import (
	"embed"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"path"
	"strings"
	"unicode/utf8"
)

// Story is a guided story: runs, and the moments at which a reader stops. docs/11-lab.md describes its file.
type Story struct {
	Name     string    `json:"name"` // of the file, without .md
	Title    string    `json:"title"`
	Source   string    `json:"source"`
	About    string    `json:"about"`
	Chapters []Chapter `json:"chapters"`
}

// Chapter is a run, and its stops in the order of the run.
type Chapter struct {
	Title string   `json:"title"`
	Run   Scenario `json:"run"`
	Stops []Stop   `json:"stops"`
	line  int
}

// Scenario is a run as a saved file has it.
type Scenario struct {
	Run     []string        `json:"run"`               // the algorithm, and flags as --name=value
	Choices json.RawMessage `json:"choices,omitempty"` // the events of a walk
}

// Stop is a moment of a run, and what the story has to tell about it.
type Stop struct {
	Moment string   `json:"moment"`
	Step   int      `json:"step"` // the last step that has happened; 0 until [Story.Place] finds it
	Text   []string `json:"text"` // paragraphs
	line   int
}

//go:embed stories/*.md
var embedded embed.FS

// Stories returns the files of the stories that come with the program.
func Stories() fs.FS {
	files, err := fs.Sub(embedded, "stories")
	if err != nil {
		panic(err) // the name is a constant
	}
	return files
}

// The limits of stories.
const (
	mostStories   = 200
	mostStory     = 256 << 10 // bytes
	mostStopCount = 500
)

// ReadStories reads the stories of a folder: all files that end in .md, by name. An error names the file and the line.
func ReadStories(files fs.FS) ([]*Story, error) {
	names, err := fs.Glob(files, "*.md")
	if err != nil {
		return nil, err
	}
	if len(names) > mostStories {
		return nil, fmt.Errorf("there are %d stories; at most %d are read", len(names), mostStories)
	}
	stories := make([]*Story, len(names))
	for i, name := range names {
		text, err := readStory(files, name)
		if err != nil {
			return nil, err
		}
		if stories[i], err = ParseStory(name, text); err != nil {
			return nil, err
		}
	}
	return stories, nil
}

// readStory reads a file, as far as a story may go.
func readStory(files fs.FS, name string) (string, error) {
	file, err := files.Open(name)
	if err != nil {
		return "", err
	}
	defer file.Close()
	if about, err := file.Stat(); err != nil || !about.Mode().IsRegular() {
		return "", errors.Join(fmt.Errorf("%s is not a file", name), err)
	}
	text, err := io.ReadAll(io.LimitReader(file, mostStory+1))
	return string(text), err
}

// ParseStory reads the story in the text of a file. The error names the file and the line.
func ParseStory(file, text string) (*Story, error) {
	p := storyParser{file: file, lines: strings.Split(strings.ReplaceAll(text, "\r\n", "\n"), "\n")}
	switch {
	case len(text) > mostStory:
		return nil, fmt.Errorf("%s is too long; a story has at most %d KiB", file, mostStory>>10)
	case !utf8.ValidString(text):
		return nil, fmt.Errorf("%s is not text in UTF-8", file)
	}
	if err := p.parse(); err != nil {
		return nil, fmt.Errorf("%s:%d: %w", file, p.at, err)
	}
	p.story.Name = strings.TrimSuffix(path.Base(file), ".md")
	return &p.story, nil
}

// storyParser reads a story line by line.
type storyParser struct {
	file  string
	lines []string
	at    int // the number of the last line that was read, from 1
	stops int
	story Story
}

// next returns the next line, without spaces at its end. There is none after the last.
func (p *storyParser) next() (line string, more bool) {
	if p.at == len(p.lines) {
		return "", false
	}
	p.at++
	return strings.TrimRight(p.lines[p.at-1], " \t"), true
}

func (p *storyParser) parse() error {
	if err := p.front(); err != nil {
		return err
	}
	for {
		line, more := p.next()
		if !more {
			return p.complete()
		}
		if err := p.line(line); err != nil {
			return err
		}
	}
}

// front reads the lines between --- and ---: name: value.
func (p *storyParser) front() error {
	const fields = "title: …, source: … and about: …"
	if line, _ := p.next(); line != "---" {
		return errors.New("a story begins with a line ---, then " + fields + ", then ---")
	}
	values := map[string]*string{"title": &p.story.Title, "source": &p.story.Source, "about": &p.story.About}
	for {
		line, more := p.next()
		name, value, found := strings.Cut(line, ":")
		to := values[name]
		value = strings.TrimSpace(value)
		switch {
		case !more:
			return errors.New("there is no line --- after " + fields)
		case line == "---" && p.story.Title == "":
			return errors.New("the story has no title: …")
		case line == "---":
			return nil
		case line == "":
		case !found || to == nil:
			return fmt.Errorf("%s is none of %s", excerpt(line), fields)
		case *to != "":
			return fmt.Errorf("a second %s", name)
		case value == "":
			return fmt.Errorf("%s has no value", name)
		default:
			*to = value
		}
	}
}

// line reads a line of a chapter.
func (p *storyParser) line(line string) error {
	if strings.HasPrefix(line, "```") {
		return p.scenario(line)
	}
	marks := len(line) - len(strings.TrimLeft(line, "#"))
	heading := strings.TrimSpace(line[marks:])
	switch {
	case marks > 2:
		return errors.New("a chapter begins with # and a stop with ##; there are no smaller headings")
	case marks > 0 && heading == "":
		return errors.New("a heading without a text")
	case marks == 1:
		if err := p.complete(); err != nil && len(p.story.Chapters) > 0 {
			return err
		}
		p.story.Chapters = append(p.story.Chapters, Chapter{Title: heading, line: p.at})
		return nil
	case marks == 2:
		return p.stop(heading)
	}
	return p.text(line)
}

// chapter returns the chapter that is being read, or nil.
func (p *storyParser) chapter() *Chapter {
	if len(p.story.Chapters) == 0 {
		return nil
	}
	return &p.story.Chapters[len(p.story.Chapters)-1]
}

// stop begins a stop.
func (p *storyParser) stop(moment string) error {
	c := p.chapter()
	switch p.stops++; {
	case c == nil:
		return errors.New("a stop before the first chapter: # and its title")
	case c.Run.Run == nil:
		return errors.New("the chapter has no run before its first stop; put a line between ``` and ```: ringleader run lcr --ids 3,1,2")
	case p.stops > mostStopCount:
		return fmt.Errorf("a story has at most %d stops", mostStopCount)
	}
	if _, err := momentOf(moment); err != nil {
		return err
	}
	c.Stops = append(c.Stops, Stop{Moment: moment, line: p.at})
	return nil
}

// text adds a line of a paragraph to the last stop. An empty line ends a paragraph.
func (p *storyParser) text(line string) error {
	c := p.chapter()
	if c == nil || len(c.Stops) == 0 {
		if line == "" {
			return nil
		}
		return fmt.Errorf("%s belongs to no stop; a stop begins with ## and its moment", excerpt(line))
	}
	s := &c.Stops[len(c.Stops)-1]
	before := p.lines[p.at-2]
	switch first, _, _ := strings.Cut(strings.TrimSpace(line), " "); {
	case first == "":
		return nil
	case first == "-" || first == "*" || first == "+" || first == ">" || first == "1." || strings.HasPrefix(first, "|") || strings.HasPrefix(first, "<"):
		return errors.New("the text of a stop is paragraphs, with *emphasis*, `code` and [links](#/costs) to other views; no lists, quotes, tables or HTML")
	}
	line = strings.TrimSpace(line)
	if strings.TrimSpace(before) == "" || len(s.Text) == 0 {
		s.Text = append(s.Text, line)
	} else {
		s.Text[len(s.Text)-1] += " " + line
	}
	return nil
}

// complete returns an error if the last chapter lacks something.
func (p *storyParser) complete() error {
	c := p.chapter()
	switch {
	case c == nil:
		return errors.New("the story has no chapter: # and its title")
	case len(c.Stops) == 0:
		return fmt.Errorf("the chapter of line %d has no stop: ## and its moment", c.line)
	}
	for _, s := range c.Stops {
		if len(s.Text) == 0 {
			return fmt.Errorf("the stop of line %d has no text", s.line)
		}
	}
	return nil
}

// scenario reads the run of a chapter, between ``` and ```.
func (p *storyParser) scenario(opening string) error {
	c := p.chapter()
	switch {
	case c == nil || len(c.Stops) > 0:
		return errors.New("a run stands after the title of a chapter, before its first stop")
	case c.Run.Run != nil:
		return errors.New("a second run; a chapter has one")
	case strings.Contains(opening[3:], "`"):
		return errors.New("a run stands on lines of its own between ``` and ```")
	}
	var lines []string
	for {
		line, more := p.next()
		if !more {
			return errors.New("there is no ``` after the run")
		}
		if line == "```" {
			break
		}
		lines = append(lines, line)
	}
	var err error
	if text := strings.TrimSpace(strings.Join(lines, "\n")); strings.HasPrefix(text, "{") {
		c.Run, err = savedScenario(text)
	} else {
		c.Run.Run, err = commandWords(text)
	}
	return err
}

// savedScenario reads a run as run --save writes it.
func savedScenario(text string) (Scenario, error) {
	var saved struct {
		Ringleader string `json:"ringleader"`
		Scenario
	}
	decoder := json.NewDecoder(strings.NewReader(text))
	decoder.DisallowUnknownFields()
	if err := decoder.Decode(&saved); err != nil {
		return Scenario{}, fmt.Errorf("the run is not as run --save writes it: %w", err)
	}
	if decoder.More() || len(saved.Run) == 0 {
		return Scenario{}, errors.New("the run is not as run --save writes it: one object, with a \"run\"")
	}
	return saved.Scenario, nil
}

// commandWords reads the command of a run as it is typed in a shell, and returns its words as a saved run has them: the
// algorithm, and flags as --name=value.
func commandWords(text string) ([]string, error) {
	words, err := shellWords(strings.TrimPrefix(text, "$ "))
	switch {
	case err != nil:
		return nil, err
	case len(words) < 3 || words[1] != "run" || strings.HasPrefix(words[2], "-"):
		return nil, fmt.Errorf("%s is not a run; write ringleader run ALGORITHM, then its flags", excerpt(text))
	}
	run := []string{words[2]}
	for rest := words[3:]; len(rest) > 0; {
		flag := rest[0]
		switch {
		case !strings.HasPrefix(flag, "--") || flag == "--":
			return nil, fmt.Errorf("%s is not a flag; a run has one algorithm, then --name value", excerpt(flag))
		case strings.Contains(flag, "="):
			run, rest = append(run, flag), rest[1:]
		case len(rest) > 1 && !strings.HasPrefix(rest[1], "--"):
			run, rest = append(run, flag+"="+rest[1]), rest[2:]
		default: // a flag that is set by its name
			run, rest = append(run, flag+"=true"), rest[1:]
		}
	}
	return run, nil
}

// shellWords splits a command as a shell does: at spaces, except between quotes, and over lines that end in \.
func shellWords(text string) (words []string, err error) {
	var word strings.Builder
	var quote rune
	begun := false
	end := func() {
		if begun {
			words = append(words, word.String())
		}
		word.Reset()
		begun = false
	}
	for _, c := range strings.ReplaceAll(text, "\\\n", " ") {
		switch {
		case quote != 0 && c == quote:
			quote = 0
		case quote != 0:
			word.WriteRune(c)
		case c == '\'' || c == '"':
			quote, begun = c, true
		case c == '\n':
			return nil, errors.New("a run is one command; a line that goes on ends in \\")
		case c == ' ' || c == '\t':
			end()
		default:
			word.WriteRune(c)
			begun = true
		}
	}
	if quote != 0 {
		return nil, fmt.Errorf("there is no second %c", quote)
	}
	end()
	return words, nil
}

// excerpt returns the beginning of a text, quoted.
func excerpt(text string) string { return fmt.Sprintf("%.40q", text) }
