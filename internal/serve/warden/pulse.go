package warden

import (
	"sync"
	"sync/atomic"
	"time"
)

// Pulse is what a member of this process shows its warden while it leads: that its loop works. It is a count in memory that both share, so
// a member that is stopped, blocks for ever or spins in a loop is found without a message.
type Pulse struct {
	at    int
	count *int64
	most  *int64 // how long the count may stand still, in nanoseconds; 0: for ever
}

// mostPulses is how many members of a process a warden watches.
const mostPulses = 256

// pulses is the memory that a program shares with its warden: a count and a length of time for each pulse.
var pulses struct {
	mu     sync.Mutex
	memory []int64 // nil: there is none
	free   []int   // those that were closed
	taken  int     // how many there were
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
	return &Pulse{at, &pulses.memory[2*at], &pulses.memory[2*at+1]}
}

// Close ends the pulse: the warden does not watch, and another one may take its place.
func (p *Pulse) Close() {
	p.Watch(0)
	pulses.mu.Lock()
	defer pulses.mu.Unlock()
	pulses.free = append(pulses.free, p.at)
}

// Beat shows that the loop works.
func (p *Pulse) Beat() { atomic.AddInt64(p.count, 1) }

// Watch lets the warden kill this process when it has seen no beat for most; 0: it does not watch.
func (p *Pulse) Watch(most time.Duration) {
	p.Beat()
	atomic.StoreInt64(p.most, int64(most))
}
