package agent

import (
	"context"
	"errors"
	"log/slog"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"ringleader.example/ringleader"
)

// Work has ended by Timing.Margin before the end of the lease, if the keeper obeys, and if the kernel kills it.
func TestTheOrdersOfAKeeperLeaveTheMargin(t *testing.T) {
	timing := ringleader.Timing{Margin: 50 * time.Millisecond, Grace: 40 * time.Millisecond}
	d := deadlines{timing: timing, most: time.Second, until: time.Minute}
	dead := time.Minute - timing.Margin
	if o := d.order(); o != (order{Stop: dead - 30*time.Millisecond, Kill: dead - 10*time.Millisecond, Dead: dead}) || d.hard() > dead {
		t.Errorf("%+v, and the member kills at %v", o, d.hard())
	}
	d.asked = 30 * time.Second
	if o := d.order(); o != (order{Stop: 30 * time.Second, Kill: 31 * time.Second, Dead: dead, End: true}) || d.hard() > 32*time.Second {
		t.Errorf("asked to end: %+v, and the member kills at %v", o, d.hard())
	}
	d.asked = dead - 20*time.Millisecond
	if o := d.order(); o.Kill != dead-10*time.Millisecond {
		t.Errorf("asked to end late: %+v", o)
	}
}

// With leases of one length it has one four times between renewals, and with shorter ones twice at least.
func TestAKeeperHasOrdersBetweenTheRenewalsOfAnyLease(t *testing.T) {
	for _, test := range []struct {
		timing ringleader.Timing
		want   time.Duration
	}{
		{ringleader.LAN(), 21250 * time.Microsecond},
		{ringleader.WAN(), 200 * time.Millisecond},
		{ringleader.Fast(), 10 * time.Millisecond},
	} {
		d := deadlines{timing: test.timing}
		if got := d.each().Round(time.Microsecond); got != test.want {
			t.Errorf("each %v, not %v", got, test.want)
		}
	}
}

func TestAnEndThatWasReadSlowlyShortensNoLease(t *testing.T) {
	d := deadlines{timing: ringleader.Timing{}.WithDefaults(), most: time.Second}
	for _, until := range []time.Duration{time.Minute, time.Minute + time.Second, time.Minute} {
		d.extend(until)
	}
	if want := time.Minute + time.Second; d.until != want {
		t.Errorf("the lease ends at %v, want %v", d.until, want)
	}
}

// A keeper that has stopped its command, since the lease was about to end, is no end of the command by itself.
func TestNoMemberLeavesWithACommandThatItsKeeperHasStopped(t *testing.T) {
	for _, c := range []struct {
		configured OnExit
		late       bool
		killed     bool
		want       OnExit
	}{
		{Leave, false, false, Leave},
		{Leave, true, false, Resign},
		{Leave, false, true, Resign},
		{Restart, false, false, Restart},
		{Restart, true, false, Resign},
		{Restart, false, true, Restart},
	} {
		e := &executor{Agent: &Agent{config: Config{OnExit: c.configured}}, late: c.late, killed: c.killed}
		if got := e.then(); got != c.want {
			t.Errorf("%s, stopped by the keeper %v, killed with it %v: %s, want %s", c.configured, c.late, c.killed, got, c.want)
		}
	}
}

// The log has once that a command does not become ready. The looks become rare then: each may print.
func TestACommandThatDoesNotBecomeReadyIsToldOnce(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var said strings.Builder
		a := &Agent{log: slog.New(slog.NewTextHandler(&said, nil))}
		looks, ended := 0, make(chan struct{})
		go a.await(ringleader.Leadership{}, ended, checkInterval, func(context.Context) error {
			looks++
			return errors.New("exit status 7")
		})
		<-time.After(overdue + 10*seldom + seldom/2)
		close(ended)
		synctest.Wait()
		if got := said.String(); strings.Count(got, "\n") != 1 || !strings.Contains(got, "exit status 7") {
			t.Error(got)
		}
		if most := int(overdue/checkInterval) + 12; looks > most {
			t.Errorf("%d looks, not %d", looks, most)
		}
	})
}
