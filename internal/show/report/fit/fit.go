// Package fit breaks lines that are wider than a terminal.
package fit

import (
	"bytes"
	"io"
	"regexp"
	"strings"
	"unicode/utf8"
)

// escape matches what colours a text, and takes no room.
var escape = regexp.MustCompile("\x1b\\[[0-9;]*m")

// columns returns how many columns a text takes.
func columns(text string) int { return utf8.RuneCountInString(escape.ReplaceAllString(text, "")) }

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

// Line breaks a line that is wider than width at spaces, or at the gap between two columns. What follows a break stands
// under the last column that begins in the left part of the line. A command is broken by backslashes, so that it can
// still be copied. A word that is wider than width is left whole.
func Line(line string, width int) string { return broken(line, width, isCall(line, ""), false) }

// broken is Line of a line that is a command, or is none, and perhaps goes on with the one before.
func broken(line string, width int, call, goesOn bool) string {
	first := indentation(line)
	switch {
	case columns(line) <= width:
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
		if value := strings.TrimLeft(word, " "); last >= 0 && isFlag(all[last]) && !strings.HasPrefix(value, "-") && value != `\` && columns(strings.TrimLeft(all[last], " ")+word) <= room {
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
		if !empty && column+spaces+columns(text) > width {
			b.WriteString(mark + "\n" + strings.Repeat(" ", rest))
			column, spaces = rest, 0
		}
		b.WriteString(strings.Repeat(" ", spaces) + text)
		column += spaces + columns(text)
		empty = false
	}
	return b.String()
}

// Writer writes lines that fit. The last one may need a [Writer.Flush].
type Writer struct {
	io.Writer
	Width   int
	Program string // what it is called in a shell

	line   []byte // that has not ended
	within bool   // the line before ends with a backslash: the next one belongs to its command
}

// fit fits the next line.
func (w *Writer) fit(line string) string {
	within := w.within
	call := within || isCall(line, w.Program)
	w.within = call && strings.HasSuffix(line, `\`)
	return broken(line, w.Width, call, within)
}

// Write writes the lines that have ended.
func (w *Writer) Write(b []byte) (int, error) {
	w.line = append(w.line, b...)
	end := bytes.LastIndexByte(w.line, '\n') + 1
	if end == 0 {
		return len(b), nil
	}
	var fitting strings.Builder
	for line := range strings.Lines(string(w.line[:end])) {
		fitting.WriteString(w.fit(strings.TrimSuffix(line, "\n")) + "\n")
	}
	w.line = append(w.line[:0], w.line[end:]...)
	_, err := io.WriteString(w.Writer, fitting.String())
	return len(b), err
}

// Flush writes a line that has not ended.
func (w *Writer) Flush() error {
	_, err := io.WriteString(w.Writer, w.fit(string(w.line)))
	w.line = w.line[:0]
	return err
}
