package cli

import (
	"encoding/json"
	"fmt"
	"io"
	"slices"
	"strconv"
	"strings"
	"time"

	"ringleader.example/ringleader"
)

// demoEvent is a change that the demo shows: a line of JSON, or of the drawing.
type demoEvent struct {
	Event   string          `json:"event"` // started, killed, paused, resumed, ended, role, agreed, failed
	Time    time.Time       `json:"time"`
	ID      uint64          `json:"id,omitempty"` // of the member concerned
	PID     int             `json:"pid,omitempty"`
	Listen  string          `json:"listen,omitempty"`
	HTTP    string          `json:"http,omitempty"`
	How     string          `json:"how,omitempty"`
	Role    ringleader.Role `json:"role,omitempty"`
	Leader  uint64          `json:"leader,omitempty"`  // absent if there is none
	Members []uint64        `json:"members,omitempty"` // that agree
	AfterMS float64         `json:"after_ms,omitempty"`

	after time.Duration // since the fault
	still bool          // they agreed before
}

// demoSummary is the last line of JSON.
type demoSummary struct {
	Event  string      `json:"event"` // summary
	Time   time.Time   `json:"time"`
	Held   bool        `json:"held"`
	Faults []demoFault `json:"faults"`
}

type demoFault struct {
	Fault    string  `json:"fault"`
	Leader   uint64  `json:"leader,omitempty"`
	LedMS    float64 `json:"led_ms,omitempty"` // absent if it led all along
	AgreedMS float64 `json:"agreed_ms"`
	Members  int     `json:"members"`
	Open     bool    `json:"open,omitempty"` // they did not agree before the next fault or the end
}

func inMS(d time.Duration) float64 { return float64(d.Microseconds()) / 1000 }

// demoDisplay shows what happens: as JSON lines, or as a drawing in which each line has a time, what
// each member believes, and what changed.
type demoDisplay struct {
	stdout, stderr io.Writer
	json           bool
	paint          paint
	prompt         bool // one awaits the user's commands below the drawing
	members        []*member
	begun          time.Time
}

func (s *demoDisplay) encode(line any) { json.NewEncoder(s.stdout).Encode(line) }

// print writes a line above the prompt.
func (s *demoDisplay) print(line string) {
	if s.prompt {
		fmt.Fprintf(s.stdout, "\r\x1b[K%s\n> ", line) // clears the prompt, and writes it anew
	} else {
		fmt.Fprintln(s.stdout, line)
	}
}

// say is for what is not an event: answers to the user.
func (s *demoDisplay) say(line string) {
	if s.json {
		fmt.Fprintln(s.stderr, line)
	} else {
		s.print(line)
	}
}

// heading opens the show, when the members have been started.
func (s *demoDisplay) heading() {
	if s.json {
		for _, m := range s.members {
			s.encode(demoEvent{Event: "started", Time: time.Now(), ID: m.id, PID: m.process.Pid, Listen: m.listen, HTTP: m.http})
		}
		return
	}
	prompt, n := s.prompt, len(s.members)
	s.prompt = false
	s.print(s.paint.text(bold, fmt.Sprintf("%d processes on this machine elect the highest of them by the Bully algorithm.", n)))
	s.print(noQuorum + "\n")
	s.status()
	s.print(fmt.Sprintf("\n● leads   %d follows %[1]d   ? holds an election   ‖ paused   ✕ not running", n))
	if prompt {
		s.print(fmt.Sprintf("commands: kill %d, pause %[1]d, resume %[1]d, start %[1]d, status, help, quit", n))
	}
	header := "\n    time  "
	for _, m := range s.members {
		header += fmt.Sprintf(" %*d", s.width(), m.id)
	}
	s.prompt = prompt
	s.print(s.paint.text(bold, header))
}

// status lists the members.
func (s *demoDisplay) status() {
	s.say(s.paint.text(bold, "member  process  state           serves"))
	for _, m := range s.members {
		state := "starts"
		switch {
		case m.condition == paused:
			state = "is paused"
		case m.condition == ended:
			state = "is not running"
		case m.role == ringleader.Leader:
			state = "leads"
		case m.leader != 0:
			state = fmt.Sprintf("follows %d", m.leader)
		case m.role != "":
			state = "elects"
		}
		s.say(fmt.Sprintf("%6d  %7d  %-14s  http://%s/status", m.id, m.process.Pid, state, m.http))
	}
}

