package demo

import (
	"encoding/json"
	"fmt"
	"io"
	"slices"
	"strconv"
	"strings"
	"time"

	"ringleader.example/ringleader"
	"ringleader.example/ringleader/internal/show/report"
	"ringleader.example/ringleader/internal/show/report/fit"
)

// Event is a change that the demo shows: a line of JSON, or of the drawing.
type Event struct {
	Event   string          `json:"event"` // started, killed, paused, resumed, ended, restarted, running, cut, healed, slowed, told, role, lease, agreed, two leaders, failed
	Time    time.Time       `json:"time"`
	ID      uint64          `json:"id,omitempty"` // of the member concerned
	PID     int             `json:"pid,omitempty"`
	Listen  string          `json:"listen,omitempty"`
	HTTP    string          `json:"http,omitempty"`
	How     string          `json:"how,omitempty"`
	Role    ringleader.Role `json:"role,omitempty"`
	Leader  uint64          `json:"leader,omitempty"`  // absent if there is none
	Term    uint64          `json:"term,omitempty"`    // of the leader
	Members []uint64        `json:"members,omitempty"` // that agree, or that are leaders at once
	AfterMS float64         `json:"after_ms,omitempty"`

	after time.Duration // since the fault; of lease: until its end
	still bool          // they agreed before
	led   bool          // the member was leader before

	others    int           // of other times at which two members were leaders at once
	tolerated time.Duration // for how long that may be
}

// Summary is the last line of JSON.
type Summary struct {
	Event  string    `json:"event"` // summary
	Time   time.Time `json:"time"`
	Held   bool      `json:"held"`
	Faults []Fault   `json:"faults"`

	Interrupted bool `json:"interrupted,omitempty"` // the demo was ended while the members elected

	TwoLeaders   int     `json:"two_leaders,omitempty"`    // how often two members were leaders at once
	TwoLeadersMS float64 `json:"two_leaders_ms,omitempty"` // for how long at most
	CutLeadersMS float64 `json:"cut_leaders_ms,omitempty"` // for how long at most, with Bully and because a link was cut
}

// Fault is a command's effect on the group, with its times.
type Fault struct {
	Fault    string  `json:"fault"`
	Leader   uint64  `json:"leader,omitempty"`
	LedMS    float64 `json:"led_ms,omitempty"` // absent if it was leader before
	AgreedMS float64 `json:"agreed_ms"`
	Members  int     `json:"members"`
	Open     bool    `json:"open,omitempty"` // they did not agree before the next fault or the end
}

func inMS(d time.Duration) float64 { return float64(d.Microseconds()) / 1000 }

// display shows what happens: as JSON lines, or as a drawing in which each line has a time, what
// each member believes, and what changed.
type display struct {
	stdout, stderr io.Writer
	json           bool
	paint          report.Paint
	hints          bool // a person types commands
	columns        int  // of the terminal
	group          *group
	begun          time.Time
	stage          *Stage // nil: the demo has none
}

func (s *display) encode(line any) { json.NewEncoder(s.stdout).Encode(line) }

// print writes a line that fits.
func (s *display) print(line string) { fmt.Fprintln(s.stdout, fit.Line(line, s.columns)) }

// crowd reports whether there are too many members for a column each. Then only the group's events are shown: the
// leader, the commands, and when all agree.
func (s *display) crowd() bool {
	const room = 16 + 30 // for the time, and for what changed; the lease wraps
	return room+len(s.group.members)*(s.width()+1) > s.columns
}

// say is for what is not an event: answers to the user.
func (s *display) say(line string) {
	if s.json {
		fmt.Fprintln(s.stderr, line)
	} else {
		s.print(line)
	}
}

// heading opens the show, when the members have been started.
func (s *display) heading() {
	if s.json {
		for _, m := range s.group.members {
			s.encode(Event{Event: "started", Time: time.Now(), ID: m.id, PID: m.process.Pid, Listen: m.listen, HTTP: m.http})
		}
		return
	}
	n := len(s.group.members)
	by := map[ringleader.Algorithm]string{ringleader.Bully: "the Bully algorithm", ringleader.QuorumBully: "quorum-bully"}[s.group.algorithm]
	s.print(s.paint.Text(report.Bold, fmt.Sprintf("%d processes on this machine elect a leader by %s.", n, by)))
	if s.group.algorithm == ringleader.Bully {
		s.print(report.NoQuorum)
	} else {
		s.print("Each follower has granted its leader a lease. A leader leads while a majority has.")
	}
	s.print("")
	if s.crowd() {
		s.print(fmt.Sprintf("Members 1 to %d are too many for a column each; status lists them.", n))
	} else {
		s.status()
		s.print("")
		s.print(fmt.Sprintf("● leader   %d follower of %[1]d   ? electing   ‖ paused   ✕ not running", n))
	}
	if s.hints {
		s.print(fmt.Sprintf("commands: kill leader, start last, pause %d, resume %[1]d, cut leader | rest, heal, help, quit", n))
	}
	s.print("")
	header := "    time  "
	for _, m := range s.group.members {
		if !s.crowd() {
			header += fmt.Sprintf(" %*d", s.width(), m.id)
		}
	}
	if s.group.algorithm == ringleader.QuorumBully {
		header += "  term  lease"
	}
	s.print(s.paint.Text(report.Bold, header))
}

