// Package render writes drawings as SVG, PNG, PDF and GIF. All but SVG are on light paper, with fonts of their own. The same
// drawing has the same bytes.
package render

import (
	"fmt"
	"io"
	"path/filepath"
	"slices"
	"strings"

	"ringleader.example/ringleader/drawing"
)

// Formats are the formats that Write knows, as files of them end, without a dot.
var Formats = []string{"svg", "png", "pdf"}

// Format returns the format that the name of a file ends in, if Write knows it, and otherwise svg: a device's name has
// none.
func Format(path string) string {
	if format := strings.ToLower(strings.TrimPrefix(filepath.Ext(path), ".")); slices.Contains(Formats, format) {
		return format
	}
	return "svg"
}

// Write writes the drawing in one of the formats.
func Write(w io.Writer, d *drawing.Drawing, format string) error {
	switch format {
	case "svg":
		return d.SVG(w)
	case "png":
		return PNG(w, d)
	case "pdf":
		return PDF(w, d)
	}
	return fmt.Errorf("no drawing is written as %q, only as %s", format, strings.Join(Formats, ", "))
}
