package trace

import (
	"bufio"
	"fmt"
	"io"
	"strconv"
	"strings"
	"unicode/utf8"
)

// Story tells the record to people: a line a step, with its number, its time where there is a clock, the
// process, what happened to it, and what it did about that.
func (r *Record) Story(w io.Writer) error {
	if err := r.Validate(); err != nil {
		return err
	}
	const most = 40 // a longer event moves its own line only
	names := r.names()
	rows := make([][4]string, len(r.Steps))
	var width [4]int
	for i := range r.Steps {
		s := &r.Steps[i]
		rows[i] = [4]string{names[s.Process], r.time(s), r.event(s, names), r.effects(s, names)}
		for c, cell := range rows[i] {
			if n := utf8.RuneCountInString(cell); n <= most || c != 2 {
				width[c] = max(width[c], n)
			}
		}
	}
	out := bufio.NewWriter(w)
	digits := len(strconv.Itoa(len(rows)))
	for i, row := range rows {
		line := fmt.Sprintf("%*d  ", digits, i+1)
		if r.Clock {
			line += fmt.Sprintf("%-*s  ", width[1], row[1])
		}
		line += fmt.Sprintf("%*s  %-*s   %s", width[0], row[0], width[2], row[2], row[3])
		fmt.Fprintln(out, strings.TrimRight(line, " "))
	}
	return out.Flush()
}

// names are what processes are called, by position: their identifier, with the position where others have
// the same one; p0, p1, … where there are no identifiers.
func (r *Record) names() []string {
	names := make([]string, r.N)
	count := make(map[uint64]int, len(r.IDs))
	for _, id := range r.IDs {
		count[id]++
	}
	for p := range names {
		switch {
		case len(r.IDs) == 0:
			names[p] = "p" + strconv.Itoa(p)
		case count[r.IDs[p]] > 1:
			names[p] = fmt.Sprintf("%d@%d", r.IDs[p], p)
		default:
			names[p] = strconv.FormatUint(r.IDs[p], 10)
		}
	}
	return names
}

func (r *Record) time(s *Step) string {
	if !r.Clock {
		return ""
	}
	return "t=" + s.Time.String()
}

// event is what happened, with the process as the subject.
func (r *Record) event(s *Step, names []string) string {
	switch s.Event {
	case Start:
		return "starts"
	case Receive:
		return "receives " + describe(s.Kind, s.Text) + " from " + names[s.From-1]
	case Lost:
		return "never gets " + describe(s.Kind, s.Text) + " from " + names[s.From-1]
	case Timeout:
		return s.Text + " expires"
	case Crash:
		return "crashes"
	case Recover:
		return "recovers"
	case Suspect:
		return "suspects " + names[s.From-1]
	case Trust:
		return "trusts " + names[s.From-1] + " again"
	case Command:
		return "is asked to " + s.Text
	}
	panic("trace: an event that Validate knows and a story does not: " + s.Event)
}

func describe(kind, text string) string {
	if text == "" {
		return kind
	}
	return kind + " " + text
}

// effects is what the step did, in the order in which it takes effect.
func (r *Record) effects(s *Step, names []string) string {
	if s.Event == Crash || s.Event == Lost {
		return ""
	}
	var did []string
	for i := 0; i < len(s.Sent); {
		var to []string
		what := describe(s.Sent[i].Kind, s.Sent[i].Text)
		for ; i < len(s.Sent) && describe(s.Sent[i].Kind, s.Sent[i].Text) == what; i++ {
			to = append(to, names[s.Sent[i].To])
		}
		did = append(did, "sends "+what+" to "+list(to))
	}
	for _, t := range s.Timers {
		if t.After == nil {
			did = append(did, "stops "+t.Name)
		} else {
			did = append(did, "sets "+t.Name+" to "+t.After.String())
		}
	}
	for _, d := range s.Decided {
		did = append(did, d.text())
	}
	if len(did) == 0 {
		return "nothing follows"
	}
	return strings.Join(did, "; ")
}

// list is "3", "3 and 4" or "3, 4 and 5".
func list(names []string) string {
	last := len(names) - 1
	if last == 0 {
		return names[0]
	}
	return strings.Join(names[:last], ", ") + " and " + names[last]
}

// text says the decision, with the process as the subject. To lead is what everything is about, so it
// stands out.
func (d *Decision) text() string {
	var b strings.Builder
	switch d.Role {
	case "leader":
		b.WriteString("LEADS")
	case "follower":
		b.WriteString("follows")
		if d.Leader != 0 {
			fmt.Fprintf(&b, " %d", d.Leader)
		}
	default:
		b.WriteString("knows no leader")
	}
	if d.Term != 0 {
		fmt.Fprintf(&b, " in term %d", d.Term)
	}
	if d.Lease != nil {
		fmt.Fprintf(&b, " for %s", d.Lease)
	}
	return b.String()
}
