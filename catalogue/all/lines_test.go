package all_test

import (
	"os"
	"regexp"
	"strings"
	"testing"

	"ringleader.example/ringleader/catalogue/all"
	"ringleader.example/ringleader/simulate"
	"ringleader.example/ringleader/trace"
)

// calls matches a line that calls a function.
var calls = regexp.MustCompile(`^[^/]*\w\(`)

// values matches what differs between messages of a kind: lists, numbers, truth values, and no identifier.
var values = regexp.MustCompile(`\[.*?\](?:\]|\})*|\b(\d+|true|false|none)\b`)

// forms tests that all messages of a kind have the same fields: their type tells by its tags which those are.
func forms(t *testing.T, name string, r *trace.Record) {
	form := map[string]string{}
	for i := range r.Steps {
		for _, m := range r.Steps[i].Sent {
			is := values.ReplaceAllString(m.Text, "_")
			if before, found := form[m.Kind]; found && before != is {
				t.Errorf("%s: messages of kind %s have the forms %q and %q", name, m.Kind, before, is)
				return
			}
			form[m.Kind] = is
		}
	}
}

// Every line that has an effect is a call; a step without one has the line of its function.
func TestEffectsHaveTheirLinesAndMessagesTheirForms(t *testing.T) {
	for _, e := range all.Algorithms {
		var lines []string // those that have been numbered
		o := simulate.Options{Setup: small(e)[3], Record: true, Limit: 400, Seed: 1}
		o.Lines = func(file string, line int) int {
			folder := "stopandgo"
			if _, err := os.Stat("../../algorithms/" + strings.ReplaceAll(e.Name, "-", "")); err == nil {
				folder = strings.ReplaceAll(e.Name, "-", "")
			}
			text, err := os.ReadFile("../../algorithms/" + folder + "/" + file)
			if err != nil {
				t.Fatal(err)
			}
			lines = append(lines, strings.Split(string(text), "\n")[line-1])
			return len(lines)
		}
		r, err := e.Simulate(o)
		if err != nil {
			t.Errorf("%s: %v", e.Name, err)
			continue
		}
		forms(t, e.Name, r.Record)
		for i := range r.Record.Steps {
			step := &r.Record.Steps[i]
			if step.Event == trace.Crash || step.Event == trace.Lost {
				continue
			}
			acts := len(step.Sent)+len(step.Timers)+len(step.Decided) > 0
			if len(step.Lines) == 0 {
				t.Errorf("%s, step %d, %s: no lines", e.Name, step.Number, step.Event)
			}
			for _, line := range step.Lines {
				if code := lines[line-1]; !acts && !strings.HasPrefix(code, "func ") || acts && !calls.MatchString(code) {
					t.Errorf("%s, step %d, %s: line %d is %s", e.Name, step.Number, step.Event, line, code)
				}
			}
		}
	}
}