// event shows what changed.
func (s *demoDisplay) event(e demoEvent) {
	e.Time = time.Now()
	if s.json {
		e.AfterMS = inMS(e.after)
		s.encode(e)
		return
	}
	text, attribute := "", ""
	switch e.Event {
	case "role":
		switch {
		case e.Role == ringleader.Leader:
			text, attribute = fmt.Sprintf("%d leads after %s", e.ID, inWords(e.after)), green
		case e.Leader != 0:
			text, attribute = fmt.Sprintf("%d follows %d", e.ID, e.Leader), faint
		default:
			text, attribute = fmt.Sprintf("%d holds an election", e.ID), faint
		}
	case "agreed":
		text, attribute = agreement(e), bold
	case "failed":
		text, attribute = e.How, red
	case "started":
		text, attribute = fmt.Sprintf("%d started again (process %d)", e.ID, e.PID), yellow
	case "killed", "ended":
		text, attribute = fmt.Sprintf("%d %s (%s, process %d)", e.ID, e.Event, e.How, e.PID), red
	default:
		text, attribute = fmt.Sprintf("%d %s (%s, process %d)", e.ID, e.Event, e.How, e.PID), yellow
	}
	s.print(fmt.Sprintf("%8.3f s%s   %s", e.Time.Sub(s.begun).Seconds(), s.drawing(), s.paint.text(attribute, text)))
}

func agreement(e demoEvent) string {
	all := fmt.Sprintf("all %d agree", len(e.Members))
	switch {
	case len(e.Members) == 0:
		return "nobody is left"
	case len(e.Members) == 1:
		all = fmt.Sprintf("%d is alone", e.Leader)
	}
	if e.still {
		return fmt.Sprintf("%s: %d still leads", all, e.Leader)
	}
	return fmt.Sprintf("%s after %s", all, inWords(e.after))
}

func (s *demoDisplay) width() int { return len(strconv.Itoa(len(s.members))) }

// drawing is what each member believes, one a column.
func (s *demoDisplay) drawing() string {
	var line strings.Builder
	for _, m := range s.members {
		sign, attribute := "·", faint
		switch {
		case m.condition == ended:
			sign, attribute = "✕", red
		case m.condition == paused:
			sign, attribute = "‖", yellow
		case m.role == ringleader.Leader:
			sign, attribute = "●", green
		case m.leader != 0:
			sign, attribute = strconv.FormatUint(m.leader, 10), ""
		case m.role != "":
			sign, attribute = "?", yellow
		}
		line.WriteString(strings.Repeat(" ", 1+s.width()-len([]rune(sign))))
		line.WriteString(s.paint.text(attribute, sign))
	}
	return line.String()
}

// summary ends the show.
func (s *demoDisplay) summary(held bool, faults []*fault) {
	if s.json {
		end := demoSummary{Event: "summary", Time: time.Now(), Held: held}
		for _, f := range faults {
			end.Faults = append(end.Faults, demoFault{f.what, f.leader, inMS(f.led), inMS(f.agreed), f.number, f.open})
		}
		s.encode(end)
		return
	}
	s.prompt = false
	s.print("")
	verdict, attribute := "The election held: all running members agree on the highest of them.", green
	if !held {
		verdict, attribute = "The election did not hold; the lines above say where.", red
	}
	s.print(s.paint.text(attribute, verdict))
	longest := slices.MaxFunc(faults, func(a, b *fault) int { return len(a.what) - len(b.what) })
	for _, f := range faults {
		line := fmt.Sprintf("  %-*s  ", len(longest.what), f.what)
		switch {
		case f.open:
			line += "no agreement before the next fault or the end"
		case f.number == 0:
			line += "nobody is left"
		case f.led == 0 && f.agreed == 0:
			line += fmt.Sprintf("%d leads all along        all %d agree", f.leader, f.number)
		case f.led == 0:
			line += fmt.Sprintf("%d leads all along        all %d agree after %8s", f.leader, f.number, inWords(f.agreed))
		default:
			line += fmt.Sprintf("%d leads after %8s   all %d agree after %8s", f.leader, inWords(f.led), f.number, inWords(f.agreed))
		}
		s.print(line)
	}
}

// inWords is a duration with as many digits as one reads.
func inWords(d time.Duration) string {
	switch {
	case d < 10*time.Millisecond:
		return fmt.Sprintf("%.1f ms", inMS(d))
	case d < 10*time.Second:
		return fmt.Sprintf("%.0f ms", inMS(d))
	}
	return fmt.Sprintf("%.1f s", d.Seconds())
}
