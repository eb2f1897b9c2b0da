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

func TestTimersExpireInTheOrderOfTheirMoments(t *testing.T) {
	set := func(timer election.Timer, ticks election.Ticks, deadline bool) election.Effect {
		return election.Effect{Op: election.SetTimer, Timer: timer, Ticks: ticks, Deadline: deadline}
	}
	const begun, now, unit = 100, 130, 10
	for _, test := range []struct {
		effects []election.Effect
		timer   election.Timer // that expires first
		at      time.Duration
		last    time.Duration
		running int
	}{
		{nil, 0, Never, 0, 0},
		{[]election.Effect{set(3, election.Units(2), false)}, 3, 150, 150, 1},
		{[]election.Effect{set(3, election.Units(2), true)}, 3, 120, 120, 1}, // deadlines count from the beginning of the step
		{[]election.Effect{set(3, election.Units(2), false), set(5, election.Units(1), false), set(7, election.Units(9), false)}, 5, 140, 220, 3},
		{[]election.Effect{set(5, election.Units(2), false), set(3, election.Units(2), false)}, 3, 150, 150, 2},
		{[]election.Effect{set(3, election.Units(2), false), set(3, election.Units(1), false)}, 3, 140, 140, 1},
		{[]election.Effect{set(3, election.Units(2), false), {Op: election.StopTimer, Timer: 3}}, 0, Never, 0, 0},
		{[]election.Effect{set(3, election.Units(2), false), set(4, election.Units(5), false), {Op: election.StopTimer, Timer: 3}}, 4, 180, 180, 1},
		{[]election.Effect{set(3, election.Units(2), false), set(3, election.Forever, false)}, 0, Never, 0, 0},
		{[]election.Effect{set(3, election.Units(2), false), set(3, election.Forever, true)}, 0, Never, 0, 0},
		{[]election.Effect{set(3, election.Units(2), false), {Op: election.Lead, Timer: 3, Ticks: election.Units(7), Deadline: true}}, 3, 150, 150, 1},
		{[]election.Effect{set(3, election.Units(2), false), {Op: election.Lead, Timer: 3, Ticks: election.Forever}}, 3, 150, 150, 1},
	} {
		var timers Timers
		timers.Apply(test.effects, begun, now, unit)
		if timer, at := timers.Next(Now{}); timer != test.timer || at != test.at {
			t.Errorf("%+v: timer %d expires at %d; want %d at %d", test.effects, timer, at, test.timer, test.at)
		}
		if last, running := timers.Last(); last != test.last || running != test.running {
			t.Errorf("%+v: the last of %d at %d; want %d at %d", test.effects, running, last, test.running, test.last)
		}
	}
}

func TestTimersAndDeadlinesRunOnTheirOwnClocks(t *testing.T) {
	var timers Timers
	timers.Apply([]election.Effect{
		{Op: election.SetTimer, Timer: 0, Ticks: election.Units(10)},
		{Op: election.SetTimer, Timer: 1, Ticks: election.Units(10), Deadline: true},
	}, 0, 0, 1)
	for _, test := range []struct {
		now   Now
		timer election.Timer
		wait  time.Duration
	}{
		{Now{0, 0}, 0, 10},
		{Now{4, 3}, 0, 6},
		{Now{3, 4}, 1, 6},
		{Now{3, 25}, 1, -15},
		{Now{12, 11}, 0, -2}, // the one that is later by its clock goes first
		{Now{11, 12}, 1, -2},
	} {
		if timer, wait := timers.Next(test.now); timer != test.timer || wait != test.wait {
			t.Errorf("at %+v: timer %d in %d; want %d in %d", test.now, timer, wait, test.timer, test.wait)
		}
	}
}
