package warden

import (
	"os"
	"sync"
	"sync/atomic"
	"time"

	"ringleader.example/ringleader/internal/serve/kernel"
)

// Pulse is what a member of this process shows its warden while it leads: that its loop works. It is a time in memory that both share, so a member that
// is stopped, blocks for ever or spins in a loop is found without a message. One goroutine uses it.
type Pulse struct {
	at        int
	last      *int64        // when it has beaten, on the clock of the machine that goes on while the process is stopped, in nanoseconds
	most      *int64        // how long it may be silent, in nanoseconds; 0: for ever
	limit     time.Duration // most, if it may be silent for that long; 0: it is not watched
	postponed time.Duration // when it has postponed the alarm last
}

// mostPulses is how many members of a process a warden watches.
const mostPulses = 256

// pulses is what a program shares with its warden: memory with two numbers for each pulse, and the alarm at which the warden looks. The only pulse that is
// watched postpones the alarm when it beats. So the warden sleeps for as long as it beats.
var pulses struct {
	mu      sync.Mutex
	memory  []int64 // nil: there is none
	alarm   *kernel.Alarm
	free    []int        // those that were closed
	taken   int          // how many there were
	watched atomic.Int64 // how many may not be silent
}

// share takes over what the warden has made.
func share(page *os.File, alarm uintptr) {
	pulses.memory, pulses.alarm = mapPulses(page), &kernel.Alarm{Descriptor: alarm}
}

// NewPulse returns a pulse, or nil: there is no warden, or it watches as many members as it can.
func NewPulse() *Pulse {
	pulses.mu.Lock()
	defer pulses.mu.Unlock()
	at := pulses.taken
	if n := len(pulses.free); n > 0 {
		at, pulses.free = pulses.free[n-1], pulses.free[:n-1]
	} else if 2*at == len(pulses.memory) {
		return nil
	} else {
		pulses.taken++
	}
	return &Pulse{at: at, last: &pulses.memory[2*at], most: &pulses.memory[2*at+1]}
}

// Close ends the pulse: the warden does not watch, and another one may take its place.
func (p *Pulse) Close() {
	p.Watch(0)
	pulses.mu.Lock()
	defer pulses.mu.Unlock()
	pulses.free = append(pulses.free, p.at)
}

// often is the part of the longest silence that passes before a pulse postpones the alarm again.
const often = 20

// Beat shows that the loop works.
func (p *Pulse) Beat() {
	now := kernel.Monotonic()
	atomic.StoreInt64(p.last, int64(now))
	if p.limit > 0 && now-p.postponed >= p.limit/often && pulses.watched.Load() == 1 {
		p.postponed = now
		_ = pulses.alarm.Set(p.limit / beating) // if that fails, the warden looks as if there were more pulses
	}
}

// Watch lets the warden kill this process when it has seen no beat for most; 0: it does not watch.
func (p *Pulse) Watch(most time.Duration) {
	if before := p.limit; before == 0 && most > 0 {
		pulses.watched.Add(1)
	} else if before > 0 && most == 0 {
		pulses.watched.Add(-1)
	}
	p.limit = most
	p.Beat()
	if most > 0 { // first: this process may be stopped after it has told that it is to be watched
		_ = pulses.alarm.Set(most / beating)
	}
	atomic.StoreInt64(p.most, int64(most))
}
