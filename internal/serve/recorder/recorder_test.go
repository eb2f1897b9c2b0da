package recorder

import (
	"testing"
	"time"
)

// Something comes between the first readings of both clocks, and nothing between the later ones.
func TestTheWallClockOfARecordIsReadTogetherWithTheOther(t *testing.T) {
	began := time.Unix(1_000, 0)
	now, reads := 50*time.Millisecond, 0
	boot := func() time.Duration {
		if reads++; reads == 2 {
			now += 30 * time.Millisecond
		}
		return now
	}
	wall := func() time.Time { return began.Add(now) }
	if got := time.Unix(0, BeganAt(boot, wall)); got != began {
		t.Errorf("the life began %v after its begin", got.Sub(began))
	}
	late := func() time.Duration { // it never works
		now += time.Millisecond
		return now
	}
	if got := time.Unix(0, BeganAt(late, wall)); got.Sub(began).Abs() > time.Millisecond {
		t.Errorf("the life began %v after its begin", got.Sub(began))
	}
}
