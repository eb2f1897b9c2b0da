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
