package simulate

import (
	"errors"
	"fmt"
	"slices"

	"ringleader.example/ringleader/election"
	"ringleader.example/ringleader/trace"
)

// ErrFollow reports that a session cannot repeat a record.
var ErrFollow = errors.New("this record cannot be repeated")

// Follow makes the events of a record that the session has not made yet, each of which must do what the record holds: the same
// step, with the same messages, decisions and state. So a run of any engine, such as a counterexample, is repeated and compared. A
// record whose last step broke the contract ends before that step. The error wraps [ErrFollow] and names the first step that differs.
// A session loses what is sent during a cut at once, as the checker does; package simulate's other engines lose it when it would
// arrive.
func (s *Session) Follow(r *trace.Record) error {
	return s.FollowFirst(r, len(r.Steps), func() bool { return true })
}

// FollowFirst is [Session.Follow] until the session has made so many steps, or going reports false.
func (s *Session) FollowFirst(r *trace.Record, steps int, going func() bool) error {
	clock, copies := s.run.Record.Header.Clock, map[int]int{} // by number of a message: how many copies have yet to be made
	copied(r, func(m *trace.Sent) { copies[m.Message] += m.Copies })
	copied(s.Record(), func(m *trace.Sent) { copies[m.Message] -= m.Copies })
	done := min(len(s.Record().Steps), len(r.Steps))
	if made := s.Record().Steps; len(made) > done || !alike(made, r.Steps[:done], clock) {
		return fmt.Errorf("%w: it does not begin as the session did", ErrFollow)
	}
	for left := r.Steps[done:]; len(left) > 0 && len(s.Record().Steps) < steps && going(); {
		want := &left[0]
		for clock && s.Now().Less(want.Time) {
			if err := s.pass(want); err != nil {
				return err
			}
		}
		if want.Broken != "" {
			return nil
		}
		if copies[want.Message] > 0 { // it arrives, and a copy is still to arrive
			copies[want.Message]--
			s.repeat(want.Message)
		}
		made := s.match(left, clock)
		if made == 0 && want.Event == trace.Suspect && s.relent(want) {
			made = s.match(left, clock)
		}
		if made == 0 {
			return fmt.Errorf("%w: no event makes step %d, %s of process %d", ErrFollow, want.Number, want.Event, want.Process+1)
		}
		left = left[made:]
	}
	return nil
}

// copied calls a function for each message of which there are copies.
func copied(r *trace.Record, of func(m *trace.Sent)) {
	for i := range r.Steps {
		for k := range r.Steps[i].Sent {
			if m := &r.Steps[i].Sent[k]; m.Copies > 0 {
				of(m)
			}
		}
	}
}

// repeat duplicates a message under way.
func (s *Session) repeat(number int) {
	for link, queue := range s.queues {
		to, _ := s.run.Network.End(uint32(link))
		if place := slices.IndexFunc(queue, func(m parcel) bool { return int(m.number) == number }); place >= 0 {
			_ = s.Step(Choice{What: Duplicate, Process: to, Link: uint32(link), Place: place}) // it is under way, so it can be duplicated
			return
		}
	}
}

// relent ends the suspicion that a step repeats, for an algorithm that does not hear of such ends.
func (s *Session) relent(want *trace.Step) bool {
	link := s.run.Network.First(want.Process) + uint32(want.Port)
	return !s.run.Functions.Trust && s.Step(Choice{What: Trust, Process: want.Process, Link: link}) == nil
}

// pass lets time pass before a step.
func (s *Session) pass(want *trace.Step) error {
	left, all := want.Time.Sub(s.Now()), s.Choices()
	if s.run.Lazy != nil {
		return s.Step(Choice{What: Pass, Time: left})
	}
	passes := slices.IndexFunc(all, func(c Choice) bool { return c.What == Pass })
	if len(all) > 0 && passes < 0 {
		return fmt.Errorf("%w: time cannot pass before step %d", ErrFollow, want.Number)
	}
	if len(all) > 0 && all[passes].Time.Less(left) {
		left = all[passes].Time
	}
	return s.Step(Choice{What: Pass, Time: left})
}

// match makes the event that does what the first steps of a record hold, and returns the number of these steps: 0 if there is no such
// event.
func (s *Session) match(left []trace.Step, clock bool) int {
	want := &left[0]
	for _, candidates := range []func() []Choice{
		func() []Choice { return s.arrival(want) }, s.Choices, func() []Choice { return s.simultaneous(want) }, func() []Choice { return s.disturbance(want) },
	} {
		for _, c := range candidates() {
			if c.Process != want.Process || c.What == Pass {
				continue
			}
			if len(left) > 1 && left[1].Event == trace.Crash && left[1].Text != "" { // amid this step
				c.Dies = len(want.Sent) + 1
			}
			if made := s.try(c, left, clock); made > 0 {
				return made
			}
		}
	}
	return 0
}

// arrival returns the delivery that a step needs, if its message is under way. It is found without a list of all choices.
func (s *Session) arrival(want *trace.Step) []Choice {
	if want.Event != trace.Receive || want.Process >= s.run.Instance.Size() || want.Port >= s.run.Network.Degree(want.Process) {
		return nil
	}
	from, at := s.run.Network.End(s.run.Network.First(want.Process) + uint32(want.Port))
	link := s.run.Network.Back(from, at)
	place := slices.IndexFunc(s.queues[link], func(m parcel) bool { return int(m.number) == want.Message })
	if place < 0 {
		return nil
	}
	return []Choice{{What: Deliver, Process: want.Process, Link: link, Place: place}}
}

// simultaneous returns the starts and timers of a synchronous run that Choices does not list.
func (s *Session) simultaneous(want *trace.Step) []Choice {
	if s.run.o.Timing != election.Synchronous {
		return nil
	}
	return append(s.expiries(), Choice{What: Begin, Process: want.Process})
}

// disturbance returns the faults that may make a step.
func (s *Session) disturbance(want *trace.Step) []Choice {
	if want.Event == trace.Fault && want.Text != trace.Hastened {
		return []Choice{{What: Sever, Process: want.Process, Cut: want.Text}}
	}
	return s.Faults()
}

// try makes an event with the seed's random choices, or else those of the record, if that does what the first steps of a record hold.
func (s *Session) try(c Choice, left []trace.Step, clock bool) int {
	c.Draw = 0
	made, happens := s.once(c, left, clock)
	if c.Draw = trace.Drawn(left[0].Drew); made == 0 && happens && c.Draw > 0 {
		made, _ = s.once(c, left, clock)
	}
	return made
}

// once makes an event. It takes it back and returns 0 unless it makes the first steps of a record, and reports false if it cannot happen.
func (s *Session) once(c Choice, left []trace.Step, clock bool) (made int, happens bool) {
	before := len(s.Record().Steps)
	if s.Step(c) != nil {
		return 0, false
	}
	if made := s.Record().Steps[before:]; len(made) > 0 && len(made) <= len(left) && alike(made, left[:len(made)], clock) {
		return len(made), true
	}
	s.Back()
	return 0, true
}

// alike reports whether the steps that were made are those of a record. Times count only where there is a clock. Copies of
// messages are made when the first one arrives.
func alike(made, want []trace.Step, clock bool) bool {
	return slices.EqualFunc(made, want, func(got, want trace.Step) bool { return (got.Time == want.Time || !clock) && got.Alike(&want) })
}
