package simulate

import (
	"slices"

	"ringleader.example/ringleader/internal/core/process"
	"ringleader.example/ringleader/trace"
)

// recorder records the steps of a run.
type recorder struct {
	trace.Record
	sent      []sender // by number - 1
	bytes     int      // its size, about
	drew      []trace.Draw
	delivered int // the number of the last delivered message, for a step that fails
}

// sender is the part of a message that the step of its receipt needs.
type sender struct {
	process int
	kind    string
	phase   int // -1: of none
	text    string
	value   trace.Value
}

// number returns the number of the i-th message of the last recorded step; 0 without a record.
func (r *core) number(i int) int {
	if r.record == nil {
		return 0
	}
	return len(r.record.sent) - len(r.leaving()) + i + 1
}

// notes returns a source of choices whose values are recorded.
func (b *recorder) notes(choose func(uint32) uint32) func(uint32) uint32 {
	return func(n uint32) uint32 {
		value := choose(n)
		b.drew = append(b.drew, trace.Draw{Value: value, Among: n})
		return value
	}
}

// delivers records the number of the message that the next step receives.
func (r *core) delivers(number int) {
	if r.record != nil {
		r.record.delivered = number
	}
}

// note records a step of the process at p, with the collected effects.
func (r *core) note(p int, step trace.Step) {
	if r.record == nil {
		return
	}
	step.Number, step.Time, step.Process = len(r.record.Steps)+1, r.now, p
	if step.Message > 0 {
		m := r.record.sent[step.Message-1]
		step.From, step.Kind, step.Text, step.MessageValue = m.process+1, m.kind, m.text, m.value
	}
	switch step.Event {
	case trace.Lost, trace.Crash, trace.Fault, trace.Heal: // no step of the algorithm
		r.record.add(step)
		return
	}
	step.Drew, r.record.drew = r.record.drew, nil
	leaving := r.leaving()
	for i := range leaving {
		s := &leaving[i]
		to, _ := r.net.End(s.On())
		kind, text := r.d.Kinds[s.Kind()].Name, r.ps.Contents(s.Kind(), s.Message)
		var value trace.Value
		if r.values {
			value = trace.Value{Is: r.ps.Message(s.Message), RealOf: r.p.RealOf}
		}
		r.record.sent = append(r.record.sent, sender{p, kind, int(s.Phase), text, value})
		copies := 0
		if r.fate(i) == twice {
			copies = 1
		}
		step.Sent = append(step.Sent, trace.Sent{
			Message: len(r.record.sent), To: to, Port: int(s.On() - r.net.First(p)), Kind: kind, Text: text, Copies: copies, Value: value,
		})
	}
	for _, e := range r.step.Other {
		if r.unsent == 0 {
			step.Add(e, r.d.Timers, r.p, p)
		}
	}
	step.State, step.Lines = r.stateText(p), slices.Clone(r.ps.Lines())
	if r.values {
		step.StateValue = trace.Value{Is: r.ps.State(r.slot(p), r.local(p)), RealOf: r.p.RealOf}
	}
	r.record.add(step)
	if r.recorded > 0 && r.record.bytes > r.recorded {
		r.limit, r.look = 0, 0
	}
}

func (r *recorder) add(step trace.Step) {
	r.Steps = append(r.Steps, step)
	r.bytes += step.Bytes()
}

func (r *core) stateText(p int) string {
	return r.ps.StateText(r.slot(p), r.local(p))
}

// entered returns how often each phase was begun: by a step that sends a message of it which no message of that phase or of a later
// one caused, and which its process has not held back since it came. Other messages of a phase are passed on, or answer one.
func (r *recorder) entered(phases int) []uint64 {
	type held struct {
		process    int
		kind, text string
	}
	all, back := make([]uint64, phases), map[held]bool{}
	for i := range r.Steps {
		s, cause := &r.Steps[i], -1
		if s.Event == trace.Receive {
			if cause = r.sent[s.Message-1].phase; cause >= 0 && len(s.Sent) == 0 {
				back[held{s.Process, s.Kind, s.Text}] = true
			}
		}
		for _, m := range s.Sent {
			if phase := r.sent[m.Message-1].phase; phase > cause && !back[held{s.Process, m.Kind, m.Text}] {
				all[phase]++
				cause = phase
			}
		}
	}
	return all
}

// sending returns the step that sent a message.
func (r *recorder) sending(number int) *trace.Step {
	return &r.Steps[slices.IndexFunc(r.Steps, func(step trace.Step) bool {
		last := len(step.Sent) - 1
		return last >= 0 && step.Sent[last].Message >= number
	})]
}

// broken records the current step, which broke the contract.
func (b *recorder) broken(r *core, how string) {
	p, e := r.acting.process, r.acting.event
	step := trace.Step{Number: len(b.Steps) + 1, Time: r.now, Process: p, Event: events[e.What], Port: -1, State: r.stateText(p), Drew: b.drew, Broken: how}
	switch e.What {
	case process.Received:
		step.Message, step.Port = b.delivered, int(e.Port)
		m := b.sent[step.Message-1]
		step.From, step.Kind, step.Text, step.MessageValue = m.process+1, m.kind, m.text, m.value
	case process.Suspected, process.Trusted:
		q, _ := r.net.End(r.net.First(p) + uint32(e.Port))
		step.Port, step.From = int(e.Port), q+1
	case process.Expired:
		step.Text = r.d.Timers[e.Timer]
	case process.Commanded:
		step.Text = r.ps.CommandText()
	}
	if r.values {
		step.StateValue = trace.Value{Is: r.ps.State(r.slot(p), r.local(p)), RealOf: r.p.RealOf}
	}
	b.Steps = append(b.Steps, step)
}

// events are the events of package process as records name them.
var events = [...]trace.Event{trace.Start, trace.Recover, trace.Receive, trace.Timeout, trace.Suspect, trace.Trust, trace.Command}