// status lists the members.
func (s *display) status() {
	s.say(s.paint.Text(report.Bold, "member  process  state           serves"))
	for _, m := range s.group.members {
		state := "starting"
		switch {
		case m.condition == paused:
			state = "paused"
		case m.condition == ended:
			state = "not running"
		case s.group.lapsed(m, time.Now()):
			state = "electing"
		case m.role == ringleader.Leader && m.term > 0:
			state = fmt.Sprintf("leader, term %d", m.term)
		case m.role == ringleader.Leader:
			state = "leader"
		case m.leader != 0:
			state = fmt.Sprintf("follower of %d", m.leader)
		case m.role != "":
			state = "electing"
		}
		s.say(fmt.Sprintf("%6d  %7d  %-14s  http://%s/status", m.id, m.process.itself().Pid, state, m.http))
	}
}

// event shows what changed.
func (s *display) event(e Event) {
	e.Time = time.Now()
	s.mirror(e)
	if s.json {
		e.AfterMS = inMS(e.after)
		s.encode(e)
		return
	}
	if s.crowd() && e.Event == "role" && (e.Role != ringleader.Leader || e.Term == 0 && slices.ContainsFunc(s.group.members, func(m *member) bool {
		return m.id > e.ID && m.condition == running
	})) {
		return // with Bully, a higher member should be leader
	}
	if e.Event == "running" {
		return
	}
	text, attribute := s.sentence(e)
	s.print(fmt.Sprintf("%8.3f s%s%s   %s", e.Time.Sub(s.begun).Seconds(), s.drawing(e.Time), s.lease(), s.paint.Text(attribute, text)))
}

// sentence returns what an event means, and how it is printed.
func (s *display) sentence(e Event) (text, attribute string) {
	switch e.Event {
	case "role":
		return roleOf(e)
	case "lease":
		text, attribute = fmt.Sprintf("the lease of %d runs down", e.ID), report.Faint
	case "cut":
		text, attribute = "cut: "+e.How, report.Red
	case "healed", "slowed":
		text, attribute = e.Event+": "+e.How, report.Yellow
	case "told":
		text, attribute = fmt.Sprintf("%d %s", e.ID, e.How), report.Yellow
	case "agreed":
		text, attribute = s.agreement(e), report.Bold
	case "two leaders":
		text, attribute = fmt.Sprintf("%s were leaders at the same time for %s", words(e.Members), inWords(e.after)), report.Yellow
		if e.after > e.tolerated {
			attribute = report.Red
		}
		if e.others > 0 {
			text += fmt.Sprintf(", and two members %s for less", times(e.others))
		}
	case "failed":
		text, attribute = e.How, report.Red
	case "started":
		text, attribute = fmt.Sprintf("%d started again (process %d)", e.ID, e.PID), report.Yellow
	case "restarted":
		text, attribute = fmt.Sprintf("%d killed and started again (process %d)", e.ID, e.PID), report.Yellow
	case "killed", "ended":
		text, attribute = fmt.Sprintf("%d %s (%s, process %d)", e.ID, e.Event, e.How, e.PID), report.Red
	default:
		text, attribute = fmt.Sprintf("%d %s (%s, process %d)", e.ID, e.Event, e.How, e.PID), report.Yellow
	}
	return text, attribute
}

// roleOf returns the new role of a member.
func roleOf(e Event) (text, attribute string) {
	switch {
	case e.Role == ringleader.Leader:
		return fmt.Sprintf("%d is leader after %s", e.ID, inWords(e.after)), report.Green
	case e.Leader != 0:
		return fmt.Sprintf("%d is follower of %d", e.ID, e.Leader), report.Faint
	case e.led:
		return fmt.Sprintf("%d leads no more", e.ID), report.Yellow
	}
	return fmt.Sprintf("%d starts an election", e.ID), report.Faint
}

// lease returns the greatest term of a leader, and what is left of its lease, as far as its last renewal is known.
func (s *display) lease() string {
	if s.group.algorithm == ringleader.Bully {
		return ""
	}
	var holder *member
	for _, m := range s.group.members {
		if !m.leads.IsZero() && m.term > 0 && m.condition != ended && (holder == nil || m.term >= holder.term) {
			holder = m
		}
	}
	if holder == nil {
		return fmt.Sprintf("  %4s  %6s", "–", "")
	}
	left := max(0, time.Until(holder.until))
	return fmt.Sprintf("  %4d  %3d ms", holder.term, left.Milliseconds())
}

// words lists identifiers: 4 and 5.
func words(ids []uint64) string {
	all := make([]string, len(ids))
	for i, id := range ids {
		all[i] = strconv.FormatUint(id, 10)
	}
	last := len(all) - 1
	return strings.Join(all[:last], ", ") + " and " + all[last]
}

