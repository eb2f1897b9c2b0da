// Package press prints drawings: as PNG and as PDF, on light paper, with fonts of its own. The same drawing is
// the same bytes.
package press

import (
	"fmt"
	"io"
	"strings"

	"ringleader.example/ringleader/internal/sheet"
)

// Endings are those of the files that Print writes, without a dot.
var Endings = []string{"svg", "png", "pdf"}

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
