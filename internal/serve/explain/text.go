package explain

import (
	"fmt"
	"io"
	"strconv"
	"strings"
	"time"
	"unicode"
	"unicode/utf8"
)

// WriteText writes a report for people, without its damages. It writes to a buffer or a terminal, so no error is returned.
func (r *Report) WriteText(out io.Writer) {
	number := 0 // of the change, as --change takes it
	for i, g := range r.Groups {
		if i > 0 {
			fmt.Fprintln(out)
		}
		fmt.Fprintf(out, "group %q: %s to %s\n", g.Name, g.From.Format("2006-01-02 15:04:05"), g.To.Format("2006-01-02 15:04:05 UTC"))
		records := "none with details"
		if len(g.Recorded) > 0 {
			records = "of " + plural(g.Recorded)
		}
		WriteLine(out, "records    ", records)
		if len(g.Missing) > 0 {
			WriteLine(out, "missing    ", plural(g.Missing)+": what only they know stays unknown")
		}
		for _, e := range g.Ends {
			WriteLine(out, "ends       ", fmt.Sprintf("member %d at %s, %s before the last entry of all: %s", e.Member, e.Time.Format("2006-01-02 15:04:05.000"), Lasts(g.To.Sub(e.Time)), e.how()))
		}
		for _, c := range g.Clocks {
			WriteLine(out, "clocks     ", c)
		}
		if len(g.Older) > 0 {
			writeOlder(out, g.Older)
		}
		for n := range g.Changes {
			number++
			writeChange(out, number, &g.Changes[n])
		}
		for _, v := range g.Violations {
			sure := "a rule was broken"
			if !v.Sure {
				sure = "a rule may have been broken"
			}
			fmt.Fprintf(out, "\n%s  VIOLATION: %s\n", v.Time.Format("15:04:05.000"), sure)
			WriteLine(out, "  what     ", v.What)
			if v.Step != "" {
				WriteLine(out, "  step     ", v.Step)
			}
		}
	}
}

// how tells how a record ends.
func (e *Ending) how() string {
	switch {
	case e.Closed:
		return "it has closed"
	case len(e.Unlisted) > 0 && e.Known:
		return "it was removed: " + plural(e.Unlisted) + " refused it, with a list that has it no more"
	case len(e.Unlisted) > 0:
		return plural(e.Unlisted) + " refused it, with a list that has it not"
	}
	return "it was killed, or its record is not whole"
}

// who names a leader, and its term if that is known.
func who(id *uint64, term uint64) string {
	switch {
	case id == nil:
		return "none"
	case term == 0:
		return fmt.Sprintf("member %d", *id)
	}
	return fmt.Sprintf("member %d in term %d", *id, term)
}

// writeChange prints a change of the leader.
func writeChange(out io.Writer, number int, c *Change) {
	most := ""
	if c.AtMost {
		most = "at most "
	}
	fmt.Fprintln(out)
	WriteLine(out, fmt.Sprintf("%d. %s ", number, c.Ended.Format("15:04:05.000")), fmt.Sprintf("%s → %s, %s%s without a leader", who(c.From, c.FromTerm), who(c.To, c.Term), most, Lasts(time.Duration(c.Nobody*float64(time.Second)))))
	certainty := string(c.Certainty)
	if c.Certainty == None {
		certainty = "its cause is not known"
	}
	WriteLine(out, "  cause    ", fmt.Sprintf("%s (%s): %s", c.Cause, certainty, c.Text))
	for _, part := range []struct {
		name  string
		lines []string
	}{{"  evidence ", c.Evidence}, {"  time     ", c.Bounded}, {"  missing  ", c.Missing}} {
		for _, text := range part.lines {
			WriteLine(out, part.name, text)
			part.name = "           "
		}
	}
	if c.Prevent != "" {
		WriteLine(out, "  prevent  ", c.Prevent)
	}
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
