package verify

import (
	"fmt"
	"slices"

	"ringleader.example/ringleader/election"
	"ringleader.example/ringleader/trace"
)

// recorder repeats the run to a violation, and records it.
type recorder struct {
	*checker
	trace.Record
	time   election.Ticks
	sent   int
	last   configuration
	wrong  *breach     // of a run that has begun: the first one
	again  int         // the first step that repeats for ever; 0: none does
	flying [][]journey // by link, in the order of sending
}

type journey struct {
	number  int
	message uint32
	at      election.Ticks
}

// violation repeats the run to a finding.
func (c *checker) violation(f *finding) *violation {
	r := c.record(f)
	if f.round > 0 {
		f.Detail = fmt.Sprintf("steps %d to %d can repeat for ever, while no event that could happen is left out for ever", r.again, len(r.Steps))
	}
	if n := len(r.Steps); n > 0 && f.how != "" && r.Steps[n-1].Broken == "" { // a step that is impure may do no wrong when it is repeated
		r.Steps[n-1].Broken = trace.Graphic(f.how)
	}
	return &violation{Property: f.Property, Detail: f.Detail, Round: r.again, Record: r.Record, Outside: c.unclaimed(r.used(c.o.unused()))}
}

func (c *checker) newRecorder() *recorder {
	r := &recorder{checker: c, flying: make([][]journey, len(c.links))}
	r.Header = trace.NewHeader(c.d, c.network)
	r.Timing, r.Clock = c.d.Timing.String(), c.clock
	if c.clock && c.d.Timing == election.Asynchronous { // in the simulator it is a timed run
		r.Timing = election.Timed.String()
	}
	return r
}

func (c *checker) record(f *finding) *recorder {
	r := c.resumed()
	if r == nil {
		r = c.newRecorder()
		r.last = c.beginnings()[f.root]
	}
	conf := r.last
	for i, chosen := range f.path {
		if f.round > 0 && i == len(f.path)-f.round {
			r.again = len(r.Steps) + 1
		}
		var taken transition
		var next configuration
		ordinal := 0
		if c.narrow != nil { // the path is one of those that partial order leaves
			c.narrow(conf)
		}
		c.transitions(conf, func(t *transition, to configuration) {
			if ordinal == chosen {
				taken, next = *t, slices.Clone(to)
			}
			ordinal++
		})
		r.note(&taken, conf)
		conf = next
	}
	r.last = conf
	return r
}

// note records a transition out of a configuration.
func (r *recorder) note(t *transition, conf configuration) {
	switch {
	case t.event == waits:
		r.time = r.time.Add(t.time)
		return
	case t.event == trusts && t.outcome == nil:
		return // only the detector knows
	}
	step := trace.Step{Number: len(r.Steps) + 1, Time: r.time, Process: t.process, Event: events[t.event], Port: -1}
	switch t.event {
	case receives, loses:
		j := r.arrive(t, conf)
		step.Message, step.From = j.number, r.links[t.link].from+1
		step.Kind, step.Text = r.text(j.message)
		if t.event == receives {
			step.Port = int(t.at)
		}
	case suspects, trusts:
		step.Port, step.From = int(t.at), r.links[r.into[t.process][t.at]].from+1
	case timesOut:
		step.Text = r.d.Timers[t.at]
	case obeys:
		r.values.Commands(r.commands[t.at])
		step.Text = r.values.CommandText()
	case hastens:
		step.Text = trace.Hastened
	case cuts, heals:
		step.Text = r.cuts[t.at].Text(r.network)
	}
	if t.outcome != nil {
		r.effects(&step, t)
	}
	if t.breach != nil {
		step.Broken = trace.Graphic(t.breach.how)
	}
	r.Steps = append(r.Steps, step)
	if t.amid {
		text := trace.Amid(t.left, len(t.outcome.sent))
		r.Steps = append(r.Steps, trace.Step{Number: len(r.Steps) + 1, Time: r.time, Process: t.process, Event: trace.Crash, Port: -1, Text: text})
	}
	r.lost(&step, conf)
}

// lost records that messages of a step do not arrive, since their links are cut.
func (r *recorder) lost(step *trace.Step, conf configuration) {
	first := int(r.network.Network.First(step.Process))
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
func (r *recorder) arrive(t *transition, conf configuration) journey {
	m := r.queue(conf, t.link)[t.place]
	flying := &r.flying[t.link]
	at := slices.IndexFunc(*flying, func(j journey) bool { return r.is(j, m) })
	j := (*flying)[at]
	if t.again {
		r.sending(j.number).Copies++
		return j
	}
	*flying = slices.Delete(*flying, at, at+1)
	return j
}

// is reports whether a message under way is that of a journey, or equal to it.
func (r *recorder) is(j journey, m underWay) bool {
	return j.message == m.Message && (r.o.Lazy || j.at.Add(election.Units(uint64(m.Age))) == r.time)
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
	m := r.messages.values[message]
	return r.d.Kinds[m.Kind].Name, r.values.Contents(m.Kind, m.Body)
}

func (r *recorder) effects(step *trace.Step, t *transition) {
	step.Drew = t.outcome.drew
	leave := t.outcome.sent
	if t.amid {
		leave = leave[:t.left]
	}
	for _, s := range leave {
		r.sent++
		link := int(r.network.Network.First(t.process)) + int(s.port)
		r.flying[link] = append(r.flying[link], journey{r.sent, s.message, r.time})
		kind, text := r.text(s.message)
		step.Sent = append(step.Sent, trace.Sent{Message: r.sent, To: r.links[link].to, Port: int(s.port), Kind: kind, Text: text})
	}
	for _, e := range t.outcome.effects {
		if !t.amid {
			step.Add(e, r.d.Timers, r.network, t.process)
		}
	}
	step.State = r.values.StateText(r.processes.values[t.outcome.process].State)
}
