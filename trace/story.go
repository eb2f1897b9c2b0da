package trace

import (
	"bufio"
	"fmt"
	"io"
	"math"
	"slices"
	"strconv"
	"strings"
	"unicode/utf8"

	"ringleader.example/ringleader/election"
	"ringleader.example/ringleader/network"
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
	texts := r.Texts()
	t := telling{clock: r.Clock, digits: len(strconv.Itoa(len(r.Steps)))}
	for i := range r.Steps {
		s := &r.Steps[i]
		if !how.Tells(&r.Header, s) {
			continue
		}
		row := row{number: s.Number, process: texts.Process(s.Process), time: r.time(s), event: texts.Event(s), effects: texts.Effects(s)}
		if how.State {
			row.state = s.State
		}
		t.rows = append(t.rows, row)
	}
	out := bufio.NewWriter(w)
	t.write(out, how.Width)
	return out.Flush()
}

// telling is the table of a story.
type telling struct {
	rows   []row
	clock  bool
	digits int // of the highest number of a step
}

type row struct {
	number                               int
	process, time, event, effects, state string
}

// write writes the rows in columns, on lines of that width; 0: on a line each, as wide as it takes. What does not fit into its
// column continues there on the next line.
func (t *telling) write(out io.Writer, width int) {
	var process, time, event, effects int // widths of columns
	for _, r := range t.rows {
		process, time = max(process, utf8.RuneCountInString(r.process)), max(time, utf8.RuneCountInString(r.time))
		if r.effects != "" { // else the event has the whole line
			event, effects = max(event, utf8.RuneCountInString(r.event)), max(effects, utf8.RuneCountInString(r.effects))
		}
	}
	const gap, least = 3, 20
	left := t.digits + 2 + process + 2
	if t.clock {
		left += time + 2
	}
	whole := math.MaxInt
	if width > 0 {
		room := max(2*least, width-left-gap)
		event = min(event, max(room/2, room-effects))
		effects, whole = room-event, room+gap
	}
	for _, r := range t.rows {
		fmt.Fprintf(out, "%*d  ", t.digits, r.number)
		if t.clock {
			fmt.Fprintf(out, "%-*s  ", time, r.time)
		}
		fmt.Fprintf(out, "%*s  ", process, r.process)
		if r.effects == "" {
			column(out, left, fold(r.event, whole))
		} else {
			columns(out, left, fold(r.event, event), event+gap, fold(r.effects, effects))
		}
		if r.state != "" {
			fmt.Fprintf(out, "%*s", left, "")
			column(out, left, fold(r.state, whole))
		}
	}
}

// column writes lines from a column on. The first one continues a line.
func column(out io.Writer, left int, lines []string) { columns(out, left, lines, 0, nil) }

// columns writes lines from a column on, and others beside them.
func columns(out io.Writer, left int, lines []string, width int, beside []string) {
	for i := range max(len(lines), len(beside)) {
		line := ""
		if i < len(lines) {
			line = lines[i]
		}
		if i < len(beside) {
			line = fmt.Sprintf("%-*s%s", width, line, beside[i])
		}
		if i > 0 {
			line = strings.Repeat(" ", left) + line
		}
		fmt.Fprintln(out, line)
	}
}

// fold breaks a text between words into lines of at most that width, if words allow it. All but the first are indented.
func fold(text string, width int) (lines []string) {
	if utf8.RuneCountInString(text) <= width {
		return []string{text}
	}
	for word := range strings.FieldsSeq(text) {
		last := len(lines) - 1
		switch {
		case last < 0:
			lines = []string{word}
		case utf8.RuneCountInString(lines[last])+1+utf8.RuneCountInString(word) <= width:
			lines[last] += " " + word
		default:
			lines = append(lines, "  "+word)
		}
	}
	return lines
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
	texts := r.Texts()
	lines := make([]Line, len(r.Steps))
	for i := range r.Steps {
		s := &r.Steps[i]
		lines[i] = Line{texts.Process(s.Process), texts.Event(s), texts.Effects(s)}
	}
	return lines, nil
}

// Texts says in words what happens in a record. It holds what these texts need of the whole record.
type Texts struct {
	ids      []uint64
	repeated map[uint64]bool
	down     map[int]bool // numbers of the steps at which a message arrives at a crashed process
}

