package explain

import (
	"fmt"
	"io"
	"time"

	"ringleader.example/ringleader/internal/serve/explain/words"
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
			records = "of " + words.Members(g.Recorded)
		}
		words.WriteLine(out, "records    ", records)
		if len(g.Missing) > 0 {
			words.WriteLine(out, "missing    ", words.Members(g.Missing)+": what only they know stays unknown")
		}
		for _, e := range g.Ends {
			words.WriteLine(out, "ends       ", fmt.Sprintf("member %d at %s, %s before the last entry of all: %s", e.Member, e.Time.Format("2006-01-02 15:04:05.000"), words.Lasts(g.To.Sub(e.Time)), e.how()))
		}
		for _, c := range g.Clocks {
			words.WriteLine(out, "clocks     ", c)
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
			words.WriteLine(out, "  what     ", v.What)
			if v.Step != "" {
				words.WriteLine(out, "  step     ", v.Step)
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
		return "it was removed: " + words.Members(e.Unlisted) + " refused it, with a list that has it no more"
	case len(e.Unlisted) > 0:
		return words.Members(e.Unlisted) + " refused it, with a list that has it not"
	}
	return "it was killed, or its record is not whole"
}

// writeChange prints a change of the leader.
func writeChange(out io.Writer, number int, c *Change) {
	most := ""
	if c.AtMost {
		most = "at most "
	}
	fmt.Fprintln(out)
	words.WriteLine(out, fmt.Sprintf("%d. %s ", number, c.Ended.Format("15:04:05.000")), fmt.Sprintf("%s → %s, %s%s without a leader", words.Leader(c.From, c.FromTerm), words.Leader(c.To, c.Term), most, words.Lasts(time.Duration(c.Nobody*float64(time.Second)))))
	certainty := string(c.Certainty)
	if c.Certainty == None {
		certainty = "its cause is not known"
	}
	words.WriteLine(out, "  cause    ", fmt.Sprintf("%s (%s): %s", c.Cause, certainty, c.Text))
	for _, part := range []struct {
		name  string
		lines []string
	}{{"  evidence ", c.Evidence}, {"  time     ", c.Bounded}, {"  missing  ", c.Missing}} {
		for _, text := range part.lines {
			words.WriteLine(out, part.name, text)
			part.name = "           "
		}
	}
	if c.Prevent != "" {
		words.WriteLine(out, "  prevent  ", c.Prevent)
	}
}
