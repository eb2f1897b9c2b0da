package main

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path"
	"path/filepath"
	"slices"
	"strings"

	"golang.org/x/tools/txtar"
)

// bug is one edit that some test must find.
type bug struct {
	name   string // the room and the name of its file, as in storage/no-flush
	what   string // what is wrong with the edit, in words
	file   string // the edited file, from the root of the repository
	before []string
	after  []string
	tests  []tests
}

// tests are the nearest tests of a bug: those of a package that match a pattern of go test -run. The flags are theirs, such as -long.
type tests struct{ folder, pattern, flags string }

func (t tests) String() string { return strings.TrimSpace(t.folder + " " + t.pattern + " " + t.flags) }

// readBugs returns the bugs below a folder, by name.
func readBugs(folder string) ([]bug, error) {
	var bugs []bug
	err := filepath.WalkDir(folder, func(path string, entry fs.DirEntry, err error) error {
		if err != nil || entry.IsDir() {
			return err
		}
		content, err := os.ReadFile(path)
		if err != nil {
			return err
		}
		name, err := filepath.Rel(folder, path)
		if err != nil {
			return err
		}
		b, err := parseBug(content)
		if err != nil {
			return fmt.Errorf("%s: %w", path, err)
		}
		b.name = strings.TrimSuffix(filepath.ToSlash(name), ".txt")
		bugs = append(bugs, b)
		return nil
	})
	return bugs, err
}

// parseBug reads a txtar archive: words, a line "file: FOLDER NAME", a line "test: FOLDER PATTERN FLAGS" or several, and two parts,
// "before" and "after".
func parseBug(content []byte) (bug, error) {
	archive := txtar.Parse(content)
	var b bug
	var words []string
	for line := range strings.Lines(string(archive.Comment)) {
		line = strings.TrimSpace(line)
		if file, found := strings.CutPrefix(line, "file: "); found {
			folder, name, _ := strings.Cut(file, " ")
			b.file = path.Join(folder, name)
		} else if test, found := strings.CutPrefix(line, "test: "); found {
			folder, rest, _ := strings.Cut(test, " ")
			pattern, flags, _ := strings.Cut(rest, " ")
			b.tests = append(b.tests, tests{folder, pattern, flags})
		} else if line != "" {
			words = append(words, line)
		}
	}
	b.what = strings.Join(words, " ")
	if len(archive.Files) != 2 || archive.Files[0].Name != "before" || archive.Files[1].Name != "after" {
		return bug{}, errors.New("the parts of a bug are before and after")
	}
	b.before, b.after = split(archive.Files[0].Data), split(archive.Files[1].Data)
	switch {
	case b.what == "" || b.file == "":
		return bug{}, errors.New("a bug has words and a line file: FOLDER NAME")
	case len(b.tests) == 0 || slices.ContainsFunc(b.tests, func(t tests) bool { return t.pattern == "" || !strings.HasPrefix(t.folder, ".") }):
		return bug{}, errors.New("a bug has a line test: FOLDER PATTERN, whose folder begins with a dot")
	case len(b.before) == 0 || slices.Equal(b.before, b.after):
		return bug{}, errors.New("before is not empty, and differs from after")
	}
	return b, nil
}

func split(text []byte) []string {
	return slices.Collect(strings.Lines(string(text)))
}

// planted returns the file with the edit. The text before it must occur exactly once, as whole lines; blanks around lines do not count,
// so that a block may be moved or indented.
func (b bug) planted(root string) ([]byte, error) {
	content, err := os.ReadFile(filepath.Join(root, b.file))
	if err != nil {
		return nil, err
	}
	lines := split(content)
	place, found := 0, 0
	for at := range len(lines) - len(b.before) + 1 {
		if slices.EqualFunc(lines[at:at+len(b.before)], b.before, sameLine) {
			place = at
			found++
		}
	}
	if found != 1 {
		return nil, fmt.Errorf("the text before occurs %d times in %s", found, b.file)
	}
	edited := slices.Concat(lines[:place], b.after, lines[place+len(b.before):])
	return []byte(strings.Join(edited, "")), nil
}

func sameLine(a, b string) bool { return strings.TrimSpace(a) == strings.TrimSpace(b) }
