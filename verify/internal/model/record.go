package model

import (
	"fmt"
	"slices"

	"ringleader.example/ringleader/election"
	"ringleader.example/ringleader/trace"
)

// recorder repeats the run to a violation, and records it.
type recorder struct {
	*Checker
	trace.Record
	time   election.Ticks
	sent   int
	Last   Configuration
	Wrong  *Breach     // of a run that has begun: the first one
	again  int         // the first step that repeats for ever; 0: none does
	flying [][]journey // by link, in the order of sending

	longest election.Ticks // that a message was under way
}

type journey struct {
	number  int
	message uint32
	at      election.Ticks
}

// Violation repeats the run to a finding. What is found is told, also if the search is to end meanwhile.
func (c *Checker) Violation(f *Finding) *Violation {
	look := c.Look
	c.Look = nil
	defer func() { c.Look = look }()
	r := c.Record(f)
	if f.Round > 0 {
		f.Detail = fmt.Sprintf("steps %d to %d can repeat for ever, while no event that could happen is left out for ever", r.again, len(r.Steps))
	}
	if n := len(r.Steps); n > 0 && f.how != "" && r.Steps[n-1].Broken == "" { // a step that is impure may do no wrong when it is repeated
		r.Steps[n-1].Broken = trace.Graphic(f.how)
	}
	for _, link := range r.flying {
		for _, j := range link {
			r.lasts(j)
		}
	}
	return &Violation{Property: f.Property, Detail: f.Detail, Round: r.again, Record: r.Record, Outside: c.Unclaimed(r.used(c.Options.Unused()), r.longest)}
}

func (c *Checker) newRecorder() *recorder {
	r := &recorder{Checker: c, flying: make([][]journey, len(c.Links))}
	r.Header = trace.NewHeader(c.Declaration, c.Network)
	r.Timing, r.Clock = c.Declaration.Timing.String(), c.clock
	if c.clock && c.Declaration.Timing == election.Asynchronous { // in the simulator it is a timed run
		r.Timing = election.Timed.String()
	}
	return r
}

// Record repeats the run to a finding, and records it.
func (c *Checker) Record(f *Finding) *recorder {
	r := c.resumed()
	if r == nil {
		r = c.newRecorder()
		r.Last = c.Beginnings()[f.Root]
	}
	conf := r.Last
	for i, chosen := range f.Path {
		if f.Round > 0 && i == len(f.Path)-f.Round {
			r.again = len(r.Steps) + 1
		}
		var taken Transition
		var next Configuration
		ordinal := 0
		if c.Narrow != nil { // the path is one of those that partial order leaves
			c.Narrow(conf)
		}
		c.Transitions(conf, func(t *Transition, to Configuration) {
			if ordinal == chosen {
				taken, next = *t, slices.Clone(to)
			}
			ordinal++
		})
		r.note(&taken, conf)
		conf = next
	}
	r.Last = conf
	return r
}

// note records a transition out of a configuration.
func (r *recorder) note(t *Transition, conf Configuration) {
	switch {
	case t.Event == Waits:
		r.time = r.time.Add(t.Time)
		return
	case t.Event == Trusts && t.Outcome == nil:
		return // only the detector knows
	}
	step := trace.Step{Number: len(r.Steps) + 1, Time: r.time, Process: t.Process, Event: Events[t.Event], Port: -1}
	switch t.Event {
	case Receives, Loses:
		j := r.arrive(t, conf)
		step.Message, step.From = j.number, r.Links[t.Link].From+1
		step.Kind, step.Text = r.text(j.message)
		if t.Event == Receives {
			step.Port = int(t.At)
		}
	case Suspects, Trusts:
		step.Port, step.From = int(t.At), r.Links[r.Into[t.Process][t.At]].From+1
	case TimesOut:
		step.Text = r.Declaration.Timers[t.At]
	case Obeys:
		r.Values.Commands(r.Commands[t.At])
		step.Text = r.Values.CommandText()
	case Hastens:
		step.Text = trace.Hastened
	case Cuts, Heals:
		step.Text = r.Cuts[t.At].Text(r.Network)
	}
	if t.Outcome != nil {
		r.effects(&step, t)
	}
	if t.Breach != nil {
		step.Broken = trace.Graphic(t.Breach.how)
	}
	r.Steps = append(r.Steps, step)
	if t.Amid {
		text := trace.Amid(t.Left, len(t.Outcome.Sent))
		r.Steps = append(r.Steps, trace.Step{Number: len(r.Steps) + 1, Time: r.time, Process: t.Process, Event: trace.Crash, Port: -1, Text: text})
	}
	r.lost(&step, conf)
}

