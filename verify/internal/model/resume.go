package model

import (
	"cmp"
	"fmt"
	"slices"

	"ringleader.example/ringleader/election"
	"ringleader.example/ringleader/faults"
	"ringleader.example/ringleader/trace"
)

// Resume makes the steps of the run in which the search begins, up to the first one that violates a property. The last configuration
// of the recorder is the one to which the run has come.
func (c *Checker) Resume() (*recorder, error) {
	r, run, low, high := c.newRecorder(), c.Options.Prefix, c.Low, c.High
	c.Low, c.High = 0, c.N // whatever partial order has left of the last configuration
	defer func() { c.Low, c.High = low, high }()
	r.Last = c.initial()[0]
	r.amend(func(g *Global) { g.Disturbed = true }) // another leader than the right one is no matter
	for len(r.Steps) < len(run.Record.Steps) {
		left := run.Record.Steps[len(r.Steps):]
		r.elapse(left[0].Time)
		if !r.repeat(left) && !(r.relent(&left[0]) && r.repeat(left)) {
			return nil, fmt.Errorf("%w %s from here: the checker does not make step %d, event %s of %s, at this point",
				ErrOptions, c.Declaration.Name, left[0].Number, left[0].Event, c.Network.Name(left[0].Process))
		}
		if r.Wrong != nil { // what the checker makes ends there
			r.Steps = run.Record.Steps
			return r, nil
		}
	}
	r.elapse(run.Now)
	r.amend(func(g *Global) {
		more := run.Remaining
		more.Cut, more.Disturbed, more.Begun, more.Late, more.Led = g.Cut, g.Disturbed, g.Begun, g.Late, g.Led
		*g = more
	})
	return r, nil
}

// amend changes what belongs to no process and no link.
func (r *recorder) amend(by func(*Global)) {
	g := *r.Global(r.Last)
	by(&g)
	r.SetGlobal(r.Last, &g)
}

// pastCuts returns the cuts of a run that has begun.
func (c *Checker) pastCuts() []faults.Cut {
	if c.Options.Prefix == nil {
		return nil
	}
	ids := make(election.List, c.N)
	for q := range ids {
		if ids[q] = uint64(q); !c.Network.Anonymous() {
			ids[q] = c.Network.Real(q)
		}
	}
	reader, read := faults.NewReader(ids), map[string]bool{}
	for i := range c.Options.Prefix.Record.Steps {
		s := &c.Options.Prefix.Record.Steps[i]
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
		if r.Options.Lazy {
			passes = election.Units(r.Options.step())
		}
		r.pass(r.Last, passes)
		r.time = r.time.Add(passes)
	}
}

// repeat makes the event that does what the first of some steps hold, and reports whether there is one.
func (r *recorder) repeat(want []trace.Step) (made bool) {
	if want[0].Event == trace.Lost {
		return r.drop(&want[0])
	}
	var next Configuration
	r.Transitions(r.Last, func(t *Transition, to Configuration) {
		if made || t.Again || t.Event == Waits || events[t.Event] != want[0].Event || t.Process != want[0].Process || t.Event == Receives && !r.brings(t, &want[0]) {
			return
		}
		try := *r
		try.flying = make([][]journey, len(r.flying))
		for l := range r.flying {
			try.flying[l] = slices.Clone(r.flying[l])
		}
		try.note(t, r.Last)
		steps := try.Steps[len(r.Steps):]
		made = len(steps) > 0 && len(steps) <= len(want) && slices.EqualFunc(steps, want[:len(steps)], func(s, t trace.Step) bool { return s.Time == t.Time && s.Alike(&t) })
		if made {
			for i := range steps {
				steps[i] = want[i]
				steps[i].Sent = slices.Clone(want[i].Sent)
			}
			*r, next = try, slices.Clone(to)
			r.Wrong = cmp.Or(r.Wrong, t.Breach)
		}
	})
	if made && r.Wrong == nil {
		r.Last = next
		r.copies(&want[0])
	}
	return made
}

// brings reports whether a transition brings the message of a step, and lets the recorder choose it among equal ones.
func (r *recorder) brings(t *Transition, want *trace.Step) bool {
	flying := r.flying[t.Link]
	at := slices.IndexFunc(flying, func(j journey) bool { return j.number == want.Message })
	if at < 0 || !r.is(flying[at], r.Queue(r.Last, t.Link)[t.Place]) {
		return false
	}
	j := flying[at]
	copy(flying[1:at+1], flying[:at])
	flying[0] = j
	return true
}

// copies puts the copies of sent messages onto their links, right behind them. So they arrive as those do.
func (r *recorder) copies(step *trace.Step) {
	first := int(r.Network.Network.First(step.Process))
	for _, s := range step.Sent {
		l := first + s.Port
		at := slices.IndexFunc(r.flying[l], func(j journey) bool { return j.number == s.Message })
		if at < 0 { // it was lost at once
			continue
		}
		queue := slices.Clone(r.Queue(r.Last, l))
		place := len(queue) - 1
		for !r.is(r.flying[l][at], queue[place]) {
			place--
		}
		for range s.Copies {
			r.flying[l] = slices.Insert(r.flying[l], at, r.flying[l][at])
			queue = slices.Insert(queue, place, queue[place])
		}
		r.Last[r.Places[l]] = r.Queues.Number(&queue, election.Ticks{})
	}
}

// drop takes the message of a step off its link, and reports whether it is there. It is lost at any place of a queue.
func (r *recorder) drop(want *trace.Step) bool {
	for l := range r.Links {
		at := slices.IndexFunc(r.flying[l], func(j journey) bool { return j.number == want.Message })
		if at < 0 || r.Links[l].To != want.Process {
			continue
		}
		place := slices.IndexFunc(r.Queue(r.Last, l), func(m underWay) bool { return r.is(r.flying[l][at], m) })
		r.flying[l] = slices.Delete(r.flying[l], at, at+1)
		r.pull(r.Last, l, place)
		r.Steps = append(r.Steps, *want)
		return true
	}
	return false
}

// relent ends the suspicion of the process behind the port of a step, for an algorithm that does not hear of such ends.
func (r *recorder) relent(want *trace.Step) (ended bool) {
	var next Configuration
	r.Transitions(r.Last, func(t *Transition, to Configuration) {
		if t.Event == Trusts && t.Outcome == nil && t.Process == want.Process && int(t.At) == want.Port {
			ended, next = true, slices.Clone(to)
		}
	})
	if ended {
		r.Last = next
	}
	return ended
}
