package export

import (
	"bufio"
	"encoding/json"
	"fmt"
	"io"
	"maps"
	"strings"

	"ringleader.example/ringleader/trace"
)

// process returns the name of a process.
func process(r *trace.Record, q int) string {
	if len(r.IDs) > q {
		return fmt.Sprint(r.IDs[q])
	}
	return fmt.Sprintf("position %d", q)
}

// event returns a step in words.
func event(r *trace.Record, s *trace.Step) string {
	text := string(s.Event)
	if s.Kind != "" {
		text += " " + s.Kind
	}
	if s.Text != "" {
		text += " " + s.Text
	}
	if s.From > 0 {
		text += " from " + process(r, s.From-1)
	}
	return text + decisions(s)
}

// decisions returns what a step decides.
func decisions(s *trace.Step) (text string) {
	for _, d := range s.Decided {
		text += "; " + d.Role
		if d.Leader != nil && d.Role == "follower" {
			text += fmt.Sprintf(" of %d", *d.Leader)
		}
	}
	return text
}

// label returns a message in words.
func label(m *trace.Sent) string { return strings.TrimSpace(m.Kind + " " + m.Text) }

// Dot writes a run as a graph for Graphviz: a node for each event, edges down each process and along each message.
func Dot(to io.Writer, r *trace.Record) error {
	w := bufio.NewWriter(to)
	fmt.Fprintf(w, "digraph run {\n\tlabel=%q; rankdir=LR; node [shape=box, fontname=\"sans-serif\", fontsize=10]; edge [fontname=\"sans-serif\", fontsize=9];\n", r.Title)
	last, sent := map[int]int{}, map[int]*trace.Sent{}
	by := map[int]int{}
	for i := range r.Steps {
		s := &r.Steps[i]
		fmt.Fprintf(w, "\te%d [label=%q, group=p%d];\n", s.Number, process(r, s.Process)+": "+event(r, s), s.Process)
		if before, found := last[s.Process]; found {
			fmt.Fprintf(w, "\te%d -> e%d [style=dotted, arrowhead=none];\n", before, s.Number)
		}
		last[s.Process] = s.Number
		if m := sent[s.Message]; m != nil {
			fmt.Fprintf(w, "\te%d -> e%d [label=%q];\n", by[s.Message], s.Number, label(m))
		}
		for j := range s.Sent {
			sent[s.Sent[j].Message], by[s.Sent[j].Message] = &s.Sent[j], s.Number
		}
	}
	fmt.Fprintln(w, "}")
	return w.Flush()
}

// Mermaid writes a run as a sequence diagram. A message is drawn where it arrives.
func Mermaid(to io.Writer, r *trace.Record) error {
	w := bufio.NewWriter(to)
	fmt.Fprintln(w, "sequenceDiagram")
	for q := range r.N {
		fmt.Fprintf(w, "    participant p%d as %s\n", q, process(r, q))
	}
	for i := range r.Steps {
		s := &r.Steps[i]
		switch {
		case s.Message > 0 && s.From > 0:
			arrow := "->>"
			if s.Event == trace.Lost {
				arrow = "-x"
			}
			fmt.Fprintf(w, "    p%d%sp%d: %s\n", s.From-1, arrow, s.Process, plain(strings.TrimSpace(s.Kind+" "+s.Text)))
			if text := strings.TrimPrefix(decisions(s), "; "); text != "" {
				fmt.Fprintf(w, "    Note over p%d: %s\n", s.Process, plain(text))
			}
		default:
			fmt.Fprintf(w, "    Note over p%d: %s\n", s.Process, plain(event(r, s)))
		}
	}
	return w.Flush()
}

// plain returns a text without what Mermaid reads as the end of a line.
func plain(text string) string {
	return strings.NewReplacer(";", ",", "#", "no. ", "\n", " ").Replace(text)
}

// ShiViz writes a run as a log with vector clocks. The parser of ShiViz takes it with
//
//	(?<event>.*)\n(?<host>\S*) (?<clock>{.*})
func ShiViz(to io.Writer, r *trace.Record) error {
	w := bufio.NewWriter(to)
	clocks := make([]map[string]int, r.N) // by process, by host
	sent := map[int]map[string]int{}      // by message: the clock of its sender
	host := func(q int) string { return strings.ReplaceAll(process(r, q), " ", "-") }
	for q := range clocks {
		clocks[q] = map[string]int{}
	}
	for i := range r.Steps {
		s := &r.Steps[i]
		mine := clocks[s.Process]
		if s.Event == trace.Receive {
			for h, at := range sent[s.Message] {
				mine[h] = max(mine[h], at)
			}
		}
		mine[host(s.Process)]++
		clock, err := json.Marshal(mine) // in the order of the hosts
		if err != nil {
			return err
		}
		fmt.Fprintf(w, "%s\n%s %s\n", strings.ReplaceAll(event(r, s), "\n", " "), host(s.Process), clock)
		if len(s.Sent) > 0 {
			copied := maps.Clone(mine)
			for _, m := range s.Sent {
				sent[m.Message] = copied
			}
		}
	}
	return w.Flush()
}
