package simulate

import (
	"fmt"

	"ringleader.example/ringleader/election"
	"ringleader.example/ringleader/faults"
	"ringleader.example/ringleader/simulate/internal/steps"
	"ringleader.example/ringleader/trace"
)

// Lazy time, as in package verify: no event is urgent. A message takes any time, a timer is late by any time, and time passes at any
// moment. Each process has two clocks: the timers of all run fast, and the deadlines, with the leases that end by them, slow. A
// deadline may come a step early, at any moment.

// maxRate is the maximum denominator of the error of clocks, as in package verify.
const maxRate = 1 << 20

// BeLazy puts a session that has not begun into lazy time, in which clocks err by a part below 1 of the true rate. Then Pass is a
// step of time, and Hasten one of the faults. The error wraps [ErrOptions].
func (s *Session) BeLazy(err faults.Chance) error {
	switch {
	case !s.run.Declaration.Leased || s.run.o.Timing != election.Timed:
		return fmt.Errorf("%w %s: lazy time is for timed runs of algorithms with leases", ErrOptions, s.run.Declaration.Name)
	case err.Times > 0 && err.Times >= err.Of, err.Of > maxRate:
		return fmt.Errorf("%w %s: the error of a clock is below 1, with a denominator of at most %d, not %s", ErrOptions, s.run.Declaration.Name, maxRate, err)
	case len(s.made) > 0:
		return fmt.Errorf("%w %s: lazy time comes before the first event", ErrOptions, s.run.Declaration.Name)
	}
	n := s.run.Instance.Size()
	s.run.Lazy = &steps.LazyClocks{Err: err, Pace: s.run.o.Pace, Gained: make([]election.Ticks, n), Ahead: make([]election.Ticks, n)}
	s.run.Drifts = make([]*steps.Drift, s.run.Instance.Size()) // so that steps read the clock of their process
	return nil
}

// hasteners returns the processes whose deadlines can come early.
func (s *Session) hasteners() (all []Choice) {
	if s.run.Lazy == nil {
		return nil
	}
	for p, dead := range s.run.Dead {
		if !dead {
			all = append(all, Choice{What: Hasten, Process: p})
		}
	}
	return all
}

// hasten lets the deadlines of the process at p come a step early.
func (s *Session) hasten(p int) {
	l := s.run.Lazy
	change(s, &l.Gained[p], l.Gained[p].Add(l.Step()))
	s.run.Note(p, trace.Step{Event: trace.Fault, Port: -1, Text: trace.Hastened})
}
