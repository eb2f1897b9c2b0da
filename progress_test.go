package ringleader_test

import (
	"context"
	"errors"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"ringleader.example/ringleader"
	"ringleader.example/ringleader/ringleadertest"
)

// promising is a cluster of three whose work promises progress. Member 3 leads.
func promising(t *testing.T) *ringleadertest.Cluster {
	t.Helper()
	timing := ringleader.LAN()
	timing.Progress = 2 * time.Second
	c := ringleadertest.New(t, ringleader.Config{Timing: timing, Overrun: ringleader.Log}, 1, 2, 3)
	c.Start(1, 2, 3)
	c.Await(3)
	return c
}

// minutes is a time in which nothing may change; shorter in a search for races, to which one minute is like the other.
func minutes(n time.Duration) time.Duration {
	if testing.Short() {
		return n * time.Minute / 10
	}
	return n * time.Minute
}

func TestWorkThatTellsNoProgressLosesTheLead(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		c := promising(t)
		defer c.Close()
		causes := make(chan error, 1)
		hangs := make(chan struct{})
		tells := make(chan struct{})
		var led time.Time
		go c.Member(3).Lead(t.Context(), func(ctx context.Context, l ringleader.Leadership) error {
			for ticker := time.NewTicker(time.Second); ; {
				l.Alive()
				select {
				case <-tells:
					<-ctx.Done()
					causes <- context.Cause(ctx)
					<-hangs // it does not even return
					return nil
				case <-ticker.C:
				}
			}
		})
		term := c.Member(3).View().Term
		c.Pass(minutes(2))
		if v := c.Member(3).View(); v.Role != ringleader.Leader || v.Term != term {
			t.Fatalf("it tells progress, and leads no more: %+v", v)
		}
		close(tells)
		led = time.Now()
		c.Await(2)
		if took := time.Since(led); took < time.Second || took > 4*time.Second {
			t.Errorf("it took %v until another member leads", took)
		}
		if cause := <-causes; !errors.Is(cause, ringleader.ErrStalled) {
			t.Errorf("the cause is %v", cause)
		}
		if last := c.Member(1).Status().LastChange; last.Cause != "stalled" || !strings.Contains(last.Detail, "it has told none for 2.") {
			t.Errorf("the last change is %+v", last)
		}
		if err := c.Member(3).Health(); !errors.Is(err, ringleader.ErrStalled) || c.Member(3).Status().WorkProblem == "" {
			t.Errorf("the member is healthy: %v", err)
		}
		c.Pass(minutes(2))
		if c.Member(2).Status().Members[2].Unable == "" {
			t.Error("it may lead while its work has not returned")
		}
		close(hangs)
		c.Until("member 3 may lead again", func() bool { return c.Member(2).Status().Members[2].Unable == "" })
		if err := c.Member(3).Health(); err != nil {
			t.Error(err)
		}
	})
}

func TestWorkThatPromisesNothingNeedsNoProgress(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		c := ringleadertest.New(t, ringleader.Config{}, 1, 2, 3)
		c.Start(1, 2, 3)
		c.Await(3)
		defer c.Close()
		go c.Member(3).Lead(t.Context(), func(ctx context.Context, _ ringleader.Leadership) error {
			<-ctx.Done()
			return nil
		})
		term := c.Member(3).View().Term
		c.Pass(minutes(2))
		if v := c.Member(3).View(); v.Role != ringleader.Leader || v.Term != term {
			t.Errorf("it leads no more: %+v", v)
		}
	})
}

// The lease of a leader whose disk stalls runs out although it is renewed, as its work may hang with the disk.
func TestALeaderWhoseDiskStallsHandsOverThoughItsWorkHangs(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		c, lasts := slowlyWith(t, ringleader.Config{Overrun: ringleader.Log})
		defer func() { <-time.After(time.Hour) }() // until no probe runs
		defer c.Close()
		hangs := make(chan struct{})
		defer close(hangs)
		go c.Member(3).Lead(t.Context(), func(context.Context, ringleader.Leadership) error {
			<-hangs
			return nil
		})
		c.Settle()
		lasts[3].Store(int64(time.Minute))
		begun := time.Now()
		c.Await(2)
		if took := time.Since(begun); took > 3*time.Second {
			t.Errorf("it took %v until another member leads", took)
		}
	})
}
