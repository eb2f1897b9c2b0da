package process

import (
	"math"
	"testing"
	"time"

	"ringleader.example/ringleader/election"
)

func TestTicksTooManyForADurationAreNever(t *testing.T) {
	for _, test := range []struct {
		base  time.Duration
		ticks election.Ticks
		unit  time.Duration
		want  time.Duration
	}{
		{5, election.Units(3), 10, 35},
		{5, election.Units(math.MaxInt64 - 5), 1, Never},
		{5, election.Units(math.MaxInt64 - 4), 1, Never},
		{0, election.Units(math.MaxInt64 / 1000), 1000, math.MaxInt64 / 1000 * 1000},
		{0, election.Units(math.MaxUint64), time.Millisecond, Never},
		{0, election.Power(64), 1, Never},
		{Never, election.Units(0), 1, Never},
	} {
		if got := Moment(test.base, test.ticks, test.unit); got != test.want {
			t.Errorf("%v + %v · %v = %v; want %v", test.base, test.ticks, test.unit, got, test.want)
		}
	}
}

func TestTheTimerThatExpiresFirstIsNextAndOfSeveralTheOneThatWasDeclaredFirst(t *testing.T) {
	const begun, now, unit = 50, 70, 10
	set := func(timer election.Timer, wait uint64) election.Effect {
		return election.Effect{Op: election.SetTimer, Timer: timer, Ticks: election.Units(wait)}
	}
	until := func(timer election.Timer, wait uint64) election.Effect {
		e := set(timer, wait)
		e.Deadline = true
		return e
	}
	stop := func(timer election.Timer) election.Effect {
		return election.Effect{Op: election.StopTimer, Timer: timer}
	}
	forever := election.Effect{Op: election.SetTimer, Timer: 1, Ticks: election.Forever}
	for _, test := range []struct {
		effects  []election.Effect
		next     election.Timer
		at, last time.Duration
		running  int
	}{
		{nil, 0, Never, 0, 0},
		{[]election.Effect{set(1, 3)}, 1, 100, 100, 1},
		{[]election.Effect{until(1, 3)}, 1, 80, 80, 1},
		{[]election.Effect{set(1, 3), set(2, 4)}, 1, 100, 110, 2},
		{[]election.Effect{set(2, 3), set(1, 4)}, 2, 100, 110, 2},
		{[]election.Effect{set(2, 3), set(1, 3)}, 1, 100, 100, 2},
		{[]election.Effect{set(2, 1), until(1, 3)}, 1, 80, 80, 2},
		{[]election.Effect{set(1, 3), set(1, 5)}, 1, 120, 120, 1},
		{[]election.Effect{set(1, 3), set(2, 4), stop(1)}, 2, 110, 110, 1},
		{[]election.Effect{set(1, 3), set(2, 4), forever}, 2, 110, 110, 1},
		{[]election.Effect{stop(1)}, 0, Never, 0, 0},
	} {
		var timers Timers
		timers.Apply(test.effects, begun, now, unit)
		next, at := timers.Next()
		last, running := timers.Last()
		if next != test.next || at != test.at || last != test.last || running != test.running {
			t.Errorf("%+v: timer %d at %d, and %d until %d; want timer %d at %d, and %d until %d",
				test.effects, next, at, running, last, test.next, test.at, test.running, test.last)
		}
	}
}
