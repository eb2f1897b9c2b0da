package trace

import (
	"bufio"
	"fmt"
	"io"
	"strconv"
	"strings"
	"unicode/utf8"

	"ringleader.example/ringleader/election"
)

// Story tells the record to people: a line a step, with its number, its time where there is a clock, the
// process, what happened to it, and what it did about that.
func (r *Record) Story(w io.Writer) error {
	if err := r.Validate(); err != nil {
		return err
	}
	const most = 40 // a longer event moves its own line only
	names := r.naming()
	rows := make([][4]string, len(r.Steps))
	var width [4]int
	for i := range r.Steps {
		s := &r.Steps[i]
		rows[i] = [4]string{names.of(s.Process), r.time(s), r.event(s, names), r.effects(s, names)}
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

// naming says what processes are called.
type naming struct {
	ids      []uint64
	repeated map[uint64]bool
}

func (r *Record) naming() naming {
	n := naming{ids: r.IDs, repeated: map[uint64]bool{}}
	seen := make(map[uint64]bool, len(r.IDs))
	for _, id := range r.IDs {
		n.repeated[id] = seen[id]
		seen[id] = true
	}
	return n
}

// of is the identifier at a position, with the position where others have the same one; p0, p1, … where
// there are no identifiers.
func (n naming) of(position int) string {
	if len(n.ids) == 0 {
		return "p" + strconv.Itoa(position)
	}
	name := strconv.FormatUint(n.ids[position], 10)
	if n.repeated[n.ids[position]] {
		name += "@" + strconv.Itoa(position)
	}
	return name
}

func (r *Record) time(s *Step) string {
	if !r.Clock {
		return ""
	}
	return "t=" + s.Time.String()
}

// event is what happened, with the process as the subject.
func (r *Record) event(s *Step, names naming) string {
	switch s.Event {
	case Start:
		return "starts"
	case Receive:
		return "receives " + describe(s.Kind, s.Text) + " from " + names.of(s.From-1)
	case Lost:
		return "never gets " + describe(s.Kind, s.Text) + " from " + names.of(s.From-1)
	case Timeout:
		return s.Text + " expires"
	case Crash:
		return describe("crashes", s.Text)
	case Recover:
		return "recovers"
	case Suspect:
		return "suspects " + names.of(s.From-1)
	case Trust:
		return "trusts " + names.of(s.From-1) + " again"
	case Fault:
		return "fault: " + s.Text
	case Heal:
		return "healed: " + s.Text
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
func (r *Record) effects(s *Step, names naming) string {
	if s.passive() {
		return ""
	}
	if s.Broken != "" {
		return "BREAKS THE CONTRACT: " + s.Broken
	}
	var did []string
	for i := 0; i < len(s.Sent); {
		var to []string
		what := describe(s.Sent[i].Kind, s.Sent[i].Text)
		for ; i < len(s.Sent) && describe(s.Sent[i].Kind, s.Sent[i].Text) == what; i++ {
			to = append(to, names.of(s.Sent[i].To))
		}
		did = append(did, "sends "+what+" to "+list(to))
	}
	for _, t := range s.Timers {
		switch {
		case t.After == nil:
			did = append(did, "stops "+t.Name)
		case *t.After == election.Forever:
			did = append(did, "sets "+t.Name+" for ever")
		default:
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
		if d.Leader != nil {
			fmt.Fprintf(&b, " %d", *d.Leader)
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
