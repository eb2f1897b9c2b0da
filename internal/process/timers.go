package process

import (
	"math"
	"time"

	"ringleader.example/ringleader/election"
)

// Never is a moment that does not come: 292 years after the start.
const Never = time.Duration(math.MaxInt64)

// Timers are the running timers of a process, as moments since its start. A caller sees only timers that run now, so
// a timer that was stopped or restarted cannot expire late.
type Timers struct {
	running [8]bool
	at      [8]time.Duration
}

// Apply applies the changes of a step. Begun is the time at which the step began, in whole units since the start; now
// is its end. Timers count from now, deadlines from the time that the step was given.
func (t *Timers) Apply(effects []election.Effect, begun, now, unit time.Duration) {
	for _, e := range effects {
		switch {
		case e.Op == election.SetTimer && e.Ticks == election.Forever:
			t.Stop(e.Timer)
		case e.Op == election.SetTimer && e.Deadline:
			t.set(e.Timer, Moment(begun, e.Ticks, unit))
		case e.Op == election.SetTimer:
			t.set(e.Timer, Moment(now, e.Ticks, unit))
		case e.Op == election.StopTimer:
			t.Stop(e.Timer)
		}
	}
}

func (t *Timers) set(timer election.Timer, at time.Duration) {
	t.running[timer], t.at[timer] = true, at
}

// Stop stops a timer.
func (t *Timers) Stop(timer election.Timer) { t.running[timer] = false }

// Next returns the timer that expires first, and its time; of several the one that was declared first.
func (t *Timers) Next() (first election.Timer, at time.Duration) {
	at = Never
	for timer, running := range t.running {
		if running && t.at[timer] < at {
			first, at = election.Timer(timer), t.at[timer]
		}
	}
	return first, at
}

// Last returns when the last of the running timers expires, and the number of running timers.
func (t *Timers) Last() (at time.Duration, running int) {
	for timer, runs := range t.running {
		if runs {
			running, at = running+1, max(at, t.at[timer])
		}
	}
	return at, running
}

// Moment returns base + ticks, in units, and at most [Never].
func Moment(base time.Duration, ticks election.Ticks, unit time.Duration) time.Duration {
	if ticks.Hi != 0 || ticks.Lo > uint64((Never-base)/unit) {
		return Never
	}
	return base + time.Duration(ticks.Lo)*unit
}
