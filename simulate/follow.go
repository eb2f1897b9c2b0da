package simulate

import (
	"errors"
	"fmt"
	"reflect"
	"slices"

	"ringleader.example/ringleader/trace"
)

// ErrFollow reports that a session cannot repeat a record.
var ErrFollow = errors.New("this record cannot be repeated")

// Follow makes the events of a record, each of which must do what the record holds: the same step, with the same messages,
// decisions and state. So a run of any engine, such as a counterexample, is repeated and compared. A record whose last step broke the
// contract ends before that step. The error wraps [ErrFollow] and names the first step that differs. A session loses what is
// sent during a cut at once, as the checker does; package simulate's other engines lose it when it would arrive.
func (s *Session) Follow(r *trace.Record) error {
	clock := s.run.record.Header.Clock
	copies := map[int]int{} // by number of a message: how many copies have yet to be made
	for i := range r.Steps {
		for _, m := range r.Steps[i].Sent {
			copies[m.Message] = m.Copies
		}
	}
	for left := r.Steps; len(left) > 0; {
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

// repeat duplicates a message under way.
func (s *Session) repeat(number int) {
	for link, queue := range s.queues {
		to, _ := s.run.net.End(uint32(link))
		if place := slices.IndexFunc(queue, func(m parcel) bool { return int(m.number) == number }); place >= 0 {
			_ = s.Step(Choice{What: Duplicate, Process: to, Link: uint32(link), Place: place}) // it is under way, so it can be duplicated
			return
		}
	}
}

// relent ends the suspicion that a step repeats, for an algorithm that does not hear of such ends.
func (s *Session) relent(want *trace.Step) bool {
	link := s.run.net.First(want.Process) + uint32(want.Port)
	return !s.run.has.Trust && s.Step(Choice{What: Trust, Process: want.Process, Link: link}) == nil
}

// pass lets time pass before a step.
func (s *Session) pass(want *trace.Step) error {
	left, all := want.Time.Sub(s.Now()), s.Choices()
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
	all := slices.Concat(s.Choices(), s.Faults())
	if want.Event == trace.Fault && want.Text != trace.Hastened {
		all = []Choice{{What: Sever, Process: want.Process, Cut: want.Text}}
	}
	for _, c := range all {
		if c.Process != want.Process || c.What == Pass {
			continue
		}
		if made := s.try(c, left, clock); made > 0 {
			return made
		}
	}
	return 0
}

// mostDraws is the largest number of vectors of random choices that are tried for a step.
const mostDraws = 1 << 16

// try makes an event with each vector of random choices, until it does what the first steps of a record hold.
func (s *Session) try(c Choice, left []trace.Step, clock bool) int {
	before := len(s.Record().Steps)
	for c.Draw = 0; c.Draw <= mostDraws; c.Draw++ {
		if s.Step(c) != nil {
			return 0
		}
		if made := s.Record().Steps[before:]; len(made) > 0 && len(made) <= len(left) && alike(made, left[:len(made)], clock) {
			return len(made)
		}
		s.Back()
		if s.ways == 1 || c.Draw == s.ways {
			break
		}
	}
	return 0
}

// alike reports whether the steps that were made are those of a record. Times count only where there is a clock. Copies of
// messages are made when the first one arrives.
func alike(made, want []trace.Step, clock bool) bool {
	return slices.EqualFunc(made, want, func(got, want trace.Step) bool {
		if !clock {
			got.Time = want.Time
		}
		got.Sent, want.Sent = single(got.Sent), single(want.Sent)
		return reflect.DeepEqual(got, want)
	})
}

// single returns sent messages without the number of their copies.
func single(sent []trace.Sent) []trace.Sent {
	sent = slices.Clone(sent)
	for i := range sent {
		sent[i].Copies = 0
	}
	return sent
}
