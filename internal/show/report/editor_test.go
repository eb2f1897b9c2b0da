package report

import (
	"io"
	"slices"
	"strings"
	"testing"
)

func TestLinesAreEditedCompletedAndRemembered(t *testing.T) {
	const left, up, backspace = "\x1b[D", "\x1b[A", "\x7f"
	keys := "kill leadr" + left + "e\r" + "paux" + backspace + "se 2\r" + up + up + "\r" + "resu\t2\r" + "re\t\r" + "qui\t\r" + "\x03"
	e := newEditor(strings.NewReader(keys), io.Discard, 80, func(string) []string { return []string{"quit", "resume ", "restart "} })
	var got []string
	for line, more := e.Line(); more; line, more = e.Line() {
		got = append(got, line)
	}
	if want := []string{"kill leader", "pause 2", "kill leader", "resume 2", "re", "quit"}; !slices.Equal(got, want) {
		t.Errorf("%q, want %q", got, want)
	}
}

func TestAStreamThatIsNoTerminalHasNoEditor(t *testing.T) {
	p := &Printer{Out: io.Discard, Getenv: func(string) string { return "" }}
	if e := p.Edit(strings.NewReader(""), nil); e != nil {
		t.Error("an editor")
	}
}
