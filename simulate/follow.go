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
// contract ends before that step. The error wraps [ErrFollow] and names the first step that differs. Cuts are no events of a session.
func (s *Session) Follow(r *trace.Record) error {
	clock := s.run.record.Header.Clock
	for i := range r.Steps {
		want := &r.Steps[i]
		for clock && s.Now().Less(want.Time) {
			if err := s.pass(want); err != nil {
				return err
			}
		}
		if want.Broken != "" {
			return nil
		}
		if !s.match(want, clock) {
			return fmt.Errorf("%w: no event makes step %d, %s of process %d", ErrFollow, want.Number, want.Event, want.Process+1)
		}
	}
	return nil
}

// pass lets time pass before a step.
func (s *Session) pass(want *trace.Step) error {
	all := s.Choices()
	passes := slices.IndexFunc(all, func(c Choice) bool { return c.What == Pass })
	if passes < 0 {
		return fmt.Errorf("%w: time cannot pass before step %d", ErrFollow, want.Number)
	}
	c := all[passes]
	if left := want.Time.Sub(s.Now()); left.Less(c.Time) {
		c.Time = left
	}
	return s.Step(c)
}

// match makes the event that does what a step of a record holds, and reports false if there is none.
func (s *Session) match(want *trace.Step, clock bool) bool {
	for _, c := range slices.Concat(s.Choices(), s.Faults()) {
		if c.Process != want.Process || c.What == Pass || s.Step(c) != nil {
			continue
		}
		got := s.Record().Steps[len(s.Record().Steps)-1]
		if !clock {
			got.Time = want.Time
		}
		if reflect.DeepEqual(got, *want) {
			return true
		}
		s.Back()
	}
	return false
}
