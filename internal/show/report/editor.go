package report

import (
	"errors"
	"io"
	"os"
	"slices"
	"strings"

	"golang.org/x/term"
)

// Editor reads lines from a terminal with a line editor, a history, and completion by the tabulator key. What is written
// to it stands above the line that is being typed.
type Editor struct {
	terminal *term.Terminal
	out      io.Writer
	restore  func() error
}

// Edit switches a terminal to an editor until that is closed. It returns nil unless stdin and Out are terminals. Complete
// returns the lines that a command may become.
func (p *Printer) Edit(stdin io.Reader, complete func(line string) []string) *Editor {
	file, isFile := stdin.(*os.File)
	if !isFile || !IsTerminal(stdin) || !IsTerminal(p.Out) {
		return nil
	}
	state, err := term.MakeRaw(int(file.Fd()))
	if err != nil { // the system has none
		return nil
	}
	e := newEditor(stdin, p.Out, p.Width(), complete)
	e.restore = func() error { return term.Restore(int(file.Fd()), state) }
	return e
}

func newEditor(keys io.Reader, out io.Writer, columns int, complete func(line string) []string) *Editor {
	e := &Editor{out: out, restore: func() error { return nil }, terminal: term.NewTerminal(struct {
		io.Reader
		io.Writer
	}{keys, out}, "> ")}
	_ = e.terminal.SetSize(columns, 24) // it fails for no size but 0
	e.terminal.AutoCompleteCallback = func(line string, at int, key rune) (string, int, bool) {
		if key != '\t' || at != len(line) {
			return "", 0, false
		}
		choices := slices.DeleteFunc(complete(line), func(c string) bool { return !strings.HasPrefix(c, line) })
		if len(choices) != 1 {
			return "", 0, false
		}
		return choices[0], len(choices[0]), true
	}
	return e
}

// Line returns the next line. Ctrl-C and Ctrl-D end the lines.
func (e *Editor) Line() (line string, more bool) {
	line, err := e.terminal.ReadLine()
	if more = err == nil || errors.Is(err, term.ErrPasteIndicator); !more {
		_, _ = io.WriteString(e.out, "\r\n") // a failure to write on the terminal cannot be shown
	}
	return line, more
}

// Write shows text above the line.
func (e *Editor) Write(text []byte) (int, error) { return e.terminal.Write(text) }

// Close gives the terminal back.
func (e *Editor) Close() error { return e.restore() }
