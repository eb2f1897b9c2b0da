// Package clocktest has clocks for tests: a machine can be suspended, and its clocks can run fast or slow.
//
// They are made from the time of package time, so in a bubble of testing/synctest they stand still while a goroutine
// runs.
//
// The API of this package is v1: what it exports stays, and keeps its meaning.
package clocktest

import (
	"math"
	"sync"
	"time"

	"ringleader.example/ringleader/clock"
)

// Clock is the pair of clocks of one machine. Its methods may be called at any time, by any goroutine.
type Clock struct {
	mu        sync.Mutex
	since     time.Time     // when rate or suspension changed last
	at        time.Duration // the reading of both clocks at that time, but for suspensions
	rate      float64       // how fast they run
	suspended time.Duration // for how long the machine was, by the clock that goes on
	paused    *sync.Cond    // readings wait while the process is stopped
	stopped   bool
	timers    map[*timer]bool
}

// New returns clocks that run at the true rate.
func New() *Clock {
	c := &Clock{since: time.Now(), rate: 1, timers: map[*timer]bool{}}
	c.paused = sync.NewCond(&c.mu)
	return c
}

// Stop stops the process that uses the clocks, as SIGSTOP does: a goroutine that reads one waits until Continue. What does not
// read a clock goes on, as connections do in the kernel.
func (c *Clock) Stop() {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.stopped = true
}

// Continue ends Stop. Both clocks have advanced meanwhile.
func (c *Clock) Continue() {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.stopped = false
	c.paused.Broadcast()
}

// enter locks the clocks when the process runs.
func (c *Clock) enter() {
	c.mu.Lock()
	for c.stopped {
		c.paused.Wait()
	}
}

func (c *Clock) now() time.Duration {
	return c.at + time.Duration(float64(time.Since(c.since))*c.rate)
}

// Monotonic returns the time since New, without suspensions.
func (c *Clock) Monotonic() time.Duration {
	c.enter()
	defer c.mu.Unlock()
	return c.now()
}

// Boottime returns the time since New, with suspensions.
func (c *Clock) Boottime() time.Duration {
	c.enter()
	defer c.mu.Unlock()
	return c.now() + c.suspended
}

// Run sets the rate of both clocks: 1 is the true one, 1.05 is fast.
func (c *Clock) Run(rate float64) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.at, c.since, c.rate = c.now(), time.Now(), rate
	for t := range c.timers {
		t.arm()
	}
}

// True returns the true time that passes while the clocks advance by d, at their present rate.
func (c *Clock) True(d time.Duration) time.Duration {
	c.mu.Lock()
	defer c.mu.Unlock()
	return time.Duration(float64(d) / c.rate)
}

// Suspend shows what a member sees when its machine was suspended for that time: Boottime has advanced, and Monotonic
// has not. It takes no time itself.
func (c *Clock) Suspend(d time.Duration) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.suspended += d
}

// timer is a timer on Monotonic.
type timer struct {
	clock *Clock
	timer *time.Timer
	at    time.Duration // of Monotonic
}

// NewTimer returns a timer on Monotonic that does not run.
func (c *Clock) NewTimer() clock.Timer {
	t := time.NewTimer(time.Hour)
	t.Stop()
	return &timer{clock: c, timer: t}
}

func (t *timer) C() <-chan time.Time { return t.timer.C }

func (t *timer) Reset(d time.Duration) {
	t.clock.enter()
	defer t.clock.mu.Unlock()
	t.at = t.clock.now() + d
	t.clock.timers[t] = true
	t.arm()
}

// arm sets the timer of package time. A clock that is slow needs more of its time.
func (t *timer) arm() {
	left := float64(t.at - t.clock.now())
	t.timer.Reset(time.Duration(math.Ceil(left / t.clock.rate)))
}

func (t *timer) Stop() {
	t.clock.mu.Lock()
	defer t.clock.mu.Unlock()
	delete(t.clock.timers, t)
	t.timer.Stop()
}
