package doctor_test

import (
	"net"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"ringleader.example/ringleader"
	"ringleader.example/ringleader/clock"
	"ringleader.example/ringleader/internal/serve/doctor"
	"ringleader.example/ringleader/internal/serve/rig"
)

func TestWhatIsRecommendedIsValidAndFitsWhatWasMeasured(t *testing.T) {
	lengths := []time.Duration{0, 50 * time.Microsecond, time.Millisecond, 7 * time.Millisecond, 90 * time.Millisecond, time.Second}
	for _, rtt := range lengths {
		for _, flush := range lengths {
			for _, late := range lengths {
				for _, rate := range []float64{0, 0.0001, 0.05, 0.2} {
					m := doctor.Measured{RoundTrip: rtt, Flush: flush, Late: late, Rate: rate}
					timing := doctor.Recommend(m)
					c := ringleader.Config{ID: 1, Members: []ringleader.MemberAddress{{ID: 1, Address: "127.0.0.1:7001"}}, Data: "d", Timing: timing}
					unsafe, slow := doctor.Compare(timing, m)
					if err := c.Check(); err != nil || len(unsafe)+len(slow) > 0 {
						t.Errorf("%+v: %+v: %v; %q %q", m, timing, err, unsafe, slow)
					}
				}
			}
		}
	}
	if timing := doctor.Recommend(doctor.Measured{}); timing.Lease != ringleader.LAN().Lease || timing.Answers != ringleader.LAN().Answers {
		t.Errorf("without delays it is %+v", timing)
	}
}

func TestWhatDoesNotFitIsNamed(t *testing.T) {
	for _, test := range []struct {
		m            doctor.Measured
		unsafe, slow string
	}{
		{doctor.Measured{}, "", ""},
		{doctor.Measured{RoundTrip: 3 * time.Millisecond}, "", "Timing.Answers is 5ms, and two round trips and a late timer take 6ms: an election may have to ask again"},
		{doctor.Measured{Flush: 45 * time.Millisecond}, "", "Timing.Claim is 40ms, and a round trip, a flush and a late timer take 45ms: a claim may have to be repeated"},
		{doctor.Measured{Late: 60 * time.Millisecond}, "", "Timing.Margin is 50ms, and the latest timer is late by 60ms: work may run until its lease ends"},
		{doctor.Measured{Late: 100 * time.Millisecond}, "", "Timing.Renewal is 85ms, and a round trip, a flush and a late timer take 100ms: a lease may end without a fault"},
		{doctor.Measured{Late: 200 * time.Millisecond}, "", "Timing.Suspicion is 400ms, and three heartbeats"},
		{doctor.Measured{Rate: 0.04}, "Timing.Drift is 0.05, and clocks differ so much that it is at least 0.0769", ""},
	} {
		unsafe, slow := doctor.Compare(ringleader.LAN(), test.m)
		if (len(unsafe) > 0) != (test.unsafe != "") || (len(slow) > 0) != (test.slow != "") ||
			!strings.Contains(strings.Join(unsafe, "; "), test.unsafe) || !strings.Contains(strings.Join(slow, "; "), test.slow) {
			t.Errorf("%+v: %q and %q", test.m, unsafe, slow)
		}
	}
}

func TestARateIsKnownUpToTheTimeThatReadingsTake(t *testing.T) {
	reading := func(sent, theirs, received time.Duration) doctor.Reading {
		return doctor.Reading{Sent: sent, Theirs: theirs, Received: received}
	}
	const s, ms = time.Second, time.Millisecond
	for _, test := range []struct {
		first, last doctor.Reading
		faster      float64
	}{
		{reading(0, 50*s, ms), reading(10*s, 60*s, 10*s+ms), 0},
		{reading(0, 50*s, ms), reading(10*s, 61*s, 10*s+ms), 0.1},
		{reading(0, 0, 9*ms), reading(10*s, 9*s, 10*s+9*ms), -0.1},
	} {
		faster, off := doctor.Rate(test.first, test.last)
		if off <= 0 || off > 0.0021 || faster-off > test.faster || faster+off < test.faster {
			t.Errorf("%+v: %v ± %v, and it is %v", test, faster, off, test.faster)
		}
	}
	if faster, off := doctor.Rate(reading(0, 0, s), reading(s, s, 2*s)); off < 1 || faster != 0 {
		t.Errorf("readings that overlap give %v ± %v", faster, off)
	}
}

func TestTimersOfABubbleAreNotLate(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		begun := time.Now()
		if span := doctor.Lateness(clock.System(), 10); span != (doctor.Span{}) || time.Since(begun) != 20*time.Millisecond {
			t.Errorf("%+v after %v", span, time.Since(begun))
		}
	})
}

func TestFlushesLeaveNoFile(t *testing.T) {
	directory := t.TempDir()
	span, err := doctor.Flushes(directory, 3)
	files, _ := os.ReadDir(directory)
	if err != nil || span.Median <= 0 || span.Worst < span.Median || len(files) > 0 {
		t.Errorf("%+v, %v, %d files", span, err, len(files))
	}
	if _, err := doctor.Flushes(filepath.Join(directory, "missing"), 3); err == nil {
		t.Error("a directory that is missing is written to")
	}
}

func TestRoundTripsNeedAListener(t *testing.T) {
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	address := l.Addr().String()
	if span, err := doctor.RoundTrips(t.Context(), address, 3); err != nil || span.Median <= 0 || span.Worst < span.Median {
		t.Errorf("%+v, %v", span, err)
	}
	l.Close()
	free, err := rig.FreeAddresses(1) // another program may listen at the address that was left
	if err != nil {
		t.Fatal(err)
	}
	if _, err := doctor.RoundTrips(t.Context(), free[0], 3); err == nil {
		t.Error("an address without a listener has a round trip")
	}
}
