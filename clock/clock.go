// Package clock has the two clocks of a member of a group.
//
// A member that has promised to grant no other lease must not keep that promise for too short a time, and a member that
// leads must not believe in its lease for too long. A machine may be suspended in between. So there are two clocks:
//
//   - Monotonic may stop while the machine is suspended. Promises, and everything else that must not end early, run on it.
//   - Boottime goes on during suspension. Rights, such as a lease, end on it.
//
// On Linux these are CLOCK_MONOTONIC and CLOCK_BOOTTIME. Elsewhere Boottime is the larger of the monotonic clock and the
// wall clock, as far as each has advanced. The wall clock goes on during suspension. If it is set forward, a lease ends
// early, which costs an election; if it is set back, the monotonic clock counts. On a system whose monotonic clock
// stops during suspension and whose wall clock is set back at that time, a lease may be taken for running after its end.
//
// A virtual machine that its hypervisor suspends may find both clocks stopped. No clock can show that; a fencing token can.
//
// The API of this package is v1: what it exports stays, and keeps its meaning.
package clock

import (
	"time"
)

// Clock is the pair of clocks. Its methods may be called at any time, by any goroutine.
type Clock interface {
	// Monotonic returns the time since a fixed moment. It may stop while the machine is suspended.
	Monotonic() time.Duration

	// Boottime returns the time since a fixed moment. It goes on while the machine is suspended.
	Boottime() time.Duration

	// NewTimer returns a timer on Monotonic that does not run.
	NewTimer() Timer
}

// Timer sends on a channel when its time has passed. It belongs to one goroutine.
type Timer interface {
	// C returns the channel. A time that is sent after Reset or Stop belongs to the last Reset.
	C() <-chan time.Time

	// Reset starts the timer, or restarts it.
	Reset(d time.Duration)

	// Stop stops it.
	Stop()
}

// System returns the clocks of this system.
func System() Clock { return &system{begun: time.Now()} }

// system measures both clocks from one moment.
type system struct{ begun time.Time }

func (s *system) Monotonic() time.Duration { return time.Since(s.begun) }

func (s *system) NewTimer() Timer {
	t := time.NewTimer(time.Hour)
	t.Stop()
	return timer{t}
}

type timer struct{ *time.Timer }

func (t timer) C() <-chan time.Time   { return t.Timer.C }
func (t timer) Reset(d time.Duration) { t.Timer.Reset(d) }
func (t timer) Stop()                 { t.Timer.Stop() }
