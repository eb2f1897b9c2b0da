package process

import (
	"math"
	"time"

	"ringleader.example/ringleader/election"
)

// Never is a moment that does not come: 292 years after the start.
const Never = time.Duration(math.MaxInt64)

// Now holds the readings of the two clocks of a process, since its start. An engine with one clock reads it for both.
type Now struct {
	Timers    time.Duration // the clock that timers run on
	Deadlines time.Duration // the clock of deadlines
}

// Timers are the running timers of a process, as moments since its start. A caller sees only timers that run now, so
// a timer that was stopped or restarted cannot expire late.
type Timers struct {
	running  [8]bool
	deadline [8]bool // At counts on the clock of deadlines
	at       [8]time.Duration
}

// Apply applies the changes of a step. Begun is the time on the clock of deadlines at which the step began, in whole
// units since the start; now is the time on the clock of timers at its end.
func (t *Timers) Apply(effects []election.Effect, begun, now, unit time.Duration) {
	for _, e := range effects {
		switch {
		case e.Op == election.SetTimer && e.Ticks == election.Forever:
			t.Stop(e.Timer)
		case e.Op == election.SetTimer && e.Deadline:
			t.set(e.Timer, Moment(begun, e.Ticks, unit), true)
		case e.Op == election.SetTimer:
			t.set(e.Timer, Moment(now, e.Ticks, unit), false)
		case e.Op == election.StopTimer:
			t.Stop(e.Timer)
		}
	}
}

func (t *Timers) set(timer election.Timer, at time.Duration, deadline bool) {
	t.running[timer], t.at[timer], t.deadline[timer] = true, at, deadline
}

// Stop stops a timer.
func (t *Timers) Stop(timer election.Timer) { t.running[timer] = false }

// Next returns the timer that expires first, and the time until then, negative if it has expired; of several the one
// that was declared first. The time is [Never] if none runs.
func (t *Timers) Next(now Now) (first election.Timer, wait time.Duration) {
	wait = Never
	for timer, running := range t.running {
		if !running || t.at[timer] == Never {
			continue
		}
		clock := now.Timers
		if t.deadline[timer] {
			clock = now.Deadlines
		}
		if left := t.at[timer] - clock; left < wait {
			first, wait = election.Timer(timer), left
		}
	}
	return first, wait
}

// Left returns the time until a timer expires, negative if it has expired. It reports false if the timer does not run.
func (t *Timers) Left(timer election.Timer, now Now) (left time.Duration, runs bool) {
	clock := now.Timers
	if t.deadline[timer] {
		clock = now.Deadlines
	}
	return t.at[timer] - clock, t.running[timer]
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
