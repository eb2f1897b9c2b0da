package verify

import (
	"errors"

	"ringleader.example/ringleader/election"
	"ringleader.example/ringleader/faults"
	"ringleader.example/ringleader/trace"
)

// ErrOptions reports options that do not go together; the text names them and a remedy.
var ErrOptions = errors.New("cannot verify")

// modelOptions holds which events a model has.
type modelOptions struct {
	Starts     startPolicy // ignored with Initiators
	Initiators []int       // positions that start before anything else happens; nil: see Starts

	// Faults: how many at most.
	Crashes, Recoveries, Losses, Duplicates, Cuts, Suspicions, Commands int

	Wardens    bool // a crash ends the work of the process as well, and that is proven to the others at any time
	Unordered  bool // messages on one link may overtake each other
	SafetyOnly bool // ends of runs are not judged
	Delay      int  // timed: messages take 1 … Delay units

	Lazy       bool          // no event is urgent
	ClockError faults.Chance // in lazy time, below 1

	Prefix *beginning // a run that has begun, in which the search begins; nil: runs begin anew
	Times  bool       // the extremes of time are searched: asynchronous messages take one unit as well, and processes take turns
	Hasty  bool       // for tests: suspicion may come before the last message
}

// startPolicy selects the processes that start by themselves, and when.
type startPolicy uint8

// The start policies.
const (
	allFirst startPolicy = iota // all, in the order of positions, before anything else happens
	anyTime                     // the schedule decides when, and of AnyStart algorithms also which: at least one
	everySet                    // each non-empty set of processes in turn, before anything else happens
	each                        // every process, when the schedule decides, but before its first message
)

// beginning is a run that has begun, in which a search begins.
type beginning struct {
	Record    *trace.Record  // so far
	Now       election.Ticks // with a clock, the time: that of the last step, or later
	Remaining global         // the faults that may still come
}