// Texts returns the texts of a valid record; see [Record.Validate].
func (r *Record) Texts() *Texts {
	t := &Texts{ids: r.IDs, repeated: map[uint64]bool{}, down: map[int]bool{}}
	seen := make(map[uint64]bool, len(r.IDs))
	for _, id := range r.IDs {
		t.repeated[id] = seen[id]
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
			t.down[s.Number] = crashed[s.Process]
		}
	}
	return t
}

// cause returns why the message of a step is lost. A record does not distinguish cut links from links that lose messages by
// chance.
func (t *Texts) cause(s *Step) string {
	if t.down[s.Number] {
		return "receiver down"
	}
	return "on the link"
}

// Process returns the name of the process at a position: its identifier, with the position where others have the same one.
// On an anonymous network it is p0, p1, ….
func (t *Texts) Process(position int) string {
	if len(t.ids) == 0 {
		return "p" + strconv.Itoa(position)
	}
	name := strconv.FormatUint(t.ids[position], 10)
	if t.repeated[t.ids[position]] {
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

// Event returns the event of a step, with the process as the subject.
func (t *Texts) Event(s *Step) string {
	switch s.Event {
	case Start:
		return "initiates"
	case Receive:
		return "receives " + network.MessageText(s.Kind, s.Text) + " from " + t.Process(s.From-1)
	case Lost:
		return network.MessageText(s.Kind, s.Text) + " from " + t.Process(s.From-1) + " lost (" + t.cause(s) + ")"
	case Timeout:
		return TimerText(s.Text) + " expires"
	case Crash:
		return strings.TrimSpace("crashes " + s.Text)
	case Recover:
		return "recovers"
	case Suspect:
		return "suspects " + t.Process(s.From-1)
	case Trust:
		return "trusts " + t.Process(s.From-1) + " again"
	case Fault:
		return "fault: " + s.Text
	case Heal:
		return "healed: " + s.Text
	case Command:
		return "is asked to " + s.Text
	}
	panic("trace: an event that Validate knows and a story does not: " + s.Event)
}

// TimerText returns a declared timer in words for people: the answer timeout is when the answer timer expires.
func TimerText(name string) string { return strings.TrimSuffix(name, " timeout") + " timer" }

// Effects returns what a step did, in the order in which it takes effect.
func (t *Texts) Effects(s *Step) string {
	if s.passive() {
		return ""
	}
	did := s.draws()
	if s.Broken != "" {
		return strings.Join(append(did, "BREAKS THE CONTRACT: "+s.Broken), "; ")
	}
	for i := 0; i < len(s.Sent); {
		var to []string
		what := s.Sent[i].text()
		for ; i < len(s.Sent) && s.Sent[i].text() == what; i++ {
			to = append(to, t.Process(s.Sent[i].To))
		}
		did = append(did, "sends "+what+" to "+List(to))
	}
	for _, timer := range s.Timers {
		switch name := TimerText(timer.Name); {
		case timer.After == nil:
			did = append(did, "cancels "+name)
		case *timer.After == election.Forever:
			did = append(did, "sets "+name+" for ever")
		default:
			did = append(did, "sets "+name+" to "+timer.After.String())
		}
	}
	for _, d := range s.Decided {
		did = append(did, d.Text())
	}
	if len(did) == 0 {
		return "no action"
	}
	return strings.Join(did, "; ")
}

// text returns the message in words.
func (m *Sent) text() string { return network.MessageText(m.Kind, m.Text) }

// draws returns the random choices: those among the same number of values together.
func (s *Step) draws() (did []string) {
	for i := 0; i < len(s.Drew); {
		among, first := s.Drew[i].Among, i
		for i < len(s.Drew) && s.Drew[i].Among == among {
			i++
		}
		did = append(did, fmt.Sprintf("draws %s (of 0 to %d)", drawn(s.Drew[first:i]), among-1))
	}
	return did
}

// DrawnText lists the values of the step's random choices.
func (s *Step) DrawnText() string { return drawn(s.Drew) }

// drawn lists the values of choices.
func drawn(draws []Draw) string {
	values := make([]string, len(draws))
	for i, d := range draws {
		values[i] = strconv.FormatUint(uint64(d.Value), 10)
	}
	return List(values)
}

// List returns "3", "3 and 4" or "3, 4 and 5"; of no names it panics.
func List(names []string) string {
	last := len(names) - 1
	if last == 0 {
		return names[0]
	}
	return strings.Join(names[:last], ", ") + " and " + names[last]
}

// Text returns the decision, with the process as the subject. Leading is the purpose of an election, so it is in
// capitals.
func (d *Decision) Text() string {
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
