package delays

import (
	"bytes"
	"log/slog"
	"strings"
	"testing"
	"time"
)

// atDefault are delays at the default timing, with what they log.
func atDefault() (*Watch, *bytes.Buffer) {
	var said bytes.Buffer
	return New(slog.New(slog.NewTextHandler(&said, &slog.HandlerOptions{Level: slog.LevelWarn})), 400*time.Millisecond), &said
}

// lines expects the lines of a log, by a part of each.
func lines(t *testing.T, said *bytes.Buffer, want ...string) {
	t.Helper()
	got := strings.Split(strings.TrimSuffix(said.String(), "\n"), "\n")
	if said.Len() == 0 {
		got = nil
	}
	same := len(got) == len(want)
	for i := 0; same && i < len(want); i++ {
		same = strings.HasSuffix(got[i], want[i])
	}
	if !same {
		t.Errorf("the log is\n%s\nwant %q", said, want)
	}
}

func TestAProcessThatStoodStillSaysSoAtMostOnceAMinute(t *testing.T) {
	d, said := atDefault()
	d.Woke(time.Second, 100*time.Millisecond)
	d.Woke(2*time.Second, 399*time.Millisecond) // the others do not suspect it
	lines(t, said)
	d.Woke(10*time.Second, 1600*time.Millisecond)
	lines(t, said, `msg="this process stood still" standstill=1.6s times=1`)
	d.Woke(20*time.Second, 2*time.Second)
	d.Woke(30*time.Second, 3*time.Second)
	d.Woke(69*time.Second, 3*time.Second)
	said.Reset()
	d.Woke(71*time.Second+3*time.Second, 3*time.Second)
	lines(t, said, `msg="this process stood still" standstill=3s times=4`)
}

// A process that gets 8 ms of each second, for example.
func TestTimersThatAreLateAgainAndAgainAreNoStandstills(t *testing.T) {
	d, said := atDefault()
	now := 10 * time.Second
	late := func(times int) {
		for range times {
			now += 3750 * time.Millisecond
			d.Woke(now, 3650*time.Millisecond)
			d.Woke(now, 0) // what came meanwhile is in time
		}
	}
	late(2)
	const stood, slow = `msg="this process stood still" standstill=3.65s times=1`, `msg="timers are late: this process gets too little of the processor" lateness=3.65s times=`
	lines(t, said, stood)
	late(1)
	lines(t, said, stood, slow+"2")
	late(15)
	lines(t, said, stood, slow+"2")
	late(1)
	lines(t, said, stood, slow+"2", slow+"16")
}

func TestTimersThatAreLateOnceOrTwiceAreChance(t *testing.T) {
	d, said := atDefault()
	for now := time.Second; now < time.Hour; now += 10 * time.Second {
		d.Woke(now, 300*time.Millisecond)
		d.Woke(now+500*time.Millisecond, 300*time.Millisecond)
	}
	lines(t, said)
}