func (s *display) agreement(e Event) string {
	all := fmt.Sprintf("all %d agree", len(e.Members))
	leaders, alive := s.group.leaders(), 0
	for _, m := range s.group.members {
		if m.condition == running {
			alive++
		}
	}
	switch {
	case alive == 0:
		return "no member is left"
	case len(e.Members) == 0:
		return "no majority, and no leader"
	case len(leaders) > 1:
		ids := make([]uint64, len(leaders))
		for i, m := range leaders {
			ids[i] = m.id
		}
		return words(ids) + " are leaders: each side has one"
	case len(e.Members) < alive:
		all = fmt.Sprintf("%d of %d agree", len(e.Members), alive)
	case len(e.Members) == 1:
		all = fmt.Sprintf("%d is alone", e.Leader)
	}
	if e.still {
		return fmt.Sprintf("%s: %d is still leader", all, e.Leader)
	}
	return fmt.Sprintf("%s after %s", all, inWords(e.after))
}

func (s *display) width() int { return len(strconv.Itoa(len(s.group.members))) }

// drawing returns the view of each member at a time, one per column.
func (s *display) drawing(at time.Time) string {
	if s.crowd() {
		return ""
	}
	var line strings.Builder
	for _, m := range s.group.members {
		sign, attribute := "·", report.Faint
		switch {
		case m.condition == ended:
			sign, attribute = "✕", report.Red
		case m.condition == paused:
			sign, attribute = "‖", report.Yellow
		case s.group.lapsed(m, at):
			sign, attribute = "?", report.Yellow
		case m.role == ringleader.Leader:
			sign, attribute = "●", report.Green
		case m.leader != 0:
			sign, attribute = strconv.FormatUint(m.leader, 10), ""
		case m.role != "":
			sign, attribute = "?", report.Yellow
		}
		line.WriteString(strings.Repeat(" ", 1+s.width()-len([]rune(sign))))
		line.WriteString(s.paint.Text(attribute, sign))
	}
	return line.String()
}

// summary ends the show.
func (s *display) summary(held, interrupted bool, faults []*fault, rivalries []time.Duration, cut time.Duration) {
	if s.json {
		end := Summary{
			Event: "summary", Time: time.Now(), Held: held, Interrupted: interrupted, TwoLeaders: len(rivalries), TwoLeadersMS: inMS(longest(rivalries)), CutLeadersMS: inMS(cut),
		}
		for _, f := range faults {
			end.Faults = append(end.Faults, Fault{f.what, f.leader, inMS(f.led), inMS(f.agreed), f.number, f.open})
		}
		s.encode(end)
		return
	}
	s.print("")
	verdict, attribute := "Passed: all running members agree on the highest of them.", report.Green
	if s.group.algorithm == ringleader.QuorumBully {
		verdict = "Passed: no two members had a lease at the same time, and all that reach a majority agree."
	}
	if interrupted {
		verdict, attribute = "Ended while the members elected: they did not agree yet.", report.Yellow
	}
	switch both := fmt.Sprintf("two leaders at the same time, %s, for %s at most", times(len(rivalries)), inWords(longest(rivalries))); {
	case s.group.algorithm == ringleader.QuorumBully && len(rivalries) > 0:
		verdict, attribute = fmt.Sprintf("Property violated: %s.", both), report.Red
	case longest(rivalries) > suspicion:
		verdict, attribute = fmt.Sprintf("Property violated: %s. A takeover takes less than %s.", both, inWords(suspicion)), report.Red
	case !held:
		verdict, attribute = "Failed: see the lines above.", report.Red
	case len(rivalries) > 0:
		verdict += " During takeovers there were " + both + "."
	}
	if cut > 0 {
		verdict += fmt.Sprintf(" Links were cut, and Bully has no quorum: there were two leaders for %s.", inWords(cut))
	}
	s.print(s.paint.Text(attribute, verdict))
	widest := slices.MaxFunc(faults, func(a, b *fault) int { return len(a.what) - len(b.what) })
	for _, f := range faults {
		line := fmt.Sprintf("  %-*s  ", len(widest.what), f.what)
		switch {
		case f.open:
			line += "no agreement before the next fault or the end"
		case f.number == 0:
			line += "no leader"
		case f.led == 0 && f.agreed == 0:
			line += fmt.Sprintf("%d remains leader           %d agree", f.leader, f.number)
		case f.led == 0:
			line += fmt.Sprintf("%d remains leader           %d agree after %8s", f.leader, f.number, inWords(f.agreed))
		default:
			line += fmt.Sprintf("%d is leader after %8s   %d agree after %8s", f.leader, inWords(f.led), f.number, inWords(f.agreed))
		}
		s.print(line)
	}
}

// times returns a number of occurrences in words.
func times(n int) string {
	if n == 1 {
		return "once"
	}
	return fmt.Sprintf("%d times", n)
}

// inWords returns a duration with two or three significant digits.
func inWords(d time.Duration) string {
	switch {
	case d < 100*time.Microsecond:
		return fmt.Sprintf("%d µs", d.Microseconds())
	case d < 10*time.Millisecond:
		return fmt.Sprintf("%.1f ms", inMS(d))
	case d < 10*time.Second:
		return fmt.Sprintf("%.0f ms", inMS(d))
	}
	return fmt.Sprintf("%.1f s", d.Seconds())
}
