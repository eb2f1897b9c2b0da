package run

import (
	"context"
	"errors"
	"fmt"
	"runtime"

	"ringleader.example/ringleader/election"
	"ringleader.example/ringleader/faults"
	"ringleader.example/ringleader/internal/show/report"
	"ringleader.example/ringleader/verify"
)

// Goals are what a walk can search for, by their words.
var Goals = map[string]verify.Goal{"two-leaders": verify.Unsafe, "worst": verify.Costliest}

// Begun returns the options with which the checker begins as the walk did, without further faults.
func (w *Walker) Begun() (verify.Options, error) {
	s := w.options
	if s.Moment != nil {
		return verify.Options{}, errors.New("this run began amid another one: save it, and ringleader verify --from FILE searches what can follow")
	}
	o := verify.Options{
		Setup: s.Setup, Initiators: s.Initiators, Wardens: s.Wardens, Unordered: s.Faults.Unordered, Lazy: w.o.lazy, Pace: w.o.pace,
		SafetyOnly: w.e.Leased, Reduce: verify.AnyReduction, Cores: runtime.GOMAXPROCS(0),
	}
	var err error
	if o.ClockError, err = faults.ParseChance(w.o.clockError); err != nil {
		return o, err
	}
	willing := w.Result().Prepared.Initiators(s.Faults.Dead)
	switch most := uint64(1 << 20); {
	case s.Timing != w.e.Timing:
		return o, fmt.Errorf("the checker knows %s with the timing that it assumes, %s; this walk is %s", w.e.Name, w.e.Timing, s.Timing)
	case s.AnyTime && willing != nil:
		return o, errors.New("the checker does not search from a walk in which some processes are unwilling and the others start at any time")
	case s.Delay > most:
		return o, fmt.Errorf("the checker takes delays of at most %d units", most)
	case s.AnyTime:
		o.Starts = verify.AnyTime
	case s.Initiators == nil:
		o.Initiators = willing
	}
	if w.e.Timing == election.Timed && !o.Lazy {
		o.Delay = int(s.Delay)
	}
	return o, nil
}

// Search searches what can follow the walk, and makes the events that it finds.
func (w *Walker) Search(ctx context.Context, o verify.Options, goal verify.Goal) (*verify.Continuation, error) {
	bar := w.p.WatchStates(ctx, &o)
	a, err := verify.LookAhead(w.e.Program, o, verify.Begun{Record: w.Record(), Now: w.Now()}, goal)
	bar.Done()
	if err != nil || !a.Found {
		return a, err
	}
	if err := w.Follow(&a.Record); err != nil {
		return nil, report.Failed("cannot walk on to what was found: %w", err)
	}
	return a, nil
}

// Told returns in words what a search has found.
func Told(a *verify.Continuation, goal verify.Goal) string {
	switch {
	case goal == verify.Unsafe && a.Found:
		return a.Property + ": " + a.Detail
	case goal == verify.Unsafe && a.Complete:
		return "There is no way to two leaders from here."
	case a.Property != "":
		return fmt.Sprintf("The worst run from here is not known, since a property can be violated: %s, %s.", a.Property, a.Detail)
	case a.Unbounded:
		return "Some run sends messages for ever."
	case a.Found:
		return fmt.Sprintf("%d more messages at most.", a.Messages)
	case a.Limit == verify.MemoryLimit:
		return "Nothing is known: the memory for the search is used up."
	}
	return "Nothing is known: the time for the search is over."
}
