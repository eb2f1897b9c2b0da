// Package tracetest makes records for tests: random ones, and those of runs of algorithms of this module.
package tracetest

import (
	"fmt"

	"ringleader.example/ringleader/election"
	"ringleader.example/ringleader/internal/core/property"
	"ringleader.example/ringleader/trace"
)

// texts contain characters that JSON and XML escape.
var texts = property.SampledFrom([]string{"", "5", "ID 5, TTL 3", `<&>"'`, "½ → é", "\\n]]>"})

// Records generates arbitrary valid records, most of them of no algorithm.
var Records = property.Custom(func(t *property.T) *trace.Record {
	n := property.IntRange(1, 5).Draw(t, "n")
	r := &trace.Record{Header: trace.Header{
		Format: trace.Format, Algorithm: "any", Title: texts.Draw(t, "title"), N: n, Timing: "timed",
		Topology: property.SampledFrom([]string{"ring", "complete graph", "tree", "complete graph of strangers"}).Draw(t, "topology"),
		Seed:     property.Uint64().Draw(t, "seed"), Clock: property.Bool().Draw(t, "clock"),
	}}
	if property.Bool().Draw(t, "identifiers") { // equal ones, too
		r.IDs = property.SliceOfN(property.Uint64Range(0, 9), n, n).Draw(t, "ids")
	}
	if property.Bool().Draw(t, "parameters") {
		r.Parameters = map[string]string{"a": texts.Draw(t, "a"), "b": "3/2"}
		r.Changed = property.SampledFrom([][]string{nil, {"b"}, {"b", "a"}}).Draw(t, "changed")
	}
	for i := range property.IntRange(1, 6).Draw(t, "kinds") {
		class := property.SampledFrom([]string{"election", "announcement", "overhead"}).Draw(t, "class")
		r.Kinds = append(r.Kinds, trace.Kind{Name: fmt.Sprintf("kind%d<", i), Class: class})
	}
	d := recorder{T: t, r: r, crashed: make([]bool, n)}
	for range property.IntRange(0, 30).Draw(t, "steps") {
		d.step()
	}
	return r
})

type recorder struct {
	*property.T
	r        *trace.Record
	time     election.Ticks
	messages int
	underWay []underWay
	crashed  []bool
}

type underWay struct {
	sent trace.Sent
	from int
}

func (d *recorder) step() {
	s := trace.Step{Number: len(d.r.Steps) + 1, Process: d.position("process"), Port: -1, State: texts.Draw(d.T, "state")}
	if d.r.Clock {
		d.time = d.time.Add(property.SampledFrom([]election.Ticks{{}, election.Units(1), election.Units(7), election.Power(100)}).Draw(d.T, "gap"))
		s.Time = d.time
	}
	events := []trace.Event{trace.Start, trace.Timeout, trace.Crash, trace.Suspect, trace.Trust, trace.Command, trace.Fault, trace.Heal}
	if d.crashed[s.Process] {
		events = []trace.Event{trace.Recover, trace.Fault, trace.Heal}
	}
	if s.Event = property.SampledFrom(events).Draw(d.T, "event"); len(d.underWay) > 0 && property.IntRange(0, 3).Draw(d.T, "arrives") > 0 {
		i := property.IntRange(0, len(d.underWay)-1).Draw(d.T, "which")
		m := d.underWay[i]
		d.underWay = append(d.underWay[:i:i], d.underWay[i+1:]...)
		s.Process, s.Event = m.sent.To, trace.Receive
		s.Message, s.From, s.Kind, s.Text = m.sent.Message, m.from+1, m.sent.Kind, m.sent.Text
		if d.crashed[s.Process] || property.IntRange(0, 9).Draw(d.T, "lost") == 0 {
			s.Event = trace.Lost
		}
	}
	switch s.Event {
	case trace.Receive:
		s.Port = d.port()
	case trace.Suspect, trace.Trust:
		s.Port, s.From = d.port(), d.position("sender")+1
	case trace.Timeout, trace.Command, trace.Fault, trace.Heal:
		s.Text = "what <it> is"
	case trace.Crash, trace.Recover:
		d.crashed[s.Process] = s.Event == trace.Crash
	}
	switch s.Event {
	case trace.Crash, trace.Lost, trace.Fault, trace.Heal:
	default:
		d.effects(&s)
	}
	d.r.Steps = append(d.r.Steps, s)
}

func (d *recorder) effects(s *trace.Step) {
	for range property.IntRange(0, 3).Draw(d.T, "sends") {
		d.messages++
		kind := property.SampledFrom(d.r.Kinds).Draw(d.T, "kind").Name
		m := trace.Sent{Message: d.messages, To: d.position("to"), Port: d.port(), Kind: kind, Text: texts.Draw(d.T, "text")}
		s.Sent = append(s.Sent, m)
		d.underWay = append(d.underWay, underWay{m, s.Process})
	}
	for range property.IntRange(0, 1).Draw(d.T, "timers") {
		timer := trace.Timer{Name: "timer"}
		if property.Bool().Draw(d.T, "after") {
			wait := election.Ticks{Hi: property.Uint64().Draw(d.T, "hi"), Lo: property.Uint64().Draw(d.T, "lo")}
			timer.After = &wait
		}
		s.Timers = append(s.Timers, timer)
	}
	for range property.IntRange(0, 2).Draw(d.T, "decisions") {
		decision := trace.Decision{
			Role:   property.SampledFrom([]string{"leader", "follower", "undecided"}).Draw(d.T, "role"),
			Leader: new(property.Uint64().Draw(d.T, "leader")), Term: property.Uint64().Draw(d.T, "term"),
		}
		if property.Bool().Draw(d.T, "leased") {
			lease := election.Units(20)
			decision.Lease = &lease
		}
		s.Decided = append(s.Decided, decision)
	}
}

func (d *recorder) position(label string) int { return property.IntRange(0, d.r.N-1).Draw(d.T, label) }
func (d *recorder) port() int                 { return property.IntRange(0, 2).Draw(d.T, "port") }
