package live

import (
	"bytes"
	"context"
	"log/slog"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"ringleader.example/ringleader/clock/clocktest"
	"ringleader.example/ringleader/internal/serve/delays"
	"ringleader.example/ringleader/internal/serve/view"
	"ringleader.example/ringleader/network"
)

// paused is a clock after each reading of which the process is paused.
type paused struct {
	*clocktest.Clock
	pause time.Duration
}

func (p paused) Boottime() time.Duration {
	defer time.Sleep(p.pause)
	return p.Clock.Boottime()
}

func (p paused) Monotonic() time.Duration {
	defer time.Sleep(p.pause)
	return p.Clock.Monotonic()
}

// The end of a lease that is shown is a moment of the wall clock, which is read first.
func TestAPauseMakesNoEndOfALeaseLate(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		m := &Member{clock: paused{clocktest.New(), 50 * time.Millisecond}}
		g := &Group{member: m, leased: true, until: lease, state: view.State{Role: network.Leader, Leader: 1, Term: 7}}
		ends := time.Now().Add(lease)
		if s, _ := g.State(); s.Until.After(ends) {
			t.Errorf("it is shown as %v later", s.Until.Sub(ends))
		}
		if until, leads := g.Ends(7); until != lease || !leads {
			t.Errorf("%v, %v", until, leads)
		}
		if _, leads := g.Ends(6); leads {
			t.Error("it leads in a term before, too")
		}
	})
}

// Between the step that ends a lead and the next state, the lead has ended now, and not when the member began.
func TestALeadThatAStepHasEndedHasEndedNow(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		m := &Member{clock: clocktest.New()}
		g := &Group{member: m, leased: true, until: lease, state: view.State{Role: network.Leader, Leader: 1, Term: 7}}
		<-time.After(lease / 2)
		g.extend(0)
		if s, _ := g.State(); s.Leader != 0 || !s.Since.Equal(time.Now()) {
			t.Errorf("it knows leader %d since %v ago", s.Leader, time.Since(s.Since))
		}
	})
}

// Otherwise a suspension that follows would not be noticed, and a lease would be taken for running after its end.
func TestAPauseIsNotTakenForASuspension(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		clock := paused{clocktest.New(), 50 * time.Millisecond}
		quiet := slog.New(slog.DiscardHandler)
		l := &loop{member: &Member{clock: clock, log: quiet}, delays: delays.New(quiet, time.Hour)}
		l.resume(l.member.now())
		if l.suspended > 0 {
			t.Errorf("the machine is said to have been suspended for %v", l.suspended)
		}
		const slept = time.Second
		clock.Suspend(slept)
		l.resume(l.member.now())
		if l.suspended < slept-clock.pause || l.suspended > slept {
			t.Errorf("%v of %v", l.suspended, slept)
		}
	})
}

func TestALoopTellsHowLongItStoodStill(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		c, _ := leased(t, 1)
		config := c.config(1, at(1))
		var said bytes.Buffer
		config.Logger = slog.New(slog.NewTextHandler(&said, &slog.HandlerOptions{Level: slog.LevelWarn}))
		m, err := JoinProgram(context.Background(), c.algorithm, config)
		if err != nil {
			t.Fatal(err)
		}
		c.members[1] = m
		defer c.stopAll()
		settle()
		synctest.Wait()
		if said.Len() != 0 {
			t.Error(said.String())
		}
		c.clocks[1].Stop()
		<-time.After(1600 * time.Millisecond)
		c.clocks[1].Continue()
		settle()
		synctest.Wait()
		if got := said.String(); strings.Count(got, "this process stood still") != 1 || strings.Count(got, "\n") != 1 || !strings.Contains(got, "standstill=1.") {
			t.Error(got)
		}
	})
}
