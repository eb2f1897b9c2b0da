package simulate

import (
	"errors"
	"fmt"
	"slices"

	"ringleader.example/ringleader/election"
)

// Schedule picks, in an asynchronous run, which link delivers its next message.
type Schedule uint8

// The schedules.
const (
	FIFO   Schedule = iota // the link with the oldest message; its clock counts units of delay
	LIFO                   // the link that was written last
	Random                 // any link that is not empty, each as likely as the others
)

func (s Schedule) String() string { return [...]string{"fifo", "lifo", "random"}[s] }

// Fault is something that happens to a process at a given time.
type Fault struct {
	Process int // position
	At      election.Ticks
}

// Suspicion is a mistake of a failure detector: from At until Until, Process suspects Of, which lives.
type Suspicion struct {
	Process, Of int // positions
	At, Until   election.Ticks
}

// Options says how a run goes. The zero value of everything but Instance is a good start.
type Options struct {
	Instance election.Instance

	// Timing of the run; at least as strong as the algorithm assumes, and by default just that.
	// Asynchronous runs have a Schedule, timed ones a Delay, synchronous ones neither.
	Timing    election.Timing
	Schedule  Schedule
	Delay     uint64 // timed: messages take 1 … Delay units; 0 is the parameter "delay", or 1
	Unordered bool   // messages on one link may overtake each other
	Seed      uint64 // of schedules, delays and choices

	Initiators []int // positions that start, in this order, before anything is delivered; nil: all
	AnyTime    bool  // the schedule decides when each of them starts

	Dead       []int // positions that never run; what is sent to them is counted and lost
	Crashes    []Fault
	Recoveries []Fault
	Suspicions []Suspicion
	Resigns    []Fault // the host of a process asks it to resign

	Record   bool                         // keep what happens, step by step
	Limit    uint64                       // of deliveries and timeouts; 0: none
	Progress func(deliveries uint64) bool // called now and then; false ends the run
}

// ErrOptions says that options do not go together; the text says which, and what would do.
var ErrOptions = errors.New("cannot simulate")

func (o *Options) check(d *election.Declaration, p *election.Prepared, detects, commanded bool) error {
	wrong := func(format string, args ...any) error {
		return fmt.Errorf("%w %s: %s", ErrOptions, d.Name, fmt.Sprintf(format, args...))
	}
	o.Timing = max(o.Timing, d.Timing)
	n := p.Size()
	clock := o.Timing != election.Asynchronous
	faults := len(o.Crashes)+len(o.Recoveries)+len(o.Suspicions)+len(o.Resigns) > 0
	switch {
	case o.Timing != election.Asynchronous && o.Schedule != FIFO:
		return wrong("schedule %s is for asynchronous runs; this one is %s", o.Schedule, o.Timing)
	case o.Timing != election.Timed && o.Delay != 0:
		return wrong("a delay is for timed runs; this one is %s", o.Timing)
	case o.Timing == election.Synchronous && o.Unordered:
		return wrong("a synchronous run keeps the order of messages")
	case o.Timing == election.Asynchronous && o.Schedule == FIFO && o.Unordered:
		return wrong("schedule fifo keeps the order of messages; lifo and random can leave it")
	case faults && !clock:
		return wrong("crashes, recoveries, suspicions and resignations happen at a time, which asynchronous runs do not have; use timed or synchronous")
	case len(o.Recoveries) > 0 && d.Survives&election.Recovery == 0:
		return wrong("its source does not say what a recovered process does")
	case len(o.Suspicions) > 0 && !detects:
		return wrong("it has no failure detector")
	case len(o.Resigns) > 0 && !commanded:
		return wrong("it does not resign")
	}
	if o.Timing == election.Timed && o.Delay == 0 {
		o.Delay = 1
		if slices.Contains(p.Parameters.Names(), "delay") {
			o.Delay = p.Parameters.Ticks("delay").Lo
		}
	}
	inside := func(positions []int, what string) error {
		for i, q := range positions {
			if q < 0 || q >= n {
				return wrong("there is no position %d to %s", q, what)
			}
			if slices.Contains(positions[:i], q) {
				return wrong("position %d is to %s twice", q, what)
			}
		}
		return nil
	}
	if o.Initiators != nil && len(o.Initiators) < n { // a full list is checked by its use
		if err := inside(o.Initiators, "start"); err != nil {
			return err
		}
	}
	if err := inside(o.Dead, "be dead"); err != nil {
		return err
	}
	for _, f := range slices.Concat(o.Crashes, o.Recoveries, o.Resigns) {
		if f.Process < 0 || f.Process >= n {
			return wrong("there is no position %d to crash, recover or resign", f.Process)
		}
	}
	for _, s := range o.Suspicions {
		if s.Process < 0 || s.Process >= n || s.Of < 0 || s.Of >= n || s.Process == s.Of || s.Until.Less(s.At) {
			return wrong("no process can suspect like that: %d of %d from %s until %s", s.Process, s.Of, s.At, s.Until)
		}
	}
	if len(o.Dead) == n {
		return wrong("all processes are dead; somebody must live to lead")
	}
	starts := n
	if o.Initiators != nil {
		starts = len(o.Initiators)
	}
	for _, q := range o.Dead {
		if o.Initiators == nil {
			starts--
		} else if slices.Contains(o.Initiators, q) {
			return wrong("the process at position %d is dead and cannot start", q)
		}
	}
	if starts == 0 {
		return wrong("no process starts; at least one must")
	}
	if d.Starts == election.Together && o.AnyTime {
		return wrong("all start together; the schedule cannot decide when")
	}
	if d.Starts != election.AnyStart && starts < n-len(o.Dead) {
		return wrong("%s; nobody can be left out", d.Starts)
	}
	return nil
}
