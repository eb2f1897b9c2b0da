package ringleader

import (
	"testing"
	"time"

	"ringleader.example/ringleader/internal/core/process"
)

// Work that stops may take longer than a lease, which is renewed meanwhile. Each look at the lease has to come long before the fuse of the end that was
// known before, or a process that waits for a processor at that moment is killed.
func TestALookAtTheLeaseOfWorkThatStopsMayBeAsLateAsOneOfWorkThatRuns(t *testing.T) {
	timing := LAN()
	until := time.Minute
	early, last := until-timing.early(), until-timing.Margin
	for now, want := range map[time.Duration]time.Duration{
		0:         early, // the lease has just been renewed
		early - 1: early,
		early:     last, // it was not renewed until then
		last - 1:  last,
	} {
		if got := nextLook(until, now, &timing); got != want {
			t.Errorf("at %v the next look is at %v, want %v", now, got, want)
		}
	}
	if fuse := until - timing.Margin/2; fuse-early < timing.Grace {
		t.Errorf("the fuse burns %v after the look; work has %v to stop", fuse-early, timing.Grace)
	}
	if got := nextLook(process.Never, 0, &timing); got != process.Never {
		t.Errorf("a lead without end is looked at %v", got)
	}
}
