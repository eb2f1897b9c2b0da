package ringleader

import (
	"fmt"
	"log/slog"
	"sync"
	"sync/atomic"
	"time"

	"ringleader.example/ringleader/internal/serve/kernel"
)

// RealTime lets this process run before all ordinary processes, so that a leader keeps its lead on a machine that is busy with others: it
// schedules all threads by the policy SCHED_RR of Linux, with the least real-time priority. A member needs a processor for some milliseconds
// each second, but then it needs it at once. RealTime is called at the start of main, before [Warden]: then the warden, too, is not late.
//
// The processes that this one starts have the same policy, unless they change it. So RealTime is for a program that leaves its work to others, or has
// little of it. While this process uses more than half of a processor for a second, it runs as an ordinary one, until it has not done so for
// ten seconds: then strangers that keep it busy do not take the machine from others. When its last member closes, it runs as an ordinary one, too.
//
// Where several such processes share a machine, call runtime.GOMAXPROCS(1) as well: after a collection Go's sweeper may spin, for as long as the policy lets it, until a
// thread has swept that waits for a processor behind another process.
//
// If the system refuses the policy, the process runs as before, and the error names the cause. Linux allows it to root, to a process with CAP_SYS_NICE,
// and to a process whose RLIMIT_RTPRIO is above 0 (LimitRTPRIO=2 in a unit of systemd: 1 for the members, and 2 for the warden that watches them).
func RealTime() error {
	err := kernel.HurryAll()
	if err != nil {
		err = fmt.Errorf("this process does not run before others: %w", err)
	}
	realTime.set(err, govern)
	return err
}

// realTime is the policy of this process.
var realTime policy

// policy is how a process is scheduled.
type policy struct {
	result  atomic.Pointer[error]       // of RealTime; nil: it was not called
	log     atomic.Pointer[slog.Logger] // of a member; nil: there is none yet
	governs sync.Once

	mu      sync.Mutex
	members int // that have not left
	rests   int // how often the last one has left
}

// joined is told that this process has another member: after a rest it runs before others again.
func (p *policy) joined(all func() error) {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.members++; p.members == 1 && p.rests > 0 && p.hurries() {
		_ = all() // it was allowed before
	}
}

// leaves is told that a member ends and has nothing to do any more that is urgent. The end of its process takes a processor for milliseconds, which those
// that elect need.
func (p *policy) leaves(none func() error) {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.members--; p.members == 0 && p.hurries() {
		p.rests++
		_ = none()
	}
}

// hurries reports whether the system lets this process run before others.
func (p *policy) hurries() bool {
	result := p.result.Load()
	return result != nil && *result == nil
}

// rest returns how often the last member has left, and whether there is none now.
func (p *policy) rest() (times int, now bool) {
	p.mu.Lock()
	defer p.mu.Unlock()
	return p.rests, p.rests > 0 && p.members == 0
}

// set takes the result of RealTime. A governor watches what runs before others, also if it has no member.
func (p *policy) set(err error, govern func()) {
	if p.result.Store(&err); err == nil {
		p.governs.Do(func() { go govern() })
	}
}

// tellRealTime gives the log of a member to the governor. If the system has refused the policy, it logs that instead.
func tellRealTime(c *Config) {
	realTime.joined(kernel.HurryAll)
	log := c.Logger.With("member", c.ID)
	switch result := realTime.result.Load(); {
	case result == nil:
	case *result != nil:
		log.Info("this member waits for a processor as ordinary processes do", "error", *result)
	default:
		realTime.log.CompareAndSwap(nil, log)
	}
}

func govern() {
	g := governor{all: kernel.HurryAll, none: kernel.RelaxAll, hurries: true}
	ticker := time.NewTicker(time.Second)
	rests := 0
	for last, used := time.Now(), kernel.Used(); ; {
		now, before := <-ticker.C, used
		used = kernel.Used()
		times, resting := realTime.rest()
		if times != rests { // what it has found before counts no more
			rests, g.hurries, g.calm = times, true, 0
		}
		if resting {
			last = now
			continue
		}
		log := realTime.log.Load()
		if log == nil {
			log = slog.New(slog.DiscardHandler)
		}
		g.look(log, now.Sub(last), used-before)
		last = now
	}
}

// governor decides whether a process may run before others.
type governor struct {
	all, none func() error // let all threads hurry, or none

	hurries bool
	calm    int // looks in a row at which it used at most half of a processor, since it does not hurry
}

// look is told how long the process has had a processor in the time that has passed.
func (g *governor) look(log *slog.Logger, passed, used time.Duration) {
	const enough = 10
	switch {
	case used > passed/2:
		if g.calm = 0; g.hurries && g.none() == nil {
			g.hurries = false
			log.Warn("this process runs as ordinary ones do: it has used more than half of a processor", "used", used, "passed", passed)
		}
	case !g.hurries:
		if g.calm++; g.calm >= enough && g.all() == nil {
			g.hurries = true
			log.Info("this process runs before ordinary ones again")
		}
	}
}
