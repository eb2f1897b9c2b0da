package ringleader_test

import (
	"bytes"
	"context"
	"log/slog"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"ringleader.example/ringleader"
	"ringleader.example/ringleader/clock/clocktest"
	"ringleader.example/ringleader/storage"
	"ringleader.example/ringleader/transport/transporttest"
)

// pausing is a clock after one reading of which the process is paused.
type pausing struct {
	*clocktest.Clock
	mu    sync.Mutex
	at    int           // the number of that reading, from 1; 0: none
	reads int           // so far, since at was set
	pause time.Duration // how long
	ended time.Time     // when the pause ends; zero: it has not begun
}

// arm lets the process pause after a reading from now on.
func (p *pausing) arm(at int, pause time.Duration) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.at, p.reads, p.pause = at, 0, pause
}

// now counts a reading, and returns how long the process is paused after it.
func (p *pausing) now() time.Duration {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.reads++
	if p.at == 0 || p.reads != p.at {
		return 0
	}
	p.ended = time.Now().Add(p.pause)
	return p.pause
}

func (p *pausing) Boottime() time.Duration {
	read := p.Clock.Boottime()
	if pause := p.now(); pause > 0 {
		p.Stop()
		time.Sleep(pause)
		p.Continue()
	}
	return read
}

// pausable is a group of two members in a bubble, of which 2 leads with a clock that may pause.
type pausable struct {
	clock   *pausing
	members []*ringleader.Member
	cut     func() // ends all communication
	loud    *loud  // the log of 2
}

func newPausable(t *testing.T) *pausable {
	over := transporttest.NewExchange()
	p := &pausable{clock: &pausing{Clock: clocktest.New()}, loud: &loud{}}
	p.cut = func() { over.Hold(func(transporttest.Frame) bool { return true }) }
	config := ringleader.Config{
		Timing: ringleader.Test(), Overrun: ringleader.Log, Transport: over.Open,
		Members: []ringleader.MemberAddress{{ID: 1, Address: "member1:1"}, {ID: 2, Address: "member2:1"}},
	}
	for id := range uint64(2) {
		config.ID, config.Clock = id+1, clocktest.New()
		if config.ID == 2 {
			config.Clock, config.Logger = p.clock, slog.New(slog.NewTextHandler(p.loud, nil))
		}
		var err error
		if config.Storage, err = storage.Memory().Open(); err != nil {
			t.Fatal(err)
		}
		m, err := ringleader.Join(t.Context(), config)
		if err != nil {
			t.Fatal(err)
		}
		p.members = append(p.members, m)
	}
	for v := range p.members[1].Observe(t.Context()) {
		if v.Role == ringleader.Leader {
			return p
		}
	}
	t.Fatal("2 does not lead")
	return nil
}

func (p *pausable) close() {
	for _, m := range p.members {
		m.Close()
	}
}

// loud is a log that remembers when it first told of work that has not returned.
type loud struct {
	mu sync.Mutex
	at time.Time
}

func (l *loud) Write(b []byte) (int, error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.at.IsZero() && bytes.Contains(b, []byte("work has not returned")) {
		l.at = time.Now()
	}
	return len(b), nil
}

func (l *loud) first() time.Time {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.at
}

// A process may be paused after any reading of its clock, for a short or a long time. Then its work is told to stop, and is found not to
// have stopped, each at its time, or as soon as the pause is over. The group is cut off, so the lease ends at a known time.
func TestAPauseBetweenTwoReadingsMovesNoEndOfWork(t *testing.T) {
	for _, pause := range []time.Duration{20 * time.Millisecond, 200 * time.Millisecond} {
		for at := 1; pausesOnce(t, at, pause) && !t.Failed(); at++ {
		}
	}
}

// pausesOnce judges a pause after one reading. It reports false if there are not so many.
func pausesOnce(t *testing.T, at int, pause time.Duration) (paused bool) {
	synctest.Test(t, func(t *testing.T) {
		p := newPausable(t)
		began, release, worked := make(chan struct{}), make(chan struct{}), make(chan struct{})
		ctx, cancel := context.WithCancel(t.Context())
		var (
			mu   sync.Mutex
			told time.Time
		)
		go func() {
			defer close(worked)
			p.members[1].Lead(ctx, func(ctx context.Context, _ ringleader.Leadership) error {
				close(began)
				<-ctx.Done()
				mu.Lock()
				told = time.Now()
				mu.Unlock()
				<-release
				return nil
			})
		}()
		<-began
		p.cut()
		synctest.Wait()
		ends := time.Now().Add(time.Duration(*p.members[1].Status().Lease * float64(time.Second)))
		p.clock.arm(at, pause)
		if err := p.members[1].SetPriority(2); err != nil { // Lead looks again at a moment at which nothing ends
			t.Error(err)
		}
		time.Sleep(time.Until(ends.Add(2 * pause)))
		p.clock.arm(0, 0)
		paused = !p.clock.ended.IsZero()
		check := func(what string, was time.Time, early time.Duration) {
			latest := ends.Add(-early)
			if p.clock.ended.After(latest) {
				latest = p.clock.ended
			}
			if was.IsZero() || was.After(latest.Add(time.Millisecond)) {
				t.Errorf("a pause of %v after reading %d, %v before the end of the lease: the work %s %v before it", pause, at, ends.Sub(p.clock.ended.Add(-pause)), what, ends.Sub(was))
			}
		}
		timing := ringleader.Test()
		mu.Lock()
		defer mu.Unlock()
		check("was told to stop", told, timing.Margin+timing.Grace)
		check("was found not to have stopped", p.loud.first(), timing.Margin)
		close(release)
		cancel()
		<-worked
		p.close()
	})
	return paused
}

func TestAPauseMakesNoDeadlineLate(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		p := newPausable(t)
		lead := make(chan ringleader.Leadership)
		ctx, cancel := context.WithCancel(t.Context())
		defer cancel()
		go p.members[1].Lead(ctx, func(ctx context.Context, l ringleader.Leadership) error {
			lead <- l
			<-ctx.Done()
			return nil
		})
		l := <-lead
		p.cut()
		synctest.Wait()
		latest := time.Now().Add(time.Duration(*p.members[1].Status().Lease * float64(time.Second)))
		p.clock.arm(1, 50*time.Millisecond)
		if d := l.Deadline(); d.After(latest.Add(time.Millisecond)) {
			t.Errorf("it is %v after the end of the lease", d.Sub(latest))
		}
		p.close()
	})
}
