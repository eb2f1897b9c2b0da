// Package press prints drawings: as PNG and as PDF, on light paper, with fonts of its own. The same drawing has the
// same bytes.
package press

import (
	"fmt"
	"io"
	"path/filepath"
	"slices"
	"strings"

	"ringleader.example/ringleader/internal/show/sheet"
)

// Endings are the endings of the files that Print writes, without a dot.
var Endings = []string{"svg", "png", "pdf"}

// Ending returns the ending of a file's name, without its dot, if Print writes such files, and otherwise svg: a
// device's name has none.
func Ending(path string) string {
	if ending := strings.ToLower(strings.TrimPrefix(filepath.Ext(path), ".")); slices.Contains(Endings, ending) {
		return ending
	}
	return "svg"
}

// Print writes the drawing in the format that files of that ending, without a dot, have.
func Print(w io.Writer, s *sheet.Sheet, ending string) error {
	switch ending {
	case "svg":
		return s.SVG(w)
	case "png":
		return PNG(w, s)
	case "pdf":
		return PDF(w, s)
	}
	return fmt.Errorf("no drawing is written as %q, only as %s", ending, strings.Join(Endings, ", "))
}
