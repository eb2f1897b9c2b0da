package trace

import (
	"bufio"
	"fmt"
	"io"
	"slices"
	"strconv"
	"strings"
	"unicode/utf8"

	"ringleader.example/ringleader/election"
)

// Telling selects the steps of a story, and their form. The zero Telling selects all of them.
type Telling struct {
	Window
	Processes []int // positions; nil: all. A step is told if it is one of theirs
	After     int   // the steps after the one of this number
	Width     int   // columns of a line, within reason; 0: as many as it takes
	State     bool  // with the state of the process after each step
}

// Tells reports whether the telling has a step of the record with that header.
func (how *Telling) Tells(h *Header, s *Step) bool {
	return s.Number > how.After && how.Holds(h, s) && (how.Processes == nil || slices.Contains(how.Processes, s.Process))
}

// Story writes the record as text: a line a step, with its number, its time if there is a clock, the process, the
// event, and the effects.
func (r *Record) Story(w io.Writer) error { return r.Tell(w, Telling{}) }

// Tell writes the steps that the telling selects, as [Record.Story] does. Steps keep their numbers.
func (r *Record) Tell(w io.Writer, how Telling) error {
	if err := r.Validate(); err != nil {
		return err
	}
	names := r.naming()
	var told []*Step
	var rows [][4]string
	for i := range r.Steps {
		s := &r.Steps[i]
		if !how.Tells(&r.Header, s) {
			continue
		}
		told = append(told, s)
		rows = append(rows, [4]string{names.of(s.Process), r.time(s), r.event(s, names), r.effects(s, names)})
	}
	most := 40 // a longer event moves its own line only, and one without effects no line
	if how.Width > 0 {
		most = min(most, how.Width*2/5)
	}
	var width [4]int
	for _, row := range rows {
		for c, cell := range row {
			if n := utf8.RuneCountInString(cell); c != 2 || n <= most && row[3] != "" {
				width[c] = max(width[c], n)
			}
		}
	}
	out := bufio.NewWriter(w)
	digits := len(strconv.Itoa(len(r.Steps)))
	for i, row := range rows {
		line := fmt.Sprintf("%*d  ", digits, told[i].Number)
		if r.Clock {
			line += fmt.Sprintf("%-*s  ", width[1], row[1])
		}
		line += fmt.Sprintf("%*s  ", width[0], row[0])
		left := utf8.RuneCountInString(line)
		line += fmt.Sprintf("%-*s   %s", width[2], row[2], row[3])
		if wide := utf8.RuneCountInString(row[2]) > width[2]; wide && how.Width > 0 && utf8.RuneCountInString(line) > how.Width {
			line = line[:len(line)-len(row[3])-3] + "\n" + strings.Repeat(" ", left+width[2]+3) + row[3]
		}
		fmt.Fprintln(out, strings.TrimRight(line, " "))
		if how.State && told[i].State != "" {
			fmt.Fprintf(out, "%*s%s\n", left, "", told[i].State)
		}
	}
	return out.Flush()
}

// Line is a step in words, as [Record.Story] writes it.
type Line struct {
	Process string // its name
	Event   string // with the process as the subject
	Effects string
}

// Lines returns the steps in words.
func (r *Record) Lines() ([]Line, error) {
	if err := r.Validate(); err != nil {
		return nil, err
	}
	names := r.naming()
	lines := make([]Line, len(r.Steps))
	for i := range r.Steps {
		s := &r.Steps[i]
		lines[i] = Line{names.of(s.Process), r.event(s, names), r.effects(s, names)}
	}
	return lines, nil
}

// naming holds what the texts about a record need of all of it.
type naming struct {
	ids      []uint64
	repeated map[uint64]bool
	down     map[int]bool // numbers of the steps at which a message arrives at a crashed process
}

func (r *Record) naming() naming {
	n := naming{ids: r.IDs, repeated: map[uint64]bool{}, down: map[int]bool{}}
	seen := make(map[uint64]bool, len(r.IDs))
	for _, id := range r.IDs {
		n.repeated[id] = seen[id]
		seen[id] = true
	}
	crashed := map[int]bool{}
	for i := range r.Steps {
		switch s := &r.Steps[i]; s.Event {
		case Crash:
			crashed[s.Process] = true
		case Recover:
			delete(crashed, s.Process)
		case Lost:
			n.down[s.Number] = crashed[s.Process]
		}
	}
	return n
}

// cause returns why the message of a step is lost. A record does not distinguish cut links from links that lose messages by
// chance.
func (n naming) cause(s *Step) string {
	if n.down[s.Number] {
		return "receiver down"
	}
	return "on the link"
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

// event returns the event, with the process as the subject.
func (r *Record) event(s *Step, names naming) string {
	switch s.Event {
	case Start:
		return "initiates"
	case Receive:
		return "receives " + describe(s.Kind, s.Text) + " from " + names.of(s.From-1)
	case Lost:
		return describe(s.Kind, s.Text) + " from " + names.of(s.From-1) + " lost (" + names.cause(s) + ")"
	case Timeout:
		return TimerText(s.Text) + " expires"
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

// TimerText returns a declared timer in words for people: the answer timeout is when the answer timer expires.
func TimerText(name string) string { return strings.TrimSuffix(name, " timeout") + " timer" }

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
			did = append(did, "cancels "+TimerText(t.Name))
		case *t.After == election.Forever:
			did = append(did, "sets "+TimerText(t.Name)+" for ever")
		default:
			did = append(did, "sets "+TimerText(t.Name)+" to "+t.After.String())
		}
	}
	for _, d := range s.Decided {
		did = append(did, d.text())
	}
	if len(did) == 0 {
		return "no action"
	}
	return strings.Join(did, "; ")
}

// list returns "3", "3 and 4" or "3, 4 and 5".
func list(names []string) string {
	last := len(names) - 1
	if last == 0 {
		return names[0]
	}
	return strings.Join(names[:last], ", ") + " and " + names[last]
}

// text returns the decision, with the process as the subject. Leading is the purpose of an election, so it is in
// capitals.
func (d *Decision) text() string {
	var b strings.Builder
	switch d.Role {
	case "leader":
		b.WriteString("LEADER")
	case "follower":
		b.WriteString("follower")
		if d.Leader != nil {
			fmt.Fprintf(&b, " of %d", *d.Leader)
		}
	default:
		b.WriteString("electing")
	}
	if d.Term != 0 {
		fmt.Fprintf(&b, " in term %d", d.Term)
	}
	if d.Lease != nil {
		fmt.Fprintf(&b, " for %s", d.Lease)
	}
	return b.String()
}
