package verify

import (
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
	flying [][]journey // by link, in the order of sending
}

type journey struct {
	number  int
	message uint32
	at      election.Ticks
}

func (c *checker) record(f *finding) trace.Record {
	r := &recorder{checker: c, flying: make([][]journey, len(c.links))}
	r.Header = trace.NewHeader(c.d, c.network)
	r.Timing, r.Clock = c.d.Timing.String(), c.clock
	conf := c.beginnings()[f.root]
	for _, chosen := range f.path {
		var taken transition
		var next configuration
		ordinal := 0
		c.transitions(conf, func(t *transition, to configuration) {
			if ordinal == chosen {
				taken, next = *t, slices.Clone(to)
			}
			ordinal++
		})
		r.note(&taken, conf)
		conf = next
	}
	return r.Record
}

// note records a transition out of a configuration.
func (r *recorder) note(t *transition, conf configuration) {
	if t.event == waits {
		r.time = r.time.Add(t.time)
		return
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
	case suspects:
		step.Port, step.From = int(t.at), r.links[r.into[t.process][t.at]].from+1
	case timesOut:
		step.Text = r.d.Timers[t.at]
	case obeys:
		r.values.Commands(election.Command{Order: election.Order(t.at)})
		step.Text = r.values.CommandText()
	}
	if t.outcome != nil {
		r.effects(&step, t)
	}
	if t.breach != nil {
		step.Broken = trace.Graphic(t.breach.how)
	}
	r.Steps = append(r.Steps, step)
}

// arrive removes the arriving message from those under way.
func (r *recorder) arrive(t *transition, conf configuration) journey {
	m := r.queue(conf, t.link)[t.place]
	flying := &r.flying[t.link]
	at := slices.IndexFunc(*flying, func(j journey) bool {
		return j.message == m.Message && j.at.Add(election.Units(uint64(m.Age))) == r.time
	})
	j := (*flying)[at]
	*flying = slices.Delete(*flying, at, at+1)
	return j
}

func (r *recorder) text(message uint32) (kind, text string) {
	m := r.messages.values[message]
	return r.d.Kinds[m.Kind].Name, r.values.BodyText(m.Body)
}

func (r *recorder) effects(step *trace.Step, t *transition) {
	for _, s := range t.outcome.sent {
		r.sent++
		link := int(r.network.Network.First(t.process)) + int(s.port)
		r.flying[link] = append(r.flying[link], journey{r.sent, s.message, r.time})
		kind, text := r.text(s.message)
		step.Sent = append(step.Sent, trace.Sent{Message: r.sent, To: r.links[link].to, Port: int(s.port), Kind: kind, Text: text})
	}
	for _, e := range t.outcome.effects {
		step.Add(e, r.d.Timers, r.network, t.process)
	}
	step.State = r.values.StateText(r.processes.values[t.outcome.process].State)
}
