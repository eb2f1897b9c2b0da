package quorumbully

import (
	"testing"

	"ringleader.example/ringleader/election"
)

// What counts is rounded down, and no product is too large.
func TestAnAnswerCountsNoLongerThanItsLengthAllows(t *testing.T) {
	p := Process{Settings: Settings{Lease: 1 << 40, Entitled: 1<<40 - 3, Renewal: 1 << 38, Shortest: 1}}
	for length, want := range map[uint64]uint64{1 << 40: 1<<40 - 3, 1 << 39: 1<<39 - 2, 3: 2, 1: 0} {
		if got := p.entitled(length); got != want {
			t.Errorf("%d: %d, not %d", length, got, want)
		}
	}
	p.Lengths.Lease = 2
	if got := p.interval(); got != 1 {
		t.Errorf("an interval of %d", got)
	}
}

// A length falls so slowly that no request counts shorter than one before it, whenever the next one leaves and with any rounding.
func TestNoRequestEndsBeforeAnEarlierOne(t *testing.T) {
	for entitled := uint64(1); entitled <= 40; entitled++ {
		for passed := range entitled {
			p := Process{
				Role: Leader, Settings: Settings{Lease: 40, Entitled: entitled, Shortest: 1, Fall: 1, Renewal: 40},
				Lengths: Lengths{Lease: 40, Shares: make([]election.Deadline, 1)},
			}
			var c election.Collector[Message]
			c.Clock(election.Units(100))
			p.Sent[0] = c.Out().Deadline(election.Units(entitled))
			p.Lengths.Shares[0] = p.Sent[0]
			p.Members, p.Settings.First = 1, 1
			c.Clock(election.Units(100 + passed))
			p.measure(c.Out())
			if next := c.Out().Deadline(election.Units(p.entitled(p.Lengths.Lease))); next.Before(p.Sent[0]) {
				t.Errorf("%d of 40 count, and %d have passed: the next request is for %d, which counts for %d", entitled, passed, p.Lengths.Lease, p.entitled(p.Lengths.Lease))
			}
		}
	}
}
