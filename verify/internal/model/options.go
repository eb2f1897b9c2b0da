package model

import (
	"errors"

	"ringleader.example/ringleader/election"
	"ringleader.example/ringleader/faults"
	"ringleader.example/ringleader/trace"
)

// ErrOptions reports options that do not go together; the text names them and a remedy.
var ErrOptions = errors.New("cannot verify")

// Options holds which events a model has.
type Options struct {
	Starts     StartPolicy // ignored with Initiators
	Initiators []int       // positions that start before anything else happens; nil: see Starts

	// Faults: how many at most.
	Crashes, Recoveries, Losses, Duplicates, Cuts, Suspicions, Commands int

	Wardens    bool // a crash ends the work of the process as well, and that is proven to the others at any time
	Unordered  bool // messages on one link may overtake each other
	SafetyOnly bool // ends of runs are not judged
	Delay      int  // timed: messages take 1 … Delay units

	Lazy       bool          // no event is urgent
	ClockError faults.Chance // in lazy time, below 1
	Pace       uint64        // in lazy time, how many units of the clocks pass at once; 0 is one
	Moment     *trace.Moment // where runs begin; nil: at the beginning

	Prefix *Prefix // a run that has begun, in which the search begins; nil: runs begin anew
	Times  bool    // the extremes of time are searched: asynchronous messages take one unit as well, and processes take turns
	Hasty  bool    // for tests: suspicion may come before the last message
}

// StartPolicy selects the processes that start by themselves, and when.
type StartPolicy uint8

// The start policies.
const (
	AllFirst StartPolicy = iota // all, in the order of positions, before anything else happens
	AnyTime                     // the schedule decides when, and of AnyStart algorithms also which: at least one
	EverySet                    // each non-empty set of processes in turn, before anything else happens
	Each                        // every process, when the schedule decides, but before its first message
)

// Prefix is a run that has begun, in which a search begins.
type Prefix struct {
	Record    *trace.Record  // so far
	Now       election.Ticks // with a clock, the time: that of the last step, or later
	Remaining Global         // the faults that may still come
}
