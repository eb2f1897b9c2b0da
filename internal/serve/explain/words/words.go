// Package words has the words in which package explain tells what it has found.
package words

import (
	"cmp"
	"fmt"
	"io"
	"slices"
	"strconv"
	"strings"
	"time"
	"unicode"
	"unicode/utf8"
)

// Members names members.
func Members(ids []uint64) string {
	text := strings.Trim(strings.ReplaceAll(fmt.Sprint(ids), " ", ", "), "[]")
	if len(ids) == 1 {
		return "member " + text
	}
	return "members " + text
}

// Lasts returns a length of time, for people.
func Lasts(d time.Duration) string {
	switch {
	case d < 0:
		return "0 ms"
	case d < 10*time.Millisecond:
		return fmt.Sprintf("%.1f ms", float64(d)/1e6)
	case d < time.Second:
		return fmt.Sprintf("%d ms", d.Milliseconds())
	}
	return fmt.Sprintf("%.1f s", d.Seconds())
}

// width is that of a terminal.
const width = 80

// WriteLine prints a text behind a name, in lines that fit. The text may be of anybody, so what a terminal does not show is escaped.
func WriteLine(out io.Writer, name, text string) {
	row := name
	for _, word := range strings.Fields(text) {
		if !utf8.ValidString(word) || strings.ContainsFunc(word, func(r rune) bool { return !unicode.IsPrint(r) }) {
			quoted := strconv.Quote(word)
			word = strings.ReplaceAll(quoted[1:len(quoted)-1], `\"`, `"`)
		}
		if len([]rune(row))+1+len([]rune(word)) > width && strings.TrimSpace(row) != "" {
			fmt.Fprintln(out, strings.TrimRight(row, " "))
			row = strings.Repeat(" ", len([]rune(name)))
		}
		row += " " + word
	}
	fmt.Fprintln(out, row)
}

// Leader names a leader, and its term if that is known.
func Leader(id *uint64, term uint64) string {
	switch {
	case id == nil:
		return "none"
	case term == 0:
		return fmt.Sprintf("member %d", *id)
	}
	return fmt.Sprintf("member %d in term %d", *id, term)
}

// Clock returns a moment of a day, in nanoseconds since 1970; 0 is before all.
func Clock(at int64) string {
	if at == 0 {
		return "the beginning"
	}
	return time.Unix(0, at).UTC().Format("15:04:05.000")
}

// Since returns for how long something has not been heard at a moment; 0: it never was.
func Since(heard, at int64) string {
	if heard == 0 {
		return "at all"
	}
	return "for " + Lasts(time.Duration(at-heard))
}

// Closes reports whether the reason of a loss is that the peer's side has ended the connection. The system does that for a process that ends.
func Closes(reason string) bool {
	return slices.ContainsFunc([]string{"closed the connection", "reset", "broken pipe"}, func(sign string) bool { return strings.Contains(reason, sign) })
}

// Told returns what a leader has told of the end of its lead, by its cause and its detail.
func Told(cause, detail string) string {
	if cause == "closed" && detail == "the member is closed" {
		return detail + ": a signal such as SIGTERM, or its program, has stopped it in order"
	}
	return cmp.Or(detail, cause)
}

// Target returns the member to which a leader has handed over, as it has told that; 0: to none.
func Target(detail string) (id uint64) {
	_, _ = fmt.Sscanf(detail, "to member %d", &id)
	return id
}
