// Package algorithms has the text of the algorithms, for reading beside a run.
//
// This package is v0: its API may change with any version.
package algorithms

import (
	"embed"
	"io/fs"
	"path"
	"slices"
	"strings"
)

// Each file of a state machine. The names of tests end in t; so do two others.
//
//go:embed */*[^t].go */oddoneout.go */set.go
var files embed.FS

// Listing returns the listing of the folder of an algorithm: see [List]. The first file is named like the folder.
func Listing(folder string) (lines []string, number func(file string, line int) int) {
	return List(files, folder, folder+".go")
}

// List returns the Go files of a folder but tests, one after the other, that of the given name first. Each begins with its name in a
// comment if there are several. Number returns the number in the listing, from 1, of a line of one of the files; 0 if the listing has
// no such line. The listing is empty if there is no such folder.
func List(files fs.FS, folder, main string) (lines []string, number func(file string, line int) int) {
	type part struct{ first, last int }
	parts := map[string]part{}
	number = func(file string, line int) int {
		if p := parts[file]; line > 0 && line <= p.last-p.first {
			return p.first + line
		}
		return 0
	}
	names, err := fs.Glob(files, path.Join(folder, "*.go"))
	if err != nil {
		return nil, number
	}
	names = slices.DeleteFunc(names, func(name string) bool { return strings.HasSuffix(name, "_test.go") })
	main = path.Join(folder, main)
	slices.SortStableFunc(names, func(a, b string) int {
		switch {
		case a == main:
			return -1
		case b == main:
			return 1
		}
		return 0
	})
	for _, name := range names {
		text, err := fs.ReadFile(files, name)
		if err != nil {
			return nil, number
		}
		if len(names) > 1 {
			lines = append(lines, "// "+path.Base(name))
		}
		first := len(lines)
		lines = append(lines, strings.Split(strings.TrimSuffix(string(text), "\n"), "\n")...)
		parts[path.Base(name)] = part{first, len(lines)}
	}
	return lines, number
}
