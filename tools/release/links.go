package main

import (
	"path"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
)

// aLink is a link of a page, or code, in which there is none: a block or a span.
var aLink = regexp.MustCompile("(?ms)^ *```.*?^ *```$|`[^`\n]*`|\\[((?:[^\\[\\]`]|`[^`\n]*`)*)\\]\\(([^()\\s]+)\\)")

// relink returns files whose links lead to each other where they are packed. A link that leads to another file of the repository becomes its text and that
// file's path.
func relink(entries []entry) []entry {
	entries = slices.Clone(entries)
	places := map[string]string{} // there: by the path in the repository
	for _, e := range entries {
		for from, name := e.from, e.name; from != "." && path.Base(from) == path.Base(name); from, name = path.Dir(from), path.Dir(name) {
			places[from] = name
		}
	}
	for i, e := range entries {
		if e.from != "" && path.Ext(e.name) == ".md" {
			entries[i].data = []byte(aLink.ReplaceAllStringFunc(string(e.data), func(link string) string { return e.relinked(link, places) }))
		}
	}
	return entries
}

// relinked returns what is in the place of a link, or of code, of a page.
func (e *entry) relinked(link string, places map[string]string) string {
	found := aLink.FindStringSubmatch(link)
	file, _, _ := strings.Cut(found[2], "#")
	if file == "" || strings.Contains(file, ":") {
		return link
	}
	from := path.Join(path.Dir(e.from), file)
	place, packed := places[from]
	if !packed {
		if strings.Contains(found[1], from) {
			return found[1]
		}
		return found[1] + " (`" + from + "` in the repository)"
	}
	to, err := filepath.Rel(path.Dir(e.name), place)
	if err != nil || to == path.Clean(file) {
		return link
	}
	return "[" + found[1] + "](" + filepath.ToSlash(to) + found[2][len(file):] + ")"
}
