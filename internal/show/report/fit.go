package report

import (
	"bytes"
	"fmt"
	"io"
	"regexp"
	"strings"
	"unicode/utf8"
)

// escape matches what colours a text, and takes no room.
var escape = regexp.MustCompile("\x1b\\[[0-9;]*m")

// Width returns how many columns a text takes.
func Width(text string) int { return utf8.RuneCountInString(escape.ReplaceAllString(text, "")) }

// isCall reports whether a line is a command to copy: after a prompt, or an example that begins with the program's name.
func isCall(line, program string) bool {
	if strings.HasPrefix(line, "$ ") || strings.HasPrefix(line, "replay: ") {
		return true
	}
	arguments, called := strings.CutPrefix(strings.TrimLeft(line, " "), program+" ")
	return called && arguments != "" && arguments[0] >= 'a' && arguments[0] <= 'z'
}

// gap separates columns of a line.
var gap = regexp.MustCompile(`\S( {2,})\S`)

// Fit breaks a line that is wider than width at spaces, or at the gap between two columns. What follows a break stands
// under the last column that begins in the left part of the line. A command is broken by backslashes, so that it can
// still be copied. A word that is wider than width is left whole.
func Fit(line string, width int) string { return fit(line, width, isCall(line, ""), false) }

// fit is Fit of a line that is a command, or is none, and perhaps goes on with the one before.
func fit(line string, width int, call, goesOn bool) string {
	first := indentation(line)
	switch {
	case Width(line) <= width:
		return line
	case !call:
		return fold(words(line, false), first, hang(line, width), width, "")
	}
	rest := first
	if !goesOn {
		rest = max(4, first+2)
	}
	width -= 2 // for the mark
	return fold(arguments(line, width-rest), first, rest, width, ` \`)
}

func indentation(line string) int { return len(line) - len(strings.TrimLeft(line, " ")) }

// hang returns the column under which the rest of a line stands: that of its last column, if there is room for it.
func hang(line string, width int) int {
	plain := escape.ReplaceAllString(line, "")
	at := min(indentation(plain)+2, max(indentation(plain), width/2))
	for from := 0; ; {
		found := gap.FindStringSubmatchIndex(plain[from:])
		if found == nil {
			return at
		}
		from += found[3]
		column := utf8.RuneCountInString(plain[:from])
		if column > width*6/10 {
			return at
		}
		at = column
	}
}

// words splits a line into words, each with the spaces before it. The words of a command that are quoted are one.
func words(line string, quoted bool) (all []string) {
	begin, inside, quote := 0, false, rune(0)
	for i, r := range line {
		switch {
		case quote != 0:
			if r == quote {
				quote = 0
			}
		case quoted && (r == '\'' || r == '"'):
			quote, inside = r, true
		case r == ' ' && inside:
			all = append(all, line[begin:i])
			begin, inside = i, false
		case r != ' ':
			inside = true
		}
	}
	return append(all, line[begin:])
}

// arguments splits a command into words. A flag has its value in its word, if there is room for both.
func arguments(line string, room int) (all []string) {
	for _, word := range words(line, true) {
		last := len(all) - 1
		if value := strings.TrimLeft(word, " "); last >= 0 && isFlag(all[last]) && !strings.HasPrefix(value, "-") && value != `\` && Width(strings.TrimLeft(all[last], " ")+word) <= room {
			all[last] += word
		} else {
			all = append(all, word)
		}
	}
	return all
}

// isFlag reports whether the word of a command is a flag whose value may be the next word.
func isFlag(word string) bool {
	word = strings.TrimLeft(word, " ")
	return strings.HasPrefix(word, "--") && len(word) > 2 && !strings.ContainsAny(word, "= ")
}

// fold puts as many words as fit into each line. All lines but the last end with the mark.
func fold(words []string, first, rest, width int, mark string) string {
	var b strings.Builder
	column, empty := 0, true
	for _, word := range words {
		text := strings.TrimLeft(word, " ")
		spaces := len(word) - len(text)
		if empty && column == 0 {
			spaces = first
		}
		if !empty && column+spaces+Width(text) > width {
			b.WriteString(mark + "\n" + strings.Repeat(" ", rest))
			column, spaces = rest, 0
		}
		b.WriteString(strings.Repeat(" ", spaces) + text)
		column += spaces + Width(text)
		empty = false
	}
	return b.String()
}

// fitter writes lines that fit.
type fitter struct {
	io.Writer
	width   int
	program string // what it is called in a shell
	line    []byte // that has not ended
	within  bool   // the line before ends with a backslash: the next one belongs to its command
}

// fit fits the next line.
func (f *fitter) fit(line string) string {
	within := f.within
	call := within || isCall(line, f.program)
	f.within = call && strings.HasSuffix(line, `\`)
	return fit(line, f.width, call, within)
}

// Write writes the lines that have ended.
func (f *fitter) Write(b []byte) (int, error) {
	f.line = append(f.line, b...)
	end := bytes.LastIndexByte(f.line, '\n') + 1
	if end == 0 {
		return len(b), nil
	}
	var fitting strings.Builder
	for line := range strings.Lines(string(f.line[:end])) {
		fitting.WriteString(f.fit(strings.TrimSuffix(line, "\n")) + "\n")
	}
	f.line = append(f.line[:0], f.line[end:]...)
	_, err := io.WriteString(f.Writer, fitting.String())
	return len(b), err
}

// flush writes a line that has not ended.
func (f *fitter) flush() error {
	_, err := io.WriteString(f.Writer, f.fit(string(f.line)))
	f.line = f.line[:0]
	return err
}

// Fit calls print with a printer whose lines are as wide as the terminal at most.
func (p *Printer) Fit(print func(*Printer) error) error {
	lines := &fitter{Writer: p.Out, width: p.Width(), program: p.Name}
	fitting := *p
	fitting.Out = lines
	if err := print(&fitting); err != nil {
		return err
	}
	return lines.flush()
}

// Complain prints a line of warnings or errors. On a terminal it fits.
func (p *Printer) Complain(text string) {
	text = p.Name + ": " + text
	if IsTerminal(p.Err) {
		text = Fit(text, (&Printer{Out: p.Err, Getenv: p.Getenv}).Width())
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
			b.WriteString(Fit(line, width) + "\n")
			continue
		}
		if paragraph = append(paragraph, line); strings.HasSuffix(line, ":") {
			flush()
		}
	}
	flush()
	return b.String()
}
