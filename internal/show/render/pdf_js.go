package render

import (
	"errors"
	"io"

	"ringleader.example/ringleader/drawing"
)

// PDF returns an error: the page of the lab writes no PDF, and is smaller without its library.
func PDF(io.Writer, *drawing.Drawing) error { return errors.New("this program writes no PDF") }
