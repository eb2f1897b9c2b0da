package press

import (
	"errors"
	"io"

	"ringleader.example/ringleader/internal/show/sheet"
)

// PDF returns an error: the page of the lab writes no PDF, and is smaller without its library.
func PDF(io.Writer, *sheet.Sheet) error { return errors.New("this program writes no PDF") }