// lost records that messages of a step do not arrive, since their links are cut.
func (r *recorder) lost(step *trace.Step, conf Configuration) {
	first := int(r.Network.Network.First(step.Process))
	for _, s := range step.Sent {
		if link := first + s.Port; r.severed(conf, link) {
			flying := &r.flying[link]
			*flying = slices.DeleteFunc(*flying, func(j journey) bool { return j.number == s.Message })
			r.Steps = append(r.Steps, trace.Step{
				Number: len(r.Steps) + 1, Time: r.time, Process: s.To, Event: trace.Lost, Port: -1,
				Message: s.Message, From: step.Process + 1, Kind: s.Kind, Text: s.Text,
			})
		}
	}
}

// arrive removes the arriving message from those under way.
func (r *recorder) arrive(t *Transition, conf Configuration) journey {
	m := r.Queue(conf, t.Link)[t.Place]
	flying := &r.flying[t.Link]
	at := slices.IndexFunc(*flying, func(j journey) bool { return r.is(j, m) })
	j := (*flying)[at]
	r.lasts(j)
	if t.Again {
		r.sending(j.number).Copies++
		return j
	}
	*flying = slices.Delete(*flying, at, at+1)
	return j
}

// lasts takes into account how long a message has been under way.
func (r *recorder) lasts(j journey) {
	if took := r.time.Sub(j.at); r.longest.Less(took) {
		r.longest = took
	}
}

// is reports whether a message under way is that of a journey, or equal to it.
func (r *recorder) is(j journey, m underWay) bool {
	return j.message == m.Message && (r.Options.Lazy || j.at.Add(election.Units(uint64(m.Age))) == r.time)
}

// sending returns the record of the sending of a message.
func (r *recorder) sending(number int) *trace.Sent {
	for i := range r.Steps {
		if sent := r.Steps[i].Sent; len(sent) > 0 && number <= sent[len(sent)-1].Message {
			return &sent[number-sent[0].Message]
		}
	}
	panic("verify: a message that no step sent")
}

func (r *recorder) text(message uint32) (kind, text string) {
	m := r.Messages.Values[message]
	return r.Declaration.Kinds[m.Kind].Name, r.Values.Contents(m.Kind, m.Body)
}

func (r *recorder) effects(step *trace.Step, t *Transition) {
	step.Drew = t.Outcome.Drew
	leave := t.Outcome.Sent
	if t.Amid {
		leave = leave[:t.Left]
	}
	for _, s := range leave {
		r.sent++
		link := int(r.Network.Network.First(t.Process)) + int(s.Port)
		r.flying[link] = append(r.flying[link], journey{r.sent, s.Message, r.time})
		kind, text := r.text(s.Message)
		step.Sent = append(step.Sent, trace.Sent{Message: r.sent, To: r.Links[link].To, Port: int(s.Port), Kind: kind, Text: text})
	}
	for _, e := range t.Outcome.Effects {
		if !t.Amid {
			step.Add(e, r.Declaration.Timers, r.Network, t.Process)
		}
	}
	step.State = r.Values.StateText(r.Processes.Values[t.Outcome.Process].State)
}
