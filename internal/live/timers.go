package live

import (
	"math"
	"time"

	"ringleader.example/ringleader/election"
)

// never is a moment that does not come: 292 years after the start.
const never = time.Duration(math.MaxInt64)

// timers are the running timers of a process, as moments since its start. Whoever looks finds what is
// running now, so a timer that was stopped or started again cannot expire late.
type timers struct {
	running [8]bool
	at      [8]time.Duration
}

func (t *timers) set(timer election.Timer, at time.Duration) {
	t.running[timer], t.at[timer] = true, at
}

func (t *timers) stop(timer election.Timer) { t.running[timer] = false }

// next is the timer that expires first, and when; of several the one that was declared first.
func (t *timers) next() (first election.Timer, at time.Duration) {
	at = never
	for timer, running := range t.running {
		if running && t.at[timer] < at {
			first, at = election.Timer(timer), t.at[timer]
		}
	}
	return first, at
}

// moment is base + ticks, in units; what lies beyond never is never.
func moment(base time.Duration, ticks election.Ticks, unit time.Duration) time.Duration {
	if ticks.Hi != 0 || ticks.Lo > uint64((never-base)/unit) {
		return never
	}
	return base + time.Duration(ticks.Lo)*unit
}
