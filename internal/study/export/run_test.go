package export_test

import (
	"bytes"
	"encoding/json"
	"fmt"
	"io"
	"regexp"
	"strings"
	"testing"

	"ringleader.example/ringleader/faults"
	"ringleader.example/ringleader/internal/runners/bully"
	"ringleader.example/ringleader/internal/runners/lcr"
	"ringleader.example/ringleader/internal/study/export"
	"ringleader.example/ringleader/network"
	"ringleader.example/ringleader/simulate"
	"ringleader.example/ringleader/trace"
)

func ringOfTwo(t *testing.T) *trace.Record {
	t.Helper()
	r, err := simulate.New(lcr.Program).Run(simulate.Options{Setup: network.On(2, 1), Record: true})
	if err != nil {
		t.Fatal(err)
	}
	return r.Record
}

func written(t *testing.T, write func(io.Writer, *trace.Record) error, r *trace.Record) string {
	t.Helper()
	var text bytes.Buffer
	if err := write(&text, r); err != nil {
		t.Fatal(err)
	}
	return text.String()
}

func TestMermaidDrawsEachMessageWhereItArrives(t *testing.T) {
	want := `sequenceDiagram
    participant p0 as 2
    participant p1 as 1
    Note over p0: start
    Note over p1: start
    p0->>p1: election 2
    p1->>p0: election 1
    p1->>p0: election 2
    p0->>p1: leader 2
    Note over p1: follower of 2
    p1->>p0: leader 2
    Note over p0: leader
`
	if got := written(t, export.Mermaid, ringOfTwo(t)); got != want {
		t.Errorf("got\n%s", got)
	}
}

func TestDotHasANodeForEachEventAndAnEdgeForEachMessage(t *testing.T) {
	r := ringOfTwo(t)
	text := written(t, export.Dot, r)
	if nodes := strings.Count(text, "group=p"); nodes != len(r.Steps) {
		t.Errorf("%d nodes for %d events", nodes, len(r.Steps))
	}
	if edges := len(regexp.MustCompile(`-> e\d+ \[label=`).FindAllString(text, -1)); edges != 5 {
		t.Errorf("%d messages, want 5:\n%s", edges, text)
	}
}

// In a log of vector clocks each process counts its own events, and a message carries the clock of its sender.
func TestShiVizClocksCountTheCausalPast(t *testing.T) {
	r, err := simulate.New(bully.Program).Run(simulate.Options{
		Setup: network.On(1, 2, 3), Record: true, Faults: faults.Script{Crashes: []faults.Crash{{Process: 2}}},
	})
	if err != nil {
		t.Fatal(err)
	}
	lines := strings.Split(strings.TrimSpace(written(t, export.ShiViz, r.Record)), "\n")
	if len(lines) != 2*len(r.Record.Steps) {
		t.Fatalf("%d lines for %d events", len(lines), len(r.Record.Steps))
	}
	sent := map[int]map[string]int{}
	own := map[string]int{}
	for i, s := range r.Record.Steps {
		host, text, found := strings.Cut(lines[2*i+1], " ")
		clock := map[string]int{}
		if err := json.Unmarshal([]byte(text), &clock); err != nil || !found || host != fmt.Sprint(r.Record.IDs[s.Process]) {
			t.Fatalf("line %d: %q: %v", 2*i+2, lines[2*i+1], err)
		}
		own[host]++
		if clock[host] != own[host] {
			t.Errorf("event %d of %s has %v", own[host], host, clock)
		}
		if s.Event == trace.Receive {
			for h, at := range sent[s.Message] {
				if clock[h] < at {
					t.Errorf("step %d: %v is before the sender's %v", s.Number, clock, sent[s.Message])
				}
			}
		}
		for _, m := range s.Sent {
			sent[m.Message] = clock
		}
	}
}
