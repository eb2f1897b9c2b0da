package verify

import (
	"slices"

	"ringleader.example/ringleader/election"
	"ringleader.example/ringleader/trace"
)

// recorder goes the way to a violation once more, and writes it down.
type recorder struct {
	*checker
	trace.Record
	time   election.Ticks
	sent   int
	flying [][]journey // by link, in the order of sending
}

type journey struct {
	number int
	letter uint32
	at     election.Ticks
}

func (c *checker) record(f *finding) trace.Record {
	r := &recorder{checker: c, flying: make([][]journey, len(c.links))}
	r.Header = trace.NewHeader(c.d, c.p)
	r.Timing, r.Clock = c.d.Timing.String(), c.clock
	w := c.beginnings()[f.root]
	for _, chosen := range f.path {
		var taken move
		var next world
		ordinal := 0
		c.moves(w, func(m *move, to world) {
			if ordinal == chosen {
				taken, next = *m, slices.Clone(to)
			}
			ordinal++
		})
		r.note(&taken, w)
		w = next
	}
	return r.Record
}

// note writes down a move out of a world.
func (r *recorder) note(m *move, w world) {
	if m.event == waits {
		r.time = r.time.Add(m.time)
		return
	}
	step := trace.Step{Number: len(r.Steps) + 1, Time: r.time, Process: m.process, Event: events[m.event], Port: -1}
	switch m.event {
	case receives, loses:
		j := r.arrive(m, w)
		step.Message, step.From = j.number, r.links[m.link].from+1
		step.Kind, step.Text = r.text(j.letter)
		if m.event == receives {
			step.Port = int(m.at)
		}
	case suspects:
		step.Port, step.From = int(m.at), r.links[r.into[m.process][m.at]].from+1
	case timesOut:
		step.Text = r.d.Timers[m.at]
	case obeys:
		step.Text = "resign"
	}
	if m.outcome != nil {
		r.effects(&step, m)
	}
	r.Steps = append(r.Steps, step)
}

// arrive takes the message that arrives from those under way.
func (r *recorder) arrive(m *move, w world) journey {
	message := r.queue(w, m.link)[m.place]
	flying := &r.flying[m.link]
	at := slices.IndexFunc(*flying, func(j journey) bool {
		return j.letter == message.Letter && j.at.Add(election.Units(uint64(message.Age))) == r.time
	})
	j := (*flying)[at]
	*flying = slices.Delete(*flying, at, at+1)
	return j
}

func (r *recorder) text(letter uint32) (kind, text string) {
	l := r.letters.values[letter]
	return r.d.Kinds[l.Kind].Name, r.values.LetterText(l.Letter)
}

func (r *recorder) effects(step *trace.Step, m *move) {
	for _, s := range m.outcome.sent {
		r.sent++
		link := int(r.p.Network.First(m.process)) + int(s.port)
		r.flying[link] = append(r.flying[link], journey{r.sent, s.letter, r.time})
		kind, text := r.text(s.letter)
		step.Sent = append(step.Sent, trace.Sent{Message: r.sent, To: r.links[link].to, Port: int(s.port), Kind: kind, Text: text})
	}
	for _, e := range m.outcome.effects {
		step.Add(e, r.d.Timers, r.p, m.process)
	}
	step.State = r.values.StateText(r.processes.values[m.outcome.process].State)
}
