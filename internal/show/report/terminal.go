package report

import (
	"io"
	"os"
	"strconv"

	"ringleader.example/ringleader/internal/show/report/fit"

	"golang.org/x/term"
)

// Printer holds the outputs of a command: Out for results; Err for warnings and progress.
type Printer struct {
	Name     string // of the program, as it is called in a shell
	Command  string // the call whose result is printed
	Version  string // of the program
	Out, Err io.Writer
	Getenv   func(string) string
	Watch    func(text string) // takes the progress of long computations; nil: a terminal shows it
}

// Output keeps the first error of writing: a call whose result was not written has failed.
type Output struct {
	io.Writer
	Err error
}

// Write writes to the stream, and keeps the first error.
func (o *Output) Write(b []byte) (int, error) {
	n, err := o.Writer.Write(b)
	if o.Err == nil {
		o.Err = err
	}
	return n, err
}

// IsTerminal reports whether a stream is a terminal.
func IsTerminal(stream any) bool {
	file := fileOf(stream)
	return file != nil && term.IsTerminal(int(file.Fd()))
}

// fileOf returns the file that a stream is written to or read from, or nil.
func fileOf(stream any) *os.File {
	switch s := stream.(type) {
	case *Output:
		return fileOf(s.Writer)
	case *fit.Writer:
		return fileOf(s.Writer)
	case *Editor:
		return fileOf(s.out)
	case *os.File:
		return s
	}
	return nil
}

// The widths of texts, in columns.
const (
	UsualWidth    = 80  // without a terminal
	leastWidth    = 40  // below it, nothing is made to fit
	readableWidth = 100 // of prose, however wide the terminal is
)

// Width returns the number of columns for output: that of the terminal, or of the variable COLUMNS, or 80.
func (p *Printer) Width() int {
	width := 0
	if file := fileOf(p.Out); file != nil {
		width, _, _ = term.GetSize(int(file.Fd()))
	}
	if width <= 0 {
		width, _ = strconv.Atoi(p.Getenv("COLUMNS"))
	}
	if width <= 0 {
		width = UsualWidth
	}
	return max(width, leastWidth)
}

// ProseWidth returns how many columns a paragraph takes.
func (p *Printer) ProseWidth() int { return min(p.Width(), readableWidth) }

// Paint colours text by ANSI attributes, if it is on.
type Paint bool

// The attributes in use.
const (
	Bold   = "1"
	Faint  = "2"
	Red    = "31"
	Green  = "32"
	Yellow = "33"
)

// Paint reports whether to colour what is printed: on a terminal, unless NO_COLOR is set.
func (p *Printer) Paint() Paint {
	return Paint(IsTerminal(p.Out) && p.Getenv("NO_COLOR") == "" && p.Getenv("TERM") != "dumb")
}

// Text returns the text with the attribute, or as it is without one.
func (on Paint) Text(attribute, text string) string {
	if !on || attribute == "" {
		return text
	}
	return "\x1b[" + attribute + "m" + text + "\x1b[0m"
}
