package logic

import (
	"fmt"
	"strconv"
	"strings"
	"unicode"
	"unicode/utf8"
)

// Position is a place in the text of a model.
type Position struct {
	File         string
	Line, Column int // from 1; a column is a character
}

// Error is what is wrong with a model, at its place.
type Error struct {
	At   Position
	What string
}

func (e *Error) Error() string {
	return fmt.Sprintf("%s:%d:%d: %s", Plain(e.At.File), e.At.Line, e.At.Column, e.What)
}

// Plain returns a short, printable text unchanged, and quotes any other. So a terminal obeys no escape sequence of a model file or a solver.
func Plain(text string) string {
	if len(text) > mostQuoted {
		return strconv.Quote(text[:mostQuoted]) + "…"
	}
	if !utf8.ValidString(text) || strings.ContainsFunc(text, func(r rune) bool { return !unicode.IsGraphic(r) }) {
		return strconv.Quote(text)
	}
	return text
}

// fail ends the reading of a model. Load returns the error.
func (p Position) fail(format string, args ...any) {
	for i, arg := range args {
		if text, is := arg.(string); is && len(text) > mostQuoted {
			args[i] = strings.ToValidUTF8(text[:mostQuoted], "") + "…"
		}
	}
	panic(&Error{p, fmt.Sprintf(format, args...)})
}

// Limits of a text. A text from an unknown source must not exhaust the program.
const (
	mostBytes   = 1 << 20
	mostDepth   = 100
	mostProving = 1 << 28 // bytes of all obligations
	mostQuoted  = 200     // bytes of a text in an error
)

type kind uint8

const (
	atom kind = iota
	words
	list
)

// expression is an atom, a text in double quotes, or a list in parentheses.
type expression struct {
	at   Position
	kind kind
	text string
	list []expression
}

func (e *expression) String() string {
	switch e.kind {
	case words:
		return `"…"`
	case list:
		if len(e.list) == 0 {
			return "()"
		}
		return "(" + e.list[0].String() + " …)"
	}
	return Plain(e.text)
}

// scanner reads expressions.
type scanner struct {
	at   Position
	text string // the rest
}

// expressions returns all expressions of a file.
func expressions(file, text string) (all []expression) {
	s := &scanner{Position{file, 1, 1}, text}
	switch {
	case len(text) > mostBytes:
		s.at.fail("the text has more than %d bytes", mostBytes)
	case !utf8.ValidString(text):
		s.skip(strings.IndexFunc(strings.ToValidUTF8(text, "\uFFFD"), func(r rune) bool { return r == utf8.RuneError }))
		s.at.fail("the text is not UTF-8")
	}
	if i := strings.IndexFunc(text, func(r rune) bool { return !unicode.IsGraphic(r) && !strings.ContainsRune("\t\r\n", r) }); i >= 0 { // a terminal would obey
		s.skip(i)
		r, _ := utf8.DecodeRuneInString(s.text)
		s.at.fail("a model has no character %q", r)
	}
	for s.space(); s.text != ""; s.space() {
		all = append(all, s.expression(0))
	}
	return all
}

// skip moves on by so many bytes.
func (s *scanner) skip(bytes int) {
	for _, r := range s.text[:bytes] {
		s.at.Column++
		if r == '\n' {
			s.at.Line, s.at.Column = s.at.Line+1, 1
		}
	}
	s.text = s.text[bytes:]
}

// space skips spaces and comments.
func (s *scanner) space() {
	for {
		s.skip(len(s.text) - len(strings.TrimLeft(s.text, " \t\r\n")))
		if !strings.HasPrefix(s.text, ";") {
			return
		}
		line, _, _ := strings.Cut(s.text, "\n")
		s.skip(len(line))
	}
}

func (s *scanner) expression(depth int) expression {
	e := expression{at: s.at}
	switch s.text[0] {
	case ')':
		s.at.fail("a parenthesis is closed that was not opened")
	case '"':
		end := strings.IndexByte(s.text[1:], '"')
		if end < 0 {
			s.at.fail("this text has no end")
		}
		e.kind, e.text = words, strings.Join(strings.Fields(s.text[1:end+1]), " ")
		s.skip(end + 2)
	case '(':
		if depth == mostDepth {
			s.at.fail("more than %d parentheses are open", mostDepth)
		}
		e.kind = list
		s.skip(1)
		for s.space(); !strings.HasPrefix(s.text, ")"); s.space() {
			if s.text == "" {
				e.at.fail("this parenthesis is not closed")
			}
			e.list = append(e.list, s.expression(depth+1))
		}
		s.skip(1)
	default:
		end := strings.IndexAny(s.text, " \t\r\n();\"")
		if end < 0 {
			end = len(s.text)
		}
		e.text = s.text[:end]
		s.skip(end)
	}
	return e
}

// atom returns the text of an atom.
func (e *expression) atom(what string) string {
	if e.kind != atom {
		e.at.fail("%s is expected here, not %s", what, e)
	}
	return e.text
}

// words returns a text.
func (e *expression) words(what string) string {
	if e.kind != words || e.text == "" {
		e.at.fail("%s is expected here, in double quotes, not %s", what, e)
	}
	return e.text
}

// items returns the parts of a list.
func (e *expression) items(what string) []expression {
	if e.kind != list {
		e.at.fail("%s is expected here, in parentheses, not %s", what, e)
	}
	return e.list
}
