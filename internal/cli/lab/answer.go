package lab

import (
	"encoding/json"
	"slices"
	"strconv"

	"ringleader.example/ringleader/election"
	"ringleader.example/ringleader/internal/cli/plan"
	"ringleader.example/ringleader/internal/cli/run"
	"ringleader.example/ringleader/internal/show/report"
	"ringleader.example/ringleader/simulate"
	"ringleader.example/ringleader/trace"
)

// answer encodes a run for the page: its steps like the lines of a trace, but with times as text, since numbers of the page are doubles.
// Runs are long, so the encoding is written by hand, and leaves out what the page knows: the number of a step, what a message is that
// was sent before, and a state that is the last one of its process.
func (r *labRun) answer() (json.RawMessage, error) {
	head := struct {
		Run struct {
			Run     []string    `json:"run"`
			Choices plan.Walked `json:"choices,omitzero"`
		} `json:"run"`
		Call    string        `json:"call"`
		Result  any           `json:"result"`
		Entered []uint64      `json:"entered,omitzero"`
		Header  *trace.Header `json:"header"`
		States  []string      `json:"states"`
		Next    []offer       `json:"next,omitzero"`
		Faults  []offer       `json:"faults,omitzero"`
	}{Call: r.Command, Result: r.result, Entered: r.entered, Header: &r.record.Header, States: append([]string{}, r.states...)}
	head.Run.Run, head.Run.Choices = r.words, r.choices
	if r.walk != nil {
		head.Next, head.Faults = offers(r.walk, r.walk.Choices()), offers(r.walk, r.walk.Faults())
	}
	answer, err := report.PlainJSON(head)
	if err != nil {
		return nil, err
	}
	size := 0
	for i := range r.record.Steps {
		size += r.record.Steps[i].Bytes()
	}
	e := labEncoder(append(make([]byte, 0, len(answer)+2*size), answer[:len(answer)-1]...))
	e.raw(`,"steps":[`)
	last := slices.Clone(r.states)
	for i := range r.record.Steps {
		if i > 0 {
			e.raw(",")
		}
		s := &r.record.Steps[i]
		e.step(s, s.State != "" && s.State == last[s.Process])
		if s.State != "" {
			last[s.Process] = s.State
		}
	}
	e.raw("]}")
	return json.RawMessage(e), nil
}

// offer is an event that can come next.
type offer struct {
	Text    string `json:"text"`
	Choice  string `json:"choice"` // as the text of a walk has it
	Process int    `json:"process"`
	Message int    `json:"message,omitempty"` // of a delivery, loss or duplicate
}

func offers(w *run.Walker, choices []simulate.Choice) []offer {
	all := make([]offer, len(choices))
	for i, c := range choices {
		all[i] = offer{w.Text(c), plan.SavedChoiceOf(c).Text(), c.Process, w.Message(c)}
	}
	return all
}

// labEncoder appends JSON.
type labEncoder []byte

func (e *labEncoder) raw(text string) { *e = append(*e, text...) }

// number appends a field with a number.
func (e *labEncoder) number(name string, value int) {
	e.raw(name)
	*e = strconv.AppendInt(*e, int64(value), 10)
}

// text appends a field with a text, if there is one.
func (e *labEncoder) text(name, value string) {
	if value == "" {
		return
	}
	e.raw(name)
	for i := range len(value) {
		if c := value[i]; c < ' ' || c > '~' || c == '"' || c == '\\' {
			quoted, err := report.PlainJSON(value)
			if err != nil {
				panic(err) // a text can be encoded
			}
			*e = append(*e, quoted...)
			return
		}
	}
	*e = append(append(append(*e, '"'), value...), '"')
}

// ticks appends a field with a time, as text.
func (e *labEncoder) ticks(name string, t election.Ticks) {
	e.raw(name)
	*e = append(*e, '"')
	if t.Hi == 0 {
		*e = strconv.AppendUint(*e, t.Lo, 10)
	} else {
		*e = t.Big().Append(*e, 10)
	}
	*e = append(*e, '"')
}

// step appends a step. The state may be that which its process had before.
func (e *labEncoder) step(s *trace.Step, same bool) {
	e.ticks(`{"time":`, s.Time)
	e.number(`,"process":`, s.Process)
	e.text(`,"event":`, string(s.Event))
	if s.Message != 0 {
		e.number(`,"message":`, s.Message)
	} else {
		if s.From != 0 {
			e.number(`,"from":`, s.From)
		}
		e.text(`,"kind":`, s.Kind)
		e.text(`,"text":`, s.Text)
	}
	e.number(`,"port":`, s.Port)
	list(e, `,"drew":[`, s.Drew, e.draw)
	list(e, `,"sent":[`, s.Sent, e.sent)
	list(e, `,"timers":[`, s.Timers, e.timer)
	list(e, `,"decided":[`, s.Decided, e.decision)
	if same {
		e.raw(`,"same":1`)
	} else {
		e.text(`,"state":`, s.State)
	}
	e.text(`,"broken":`, s.Broken)
	list(e, `,"lines":[`, s.Lines, func(line *int) { e.number("", *line) })
	e.raw("}")
}

// list appends a field with a list, if there is one.
func list[T any](e *labEncoder, name string, all []T, one func(*T)) {
	for i := range all {
		if i == 0 {
			e.raw(name)
		} else {
			e.raw(",")
		}
		one(&all[i])
	}
	if len(all) > 0 {
		e.raw("]")
	}
}

func (e *labEncoder) sent(m *trace.Sent) {
	e.number(`{"message":`, m.Message)
	e.number(`,"to":`, m.To)
	e.number(`,"port":`, m.Port)
	e.text(`,"kind":`, m.Kind)
	e.text(`,"text":`, m.Text)
	if m.Copies != 0 {
		e.number(`,"copies":`, m.Copies)
	}
	e.raw("}")
}

func (e *labEncoder) draw(d *trace.Draw) {
	e.number(`{"value":`, int(d.Value))
	e.number(`,"among":`, int(d.Among))
	e.raw("}")
}

func (e *labEncoder) timer(t *trace.Timer) {
	e.text(`{"timer":`, t.Name)
	if t.After != nil {
		e.ticks(`,"after":`, *t.After)
	}
	e.raw("}")
}

func (e *labEncoder) decision(d *trace.Decision) {
	e.text(`{"role":`, d.Role)
	if d.Leader != nil {
		e.raw(`,"leader":`)
		*e = strconv.AppendUint(*e, *d.Leader, 10)
	}
	if d.Term != 0 {
		e.raw(`,"term":`)
		*e = strconv.AppendUint(*e, d.Term, 10)
	}
	if d.Lease != nil {
		e.ticks(`,"lease":`, *d.Lease)
	}
	e.raw("}")
}
