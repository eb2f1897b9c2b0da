package verify

import (
	"cmp"
	"fmt"

	"ringleader.example/ringleader/election"
	"ringleader.example/ringleader/network"
	"ringleader.example/ringleader/verify/internal/model"
	"ringleader.example/ringleader/verify/internal/search"
)

// check completes the options, or returns what is wrong with them.
func (o *Options) check(d *election.Declaration, has election.Functions) error {
	wrong := func(text string) error { return fmt.Errorf("%w %s: %s", ErrOptions, d.Name, text) }
	if o.Setup.IDs != nil {
		o.Size = 0
	} else if o.Size < 1 {
		return wrong(fmt.Sprintf("a size of %d; at least 1 is needed", o.Size))
	} else {
		o.Setup.IDs = o.rising()
	}
	p, err := network.Prepare(d, o.Setup)
	if err != nil {
		return err
	}
	o.MaxDepth = cmp.Or(o.MaxDepth, DefaultDepth)
	o.Memory, o.wide = cmp.Or(o.Memory, DefaultMemory), cmp.Or(o.wide, search.ExactStates)
	d = p.Declaration()
	text := cmp.Or(o.wrongMemory(), o.wrongCores(), o.wrongStarts(d, p.Size()), o.wrongOrientations(d, p.Size()), o.wrongFaults(p.Size(), has), o.wrongTiming(d), o.wrongTime(d))
	if text != "" {
		return wrong(text)
	}
	o.SafetyOnly = o.SafetyOnly || o.Lazy
	o.Delay, err = delay(d, o.Delay, p.Parameters)
	if err != nil {
		return wrong(err.Error())
	}
	return nil
}

func (o *Options) wrongMemory() string {
	if o.Memory < leastMemory {
		return fmt.Sprintf("a limit of %d bytes of memory; at least %d are needed", o.Memory, leastMemory)
	}
	return ""
}

// maxCores is the maximum number of cores.
const maxCores = 1 << 12

func (o *Options) wrongCores() string {
	if o.Cores > maxCores {
		return fmt.Sprintf("%d cores are too many; at most %d", o.Cores, maxCores)
	}
	return ""
}

// maxSets is the maximum number of processes for EverySet.
const maxSets = 16

func (o *Options) wrongStarts(d *election.Declaration, n int) string {
	for _, i := range o.Initiators {
		if i < 0 || i >= n {
			return fmt.Sprintf("there is no position %d that could start; there are 0 to %d", i, n-1)
		}
	}
	switch {
	case o.Initiators != nil && len(o.Initiators) == 0:
		return "no process starts; at least one must"
	case d.Starts == election.Together && (o.Starts != AllFirst || o.Initiators != nil):
		return fmt.Sprintf("%s; none can be left out or late", d.Starts.Phrase())
	case o.Starts > Each:
		return fmt.Sprintf("there is no start policy %d", o.Starts)
	case o.Starts == EverySet && o.Initiators == nil && n > maxSets:
		return fmt.Sprintf("every set of %d processes is too many; at most %d processes", n, maxSets)
	}
	return ""
}

func (o *Options) wrongOrientations(d *election.Declaration, n int) string {
	switch {
	case o.Orientations && !d.Unoriented:
		return "it needs an oriented ring, so there is one orientation"
	case o.Orientations && n > maxSets:
		return fmt.Sprintf("every orientation of %d processes is too many; at most %d processes", n, maxSets)
	}
	return ""
}

func (o *Options) wrongTiming(d *election.Declaration) string {
	switch {
	case o.Delay > 1 && d.Timing != election.Timed:
		return fmt.Sprintf("a delay is for timed algorithms; this one is %s", d.Timing)
	case o.Unordered && d.Timing == election.Synchronous:
		return "a synchronous run keeps the order of messages"
	}
	return ""
}

// delay returns the longest delay of a message.
func delay(d *election.Declaration, given int, parameters election.Parameters) (int, error) {
	if given > 0 {
		return given, nil
	}
	const most = 1 << 20
	declared := d.LongestDelay(parameters)
	if !declared.Less(election.Units(most)) {
		return 0, fmt.Errorf("parameter %s is %s; a whole number from 1 to %d is needed", d.Delay, declared, most-1)
	}
	return int(declared.Lo), nil
}

// mostFaults is the maximum number of faults of each kind.
const mostFaults = 1000

// wrongFaults returns what is wrong with the faults that are asked for; empty if nothing is.
func (o *Options) wrongFaults(n int, has election.Functions) string {
	least, most := 0, 0
	for _, number := range []int{o.Crashes, o.Recoveries, o.Losses, o.Duplicates, o.Cuts, o.Suspicions, o.Commands} {
		least, most = min(least, number), max(most, number)
	}
	switch {
	case least < 0 || o.Delay < 0 || o.MaxStates < 0 || o.MaxDepth < 0:
		return "numbers of faults and commands, the delay and the limits of states and depth cannot be negative"
	case most > mostFaults:
		return fmt.Sprintf("%d faults of one kind are too many; at most %d", most, mostFaults)
	case o.Suspicions+o.Cuts > 0 && n == 1:
		return "a process alone has no other to suspect or to be cut off from"
	case o.Crashes+o.Suspicions > 0 && n > model.MaxSuspects:
		return fmt.Sprintf("crashes and suspicions among %d processes; at most %d processes", n, model.MaxSuspects)
	case o.Cuts > 0 && n > model.MaxCut:
		return fmt.Sprintf("cuts among %d processes; at most %d processes", n, model.MaxCut)
	}
	return o.unheeded(has)
}

// unheeded returns which fault means nothing to an algorithm with these functions; empty if none does.
func (o *Options) unheeded(has election.Functions) string {
	switch {
	case o.Recoveries > 0 && !has.Recover:
		return "it does not say what a process does that recovers, so there can be 0 recoveries"
	case o.Recoveries > 0 && o.Crashes == 0:
		return "recoveries need crashes"
	case o.Commands > 0 && !has.Command:
		return "it obeys no commands, so there can be 0"
	case o.Suspicions > 0 && !has.Suspect:
		return "it has no failure detector, so there can be 0 wrong suspicions"
	case o.Wardens && !has.Incarnation:
		return "it takes no proofs of death, so wardens mean nothing"
	}
	return ""
}

// wrongTime returns what is wrong with lazy time where it is asked for; empty if nothing is.
func (o *Options) wrongTime(d *election.Declaration) string {
	e := o.ClockError
	switch {
	case !o.Lazy && (o.Moment != nil || o.Pace > 0):
		return "a search from a moment on, and a pace, are of lazy time"
	case o.Moment != nil && o.Size > 0:
		return "a moment is of one order of identifiers"
	case !o.Lazy && e.Times > 0:
		return "an error of clocks is for lazy time; in timed runs clocks run alike"
	case !o.Lazy:
		return ""
	case !d.Leased || d.Timing != election.Timed:
		return "lazy time is for algorithms with leases, which are safe under any delays; of others it shows nothing"
	case o.Delay > 0:
		return "in lazy time a message takes any time; leave the delay out"
	case e.Times > 0 && e.Times >= e.Of, e.Of > maxRate:
		return fmt.Sprintf("the error of a clock is below 1, with a denominator of at most %d, not %s", maxRate, e)
	}
	return ""
}

// maxRate is the maximum denominator of the error of clocks.
const maxRate = 1 << 20

// DefaultDepth is the default limit of transitions from the beginning to a state. Elections of a few processes end long before; a
// counter without a limit does not.
const DefaultDepth = 20_000
