// Package doctor measures what an election depends on, and derives the timing that fits: round trips to members, flushes of
// the disk, how late timers are, and the rates of clocks.
package doctor

import (
	"context"
	"errors"
	"fmt"
	"net"
	"os"
	"slices"
	"time"

	"ringleader.example/ringleader"
	"ringleader.example/ringleader/clock"
	"ringleader.example/ringleader/internal/serve/live/quorumbully"
)

// Span describes some measured lengths of time.
type Span struct{ Median, Worst time.Duration }

// SpanOf describes lengths, of which there is at least one.
func SpanOf(all []time.Duration) Span {
	slices.Sort(all)
	return Span{all[len(all)/2], all[len(all)-1]}
}

// RoundTrips measures the time of n round trips to an address: connections over TCP that are closed at once.
func RoundTrips(ctx context.Context, address string, n int) (Span, error) {
	var all []time.Duration
	for range n {
		begun := time.Now()
		conn, err := (&net.Dialer{Timeout: 2 * time.Second}).DialContext(ctx, "tcp", address)
		if err != nil {
			return Span{}, err
		}
		all = append(all, time.Since(begun))
		conn.Close()
	}
	return SpanOf(all), nil
}

// page is how much a member writes to save a vote, in bytes.
const page = 4096

// Flushes measures the time of n writes of a page to a new file in a directory, with a flush each.
func Flushes(directory string, n int) (_ Span, err error) {
	f, err := os.CreateTemp(directory, "doctor-*")
	if err != nil {
		return Span{}, err
	}
	defer func() { err = errors.Join(err, f.Close(), os.Remove(f.Name())) }()
	var all []time.Duration
	content := make([]byte, page)
	for i := range n + 1 {
		content[0] = byte(i)
		begun := time.Now()
		if _, err := f.WriteAt(content, 0); err != nil {
			return Span{}, err
		}
		if err := f.Sync(); err != nil {
			return Span{}, err
		}
		if i > 0 { // the first one allocates
			all = append(all, time.Since(begun))
		}
	}
	return SpanOf(all), nil
}

// Lateness measures how late n timers are, one after the other.
func Lateness(c clock.Clock, n int) Span {
	const wait = 2 * time.Millisecond
	timer := c.NewTimer()
	defer timer.Stop()
	var all []time.Duration
	for range n {
		begun := c.Monotonic()
		timer.Reset(wait)
		<-timer.C()
		all = append(all, max(0, c.Monotonic()-begun-wait))
	}
	return SpanOf(all)
}

// Reading is a reading of another clock, taken between two readings of ours.
type Reading struct{ Sent, Theirs, Received time.Duration }

// Rate returns by what fraction another clock is faster than ours, and the largest error of that: the readings may have
// been taken at any moment between ours.
func Rate(first, last Reading) (faster, off float64) {
	theirs := float64(last.Theirs - first.Theirs)
	longest, shortest := float64(last.Received-first.Sent), float64(last.Sent-first.Received)
	if shortest <= 0 {
		return 0, 1
	}
	least, most := theirs/longest-1, theirs/shortest-1
	return (least + most) / 2, (most - least) / 2
}

// Measured is what timing depends on: the worst that was measured.
type Measured struct {
	RoundTrip, Flush, Late time.Duration
	Death                  time.Duration // from the moment at which a command has to be dead to its last instruction
	Rate                   float64       // the largest difference of the rates of two clocks, as a fraction
}

// answers, claim and drift return the least values that the comments of [ringleader.Timing] demand.
func (m Measured) answers() time.Duration { return 2*m.RoundTrip + m.Late }
func (m Measured) claim() time.Duration   { return m.RoundTrip + m.Flush + m.Late }

// drift: where two clocks differ by d, one is at most d from the true rate, if the other is right.
func (m Measured) drift() float64 { return 2 * m.Rate / (1 + m.Rate) }

// renewal is how long a renewal takes.
func (m Measured) renewal() time.Duration { return m.RoundTrip + m.Flush + m.Late }

// mostDrift is the largest drift that is recommended. Clocks that differ by more are broken.
const mostDrift = 0.4

// Recommend returns timing in which all relations hold and nothing is shorter than in [ringleader.LAN]. The lease is as long as a leader would
// choose it by itself, if renewals take as long as was measured.
func Recommend(m Measured) ringleader.Timing {
	t := ringleader.LAN()
	lan := t
	t.Answers = max(t.Answers, up(m.answers(), time.Millisecond))
	t.Defer = 3 * t.Answers
	t.Claim = max(t.Claim, up(m.claim(), time.Millisecond))
	t.Drift = min(max(t.Drift, m.drift()), mostDrift)
	renewed, shortest := float64(lan.Renewal)/float64(lan.Lease), float64(lan.ShortestLease)/float64(lan.Lease) // of the lease
	if t.Drift > lan.Drift {                                                                                    // it leaves less for renewals, beside margin and grace, a tenth each
		renewed, shortest = min(renewed, (0.79-t.Drift)/4), 1
	}
	needed := leaseFor(m.renewal()+time.Millisecond, renewed)
	t.Lease = max(t.Lease, up(max(2*t.Claim, needed, 10*m.Late, 10*m.Death), 100*time.Millisecond))
	t.LongestLease, t.ShortestLease = t.Lease, time.Duration(float64(t.Lease)*shortest)
	t.Grace, t.Margin, t.Renewal = t.Lease/10, t.Lease/10, time.Duration(float64(t.Lease)*renewed).Truncate(time.Millisecond)
	t.Suspicion = max(t.Suspicion, up(3*t.Heartbeat+m.Late+m.RoundTrip, 100*time.Millisecond))
	t.Preempt = max(t.Preempt, t.Lease)
	return t
}

// leaseFor returns the length of a lease if renewals take so long, and come each part of it.
func leaseFor(renewal time.Duration, part float64) time.Duration {
	const whole = 1 << 20
	return time.Duration(quorumbully.LengthFor(uint64(renewal), uint64(part*whole), whole))
}

// up rounds up.
func up(d, unit time.Duration) time.Duration { return (d + unit - 1) / unit * unit }

// Compare returns what in a timing does not fit what was measured: what endangers safety, and what makes elections slow or
// ends leases too soon.
func Compare(t ringleader.Timing, m Measured) (unsafe, slow []string) {
	must := func(name string, have, needed time.Duration, takes, so string) {
		if have < needed {
			slow = append(slow, fmt.Sprintf("Timing.%s is %v, and %s %v: %s", name, have, takes, up(needed, 10*time.Microsecond), so))
		}
	}
	must("Answers", t.Answers, m.answers(), "two round trips and a late timer take", "an election may have to ask again")
	must("Claim", t.Claim, m.claim(), "a round trip, a flush and a late timer take", "a claim may have to be repeated")
	must("Renewal", t.Renewal, m.renewal(), "a round trip, a flush and a late timer take", "a lease may end without a fault")
	must("Margin", t.Margin, m.Late, "the latest timer is late by", "work may run until its lease ends")
	must("Margin", t.Margin, m.Death, "the processes of a command take to die", "a command of exec may run until its lease ends")
	must("Suspicion", t.Suspicion, 3*t.Heartbeat+m.Late+m.RoundTrip, "three heartbeats, a late timer and a round trip take", "a live member may be suspected")
	if t.Drift < m.drift() {
		unsafe = append(unsafe, fmt.Sprintf("Timing.Drift is %g, and clocks differ so much that it is at least %.3g", t.Drift, m.drift()))
	}
	return unsafe, slow
}
