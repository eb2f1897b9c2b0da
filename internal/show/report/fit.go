package report

import (
	"fmt"
	"strings"

	"ringleader.example/ringleader/internal/show/report/fit"
)

// Fit calls print with a printer whose lines are as wide as the terminal at most.
func (p *Printer) Fit(print func(*Printer) error) error {
	lines := &fit.Writer{Writer: p.Out, Width: p.Width(), Program: p.Name}
	fitting := *p
	fitting.Out = lines
	if err := print(&fitting); err != nil {
		return err
	}
	return lines.Flush()
}

// Complain prints a line of warnings or errors. On a terminal it fits.
func (p *Printer) Complain(text string) {
	text = p.Name + ": " + text
	if IsTerminal(p.Err) {
		text = fit.Line(text, (&Printer{Out: p.Err, Getenv: p.Getenv}).Width())
	}
	fmt.Fprintln(p.Err, text)
}

// Paragraphs joins the lines of each paragraph of a text, so that it can be broken anew. A line that is indented, and
// one that ends in a colon, stays as it is.
func Paragraphs(text string, width int) string {
	var b strings.Builder
	var paragraph []string
	flush := func() {
		if len(paragraph) > 0 {
			b.WriteString(Wrap(strings.Join(paragraph, " "), width) + "\n")
		}
		paragraph = nil
	}
	for line := range strings.Lines(text) {
		line = strings.TrimSuffix(line, "\n")
		if line == "" || line[0] == ' ' {
			flush()
			b.WriteString(fit.Line(line, width) + "\n")
			continue
		}
		if paragraph = append(paragraph, line); strings.HasSuffix(line, ":") {
			flush()
		}
	}
	flush()
	return b.String()
}
