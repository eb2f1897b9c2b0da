package verify

import (
	"cmp"
	"fmt"
	"slices"

	"ringleader.example/ringleader/election"
	"ringleader.example/ringleader/faults"
	"ringleader.example/ringleader/trace"
)

// resume makes the steps of the run in which the search begins, up to the first one that violates a property. The last configuration
// of the recorder is the one to which the run has come.
func (c *checker) resume() (*recorder, error) {
	r, run, low, high := c.newRecorder(), c.o.from, c.low, c.high
	c.low, c.high = 0, c.n // whatever partial order has left of the last configuration
	defer func() { c.low, c.high = low, high }()
	r.last = c.initial()[0]
	r.amend(func(g *global) { g.Disturbed = true }) // another leader than the right one is no matter
	for len(r.Steps) < len(run.Record.Steps) {
		left := run.Record.Steps[len(r.Steps):]
		r.elapse(left[0].Time)
		if !r.repeat(left) && !(r.relent(&left[0]) && r.repeat(left)) {
			return nil, fmt.Errorf("%w %s from here: the checker does not make step %d, event %s of %s, at this point",
				ErrOptions, c.d.Name, left[0].Number, left[0].Event, c.network.Name(left[0].Process))
		}
		if r.wrong != nil { // what the checker makes ends there
			r.Steps = run.Record.Steps
			return r, nil
		}
	}
	r.elapse(run.Now)
	r.amend(func(g *global) {
		more := run.more
		more.Cut, more.Disturbed, more.Begun, more.Late, more.Led = g.Cut, g.Disturbed, g.Begun, g.Late, g.Led
		*g = more
	})
	return r, nil
}

// amend changes what belongs to no process and no link.
func (r *recorder) amend(by func(*global)) {
	g := *r.global(r.last)
	by(&g)
	r.setGlobal(r.last, &g)
}

// pastCuts returns the cuts of a run that has begun.
func (c *checker) pastCuts() []faults.Cut {
	if c.o.from == nil {
		return nil
	}
	ids := make(election.List, c.n)
	for q := range ids {
		if ids[q] = uint64(q); !c.network.Anonymous() {
			ids[q] = c.network.Real(q)
		}
	}
	reader, read := faults.NewReader(ids), map[string]bool{}
	for i := range c.o.from.Record.Steps {
		s := &c.o.from.Record.Steps[i]
		if s.Event == trace.Fault && s.Text != trace.Hastened && !read[s.Text] {
			read[s.Text] = true
			_ = reader.Line(s.Text) // what cannot be read is a step that the checker does not make
		}
	}
	return reader.Script.Cuts
}

// elapse lets time pass up to a moment.
func (r *recorder) elapse(until election.Ticks) {
	for r.clock && r.time.Less(until) {
		passes := until.Sub(r.time)
		if r.o.Lazy {
			passes = election.Units(r.o.step())
		}
		r.pass(r.last, passes)
		r.time = r.time.Add(passes)
	}
}

// repeat makes the event that does what the first of some steps hold, and reports whether there is one.
func (r *recorder) repeat(want []trace.Step) (made bool) {
	if want[0].Event == trace.Lost {
		return r.drop(&want[0])
	}
	var next configuration
	r.transitions(r.last, func(t *transition, to configuration) {
		if made || t.again || t.event == waits || events[t.event] != want[0].Event || t.process != want[0].Process || t.event == receives && !r.brings(t, &want[0]) {
			return
		}
		try := *r
		try.flying = make([][]journey, len(r.flying))
		for l := range r.flying {
			try.flying[l] = slices.Clone(r.flying[l])
		}
		try.note(t, r.last)
		steps := try.Steps[len(r.Steps):]
		made = len(steps) > 0 && len(steps) <= len(want) && slices.EqualFunc(steps, want[:len(steps)], func(s, t trace.Step) bool { return s.Time == t.Time && s.Alike(&t) })
		if made {
			for i := range steps {
				steps[i] = want[i]
				steps[i].Sent = slices.Clone(want[i].Sent)
			}
			*r, next = try, slices.Clone(to)
			r.wrong = cmp.Or(r.wrong, t.breach)
		}
	})
	if made && r.wrong == nil {
		r.last = next
		r.copies(&want[0])
	}
	return made
}

// brings reports whether a transition brings the message of a step, and lets the recorder choose it among equal ones.
func (r *recorder) brings(t *transition, want *trace.Step) bool {
	flying := r.flying[t.link]
	at := slices.IndexFunc(flying, func(j journey) bool { return j.number == want.Message })
	if at < 0 || !r.is(flying[at], r.queue(r.last, t.link)[t.place]) {
		return false
	}
	j := flying[at]
	copy(flying[1:at+1], flying[:at])
	flying[0] = j
	return true
}

// copies puts the copies of sent messages onto their links, right behind them. So they arrive as those do.
func (r *recorder) copies(step *trace.Step) {
	first := int(r.network.Network.First(step.Process))
	for _, s := range step.Sent {
		l := first + s.Port
		at := slices.IndexFunc(r.flying[l], func(j journey) bool { return j.number == s.Message })
		if at < 0 { // it was lost at once
			continue
		}
		queue := slices.Clone(r.queue(r.last, l))
		place := len(queue) - 1
		for !r.is(r.flying[l][at], queue[place]) {
			place--
		}
		for range s.Copies {
			r.flying[l] = slices.Insert(r.flying[l], at, r.flying[l][at])
			queue = slices.Insert(queue, place, queue[place])
		}
		r.last[r.places[l]] = r.queues.number(&queue, election.Ticks{})
	}
}

// drop takes the message of a step off its link, and reports whether it is there. It is lost at any place of a queue.
func (r *recorder) drop(want *trace.Step) bool {
	for l := range r.links {
		at := slices.IndexFunc(r.flying[l], func(j journey) bool { return j.number == want.Message })
		if at < 0 || r.links[l].to != want.Process {
			continue
		}
		place := slices.IndexFunc(r.queue(r.last, l), func(m underWay) bool { return r.is(r.flying[l][at], m) })
		r.flying[l] = slices.Delete(r.flying[l], at, at+1)
		r.pull(r.last, l, place)
		r.Steps = append(r.Steps, *want)
		return true
	}
	return false
}

// relent ends the suspicion of the process behind the port of a step, for an algorithm that does not hear of such ends.
func (r *recorder) relent(want *trace.Step) (ended bool) {
	var next configuration
	r.transitions(r.last, func(t *transition, to configuration) {
		if t.event == trusts && t.outcome == nil && t.process == want.Process && int(t.at) == want.Port {
			ended, next = true, slices.Clone(to)
		}
	})
	if ended {
		r.last = next
	}
	return ended
}
