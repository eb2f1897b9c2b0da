package steps

import (
	"slices"

	"ringleader.example/ringleader/internal/core/process"
	"ringleader.example/ringleader/trace"
)

// Recorder records the steps of a run.
type Recorder struct {
	trace.Record
	Sent      []Sender // by number - 1
	bytes     int      // its size, about
	drew      []trace.Draw
	delivered int // the number of the last delivered message, for a step that fails
}

// Sender is the part of a message that the step of its receipt needs.
type Sender struct {
	Process int
	Kind    string
	phase   int // -1: of none
	Text    string
	value   trace.Value
}

// Number returns the number of the i-th message of the last recorded step; 0 without a record.
func (r *Core) Number(i int) int {
	if r.Record == nil {
		return 0
	}
	return len(r.Record.Sent) - len(r.Leaving()) + i + 1
}

// Notes returns a source of choices whose values are recorded.
func (b *Recorder) Notes(choose func(uint32) uint32) func(uint32) uint32 {
	return func(n uint32) uint32 {
		value := choose(n)
		b.drew = append(b.drew, trace.Draw{Value: value, Among: n})
		return value
	}
}

// Delivers records the number of the message that the next step receives.
func (r *Core) Delivers(number int) {
	if r.Record != nil {
		r.Record.delivered = number
	}
}

// Note records a step of the process at p, with the collected effects.
func (r *Core) Note(p int, step trace.Step) {
	if r.Record == nil {
		return
	}
	step.Number, step.Time, step.Process = len(r.Record.Steps)+1, r.Now, p
	if step.Message > 0 {
		m := r.Record.Sent[step.Message-1]
		step.From, step.Kind, step.Text, step.MessageValue = m.Process+1, m.Kind, m.Text, m.value
	}
	switch step.Event {
	case trace.Lost, trace.Crash, trace.Fault, trace.Heal: // no step of the algorithm
		r.Record.add(step)
		return
	}
	step.Drew, r.Record.drew = r.Record.drew, nil
	leaving := r.Leaving()
	for i := range leaving {
		s := &leaving[i]
		to, _ := r.Network.End(s.On())
		kind, text := r.Declaration.Kinds[s.Kind()].Name, r.Processes.Contents(s.Kind(), s.Message)
		var value trace.Value
		if r.Values {
			value = trace.Value{Is: r.Processes.Message(s.Message), RealOf: r.Instance.RealOf}
		}
		r.Record.Sent = append(r.Record.Sent, Sender{p, kind, int(s.Phase), text, value})
		copies := 0
		if r.Fate(i) == Twice {
			copies = 1
		}
		step.Sent = append(step.Sent, trace.Sent{
			Message: len(r.Record.Sent), To: to, Port: int(s.On() - r.Network.First(p)), Kind: kind, Text: text, Copies: copies, Value: value,
		})
	}
	for _, e := range r.Effects.Other {
		if r.Unsent == 0 {
			step.Add(e, r.Declaration.Timers, r.Instance, p)
		}
	}
	step.State, step.Lines = r.StateText(p), slices.Clone(r.Processes.Lines())
	if r.Values {
		step.StateValue = trace.Value{Is: r.Processes.State(r.Slot(p), r.Local(p)), RealOf: r.Instance.RealOf}
	}
	r.Record.add(step)
	if r.Recorded > 0 && r.Record.bytes > r.Recorded {
		r.Limit = 0
	}
}

func (r *Recorder) add(step trace.Step) {
	r.Steps = append(r.Steps, step)
	r.bytes += step.Bytes()
}

// StateText returns the state of the process at p as text.
func (r *Core) StateText(p int) string {
	return r.Processes.StateText(r.Slot(p), r.Local(p))
}

// entered returns how often each phase was begun: by a step that sends a message of it which no message of that phase or of a later
// one caused, and which its process has not held back since it came. Other messages of a phase are passed on, or answer one.
func (r *Recorder) entered(phases int) []uint64 {
	type held struct {
		process    int
		kind, text string
	}
	all, back := make([]uint64, phases), map[held]bool{}
	for i := range r.Steps {
		s, cause := &r.Steps[i], -1
		if s.Event == trace.Receive {
			if cause = r.Sent[s.Message-1].phase; cause >= 0 && len(s.Sent) == 0 {
				back[held{s.Process, s.Kind, s.Text}] = true
			}
		}
		for _, m := range s.Sent {
			if phase := r.Sent[m.Message-1].phase; phase > cause && !back[held{s.Process, m.Kind, m.Text}] {
				all[phase]++
				cause = phase
			}
		}
	}
	return all
}

// Sending returns the step that sent a message.
func (r *Recorder) Sending(number int) *trace.Step {
	return &r.Steps[slices.IndexFunc(r.Steps, func(step trace.Step) bool {
		last := len(step.Sent) - 1
		return last >= 0 && step.Sent[last].Message >= number
	})]
}

// Broken records the current step, which broke the contract.
func (b *Recorder) Broken(r *Core, how string) {
	p, e := r.Acting.Process, r.Acting.Event
	step := trace.Step{Number: len(b.Steps) + 1, Time: r.Now, Process: p, Event: events[e.What], Port: -1, State: r.StateText(p), Drew: b.drew, Broken: how}
	switch e.What {
	case process.Received:
		step.Message, step.Port = b.delivered, int(e.Port)
		m := b.Sent[step.Message-1]
		step.From, step.Kind, step.Text, step.MessageValue = m.Process+1, m.Kind, m.Text, m.value
	case process.Suspected, process.Trusted:
		q, _ := r.Network.End(r.Network.First(p) + uint32(e.Port))
		step.Port, step.From = int(e.Port), q+1
	case process.Expired:
		step.Text = r.Declaration.Timers[e.Timer]
	case process.Commanded:
		step.Text = r.Processes.CommandText()
	}
	if r.Values {
		step.StateValue = trace.Value{Is: r.Processes.State(r.Slot(p), r.Local(p)), RealOf: r.Instance.RealOf}
	}
	b.Steps = append(b.Steps, step)
}

// events are the events of package process as records name them.
var events = [...]trace.Event{trace.Start, trace.Recover, trace.Receive, trace.Timeout, trace.Suspect, trace.Trust, trace.Command}
