package report

import (
	"io"
	"os"
)

// Printer is where a command prints: Out for results; Err for warnings and progress.
type Printer struct {
	Name     string // of the program, as it is called in a shell
	Out, Err io.Writer
	Getenv   func(string) string
}

// Output remembers the first failure to write: a result that did not arrive is not fine.
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

// IsTerminal reports whether a person reads or writes there.
func IsTerminal(stream any) bool {
	if o, ok := stream.(*Output); ok {
		stream = o.Writer
	}
	file, ok := stream.(*os.File)
	if !ok {
		return false
	}
	info, err := file.Stat()
	if err != nil || info.Mode()&os.ModeCharDevice == 0 {
		return false
	}
	null, err := os.Stat(os.DevNull) // a character device too
	return err != nil || !os.SameFile(info, null)
}

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
