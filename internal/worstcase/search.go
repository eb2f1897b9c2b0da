// Package worstcase searches for expensive inputs of an election on a ring: it climbs from random ones, one small
// change at a time. Its result is a lower bound on the worst case, with a witness.
package worstcase

import (
	"context"
	"errors"
	"fmt"
	"math/bits"
	"slices"
	"sync"

	"ringleader.example/ringleader/catalogue"
	"ringleader.example/ringleader/election"
	"ringleader.example/ringleader/internal/random"
	"ringleader.example/ringleader/network"
	"ringleader.example/ringleader/simulate"
)

// Measure is the maximised quantity.
type Measure uint8

// The measures.
const (
	Phase     Measure = iota // the election messages of one phase, except the first if there are others
	Elections                // election messages
	Total                    // election messages and announcement
	Elected                  // when a leader decides
)

// Measures are the names of the measures.
var Measures = []string{"phase", "election", "total", "time"}

func (m Measure) String() string { return Measures[m] }

// Options determine the search.
type Options struct {
	Entry      *catalogue.Entry
	Size       int
	Parameters map[string]string
	Measure    Measure
	Seed       uint64
	Tries      int // the largest number of inputs to run
	Cores      int // the number of cores to use; the result does not depend on it
	Progress   func(tries int) bool
}

// Input is an input and its cost.
type Input struct {
	IDs       []uint64
	Wake      []election.Ticks // nil if all start together, or the algorithm has no clock
	Unwilling []int
	Cost      election.Ticks
	Phase     int // by phase: which one
	slope     uint64
}

// below reports whether an input costs less than another one or, at the same cost, promises less.
func (i *Input) below(j *Input) bool {
	return i.Cost.Less(j.Cost) || i.Cost == j.Cost && i.slope < j.slope
}

// Result is the most expensive input, the first of those found.
type Result struct {
	Input
	Tries int  // inputs that were run
	Exact bool // these were all inputs, so none costs more
}

// ErrSearch reports that a search is impossible.
var ErrSearch = errors.New("cannot search")

// climbs is the number of climbs of a search, each from its own start, so that several cores find the same as one.
const climbs = 8

// Climb searches. If all inputs are orders of identifiers, and at most as many as the tries, it tries them all.
func Climb(ctx context.Context, o Options) (Result, error) {
	e := o.Entry
	wrong := func(format string, args ...any) (Result, error) {
		return Result{}, fmt.Errorf("%w %s: %s", ErrSearch, e.Name, fmt.Sprintf(format, args...))
	}
	switch {
	case e.Topology != election.Ring:
		return wrong("it runs on a %s; the search is for rings", e.Topology.Phrase(0))
	case e.Identifiers == election.Anonymous:
		return wrong("it has no identifiers to arrange")
	case o.Size < 1 || o.Size > 1<<16:
		return wrong("a ring of %d; the search takes 1 to %d processes", o.Size, 1<<16)
	case o.Tries < 1:
		return wrong("%d tries; at least one is needed", o.Tries)
	}
	whole := climb{Options: o}
	if all, turned := whole.orders(o.Tries); all > 0 {
		r := Result{Tries: whole.tryAll(ctx, turned, o.Progress), Input: whole.best}
		r.Exact = r.Tries == all
		return r, whole.err
	}
	var (
		all   [climbs]climb
		tries = make(chan int)
		group sync.WaitGroup
		next  = make(chan int, climbs)
	)
	for i := range all {
		all[i] = climb{Options: o, source: random.New(o.Seed, random.Inputs+uint64(i)<<8), tries: (o.Tries + climbs - 1 - i) / climbs}
		next <- i
	}
	close(next)
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	for range max(1, min(o.Cores, climbs)) {
		group.Go(func() {
			for i := range next {
				all[i].play(ctx, tries)
			}
		})
	}
	go func() { group.Wait(); close(tries) }()
	result := Result{}
	for n := range tries {
		result.Tries += n
		if o.Progress != nil && !o.Progress(result.Tries) {
			cancel()
		}
	}
	found := false
	for i := range all {
		if all[i].err != nil {
			return result, all[i].err
		}
		if all[i].best.IDs != nil && (!found || result.Cost.Less(all[i].best.Cost)) {
			result.Input, found = all[i].best, true
		}
	}
	if !found && ctx.Err() == nil {
		return wrong("none of %d inputs could be run to its end", result.Tries)
	}
	return result, nil
}

// climb makes one climb after the other, while tries are left.
type climb struct {
	Options
	source *random.Source
	tries  int
	best   Input
	err    error
}

// patience is the number of changes without gain, for each process, that end a climb.
const patience = 40

func (c *climb) play(ctx context.Context, tried chan<- int) {
	at, vain, reported := Input{}, 0, 0
	for try := 0; try < c.tries && ctx.Err() == nil; try++ {
		next := c.changed(at)
		if at.IDs == nil || vain > patience*c.Size {
			next, at.IDs, vain = c.random(), nil, 0
		}
		ok := c.run(&next)
		if c.err != nil {
			break
		}
		switch {
		case !ok:
		case at.IDs == nil || at.below(&next):
			at, vain = next, 0
		case !next.below(&at): // continue along the ridge
			at = next
			vain++
		default:
			vain++
		}
		if ok && (c.best.IDs == nil || c.best.Cost.Less(next.Cost)) {
			c.best = next
		}
		if try+1-reported == 1<<8 {
			tried <- 1 << 8
			reported = try + 1
		}
		if try+1 == c.tries {
			tried <- try + 1 - reported
		}
	}
}

// run runs an election and sets its cost. An input that cannot be run to its end is no worst case.
func (c *climb) run(i *Input) (ok bool) {
	r, err := c.Entry.Simulate(simulate.Options{
		Instance: network.Setup{IDs: election.List(i.IDs), Unwilling: i.Unwilling, Parameters: c.Parameters},
		Wake:     i.Wake, Seed: c.Seed,
	})
	switch {
	case errors.Is(err, election.ErrTime):
		return false
	case err != nil:
		c.err = err
		return false
	}
	i.slope = r.Messages.Election
	switch {
	case c.Measure == Elections:
		i.Cost = election.Units(r.Messages.Election)
	case c.Measure == Total:
		i.Cost = election.Units(r.Messages.Total)
	case c.Measure == Elected && r.Time != nil:
		i.Cost = r.Time.Elected
	case c.Measure == Elected:
		c.err = fmt.Errorf("%w %s: its runs have no clock", ErrSearch, c.Entry.Name)
	case !c.Entry.Phased():
		c.err = fmt.Errorf("%w %s: its messages have no phases; the most election messages, or in total, can be searched for", ErrSearch, c.Entry.Name)
	default:
		largest := uint64(0)
		for p, messages := range r.ByPhase {
			if messages > largest && (p > 0 || len(r.ByPhase) == 1) {
				largest, i.Phase = messages, p
			}
		}
		i.Cost = election.Units(largest)
	}
	return c.err == nil
}

// values returns the number of possible identifiers: twice the number of processes if identifier values are used.
func (c *climb) values() uint64 {
	if c.Entry.Identifiers == election.Computed {
		return 2 * uint64(c.Size)
	}
	return uint64(c.Size)
}

// wakes reports whether processes may wake at arbitrary times.
func (c *climb) wakes() bool {
	return c.Entry.Timing == election.Synchronous && c.Entry.Starts == election.AnyStart
}

// time returns when a process wakes by itself, or that it never does.
func (c *climb) time() election.Ticks {
	if c.source.Below(3) == 0 {
		return election.Forever
	}
	return election.Units(c.source.Below(uint64(c.Size) + 1))
}

// random returns a random input.
func (c *climb) random() Input {
	var i Input
	pool := make([]uint64, c.values())
	for v := range pool {
		pool[v] = uint64(v) + 1
	}
	for p := range c.Size {
		q := p + int(c.source.Below(uint64(len(pool)-p)))
		pool[p], pool[q] = pool[q], pool[p]
	}
	i.IDs = slices.Clone(pool[:c.Size])
	if c.wakes() {
		i.Wake = make([]election.Ticks, c.Size)
		for p := range i.Wake {
			i.Wake[p] = c.time()
		}
		i.Wake[c.source.Below(uint64(c.Size))] = election.Ticks{} // at least one process wakes
	}
	if c.Entry.Willingness {
		for p := range c.Size {
			if c.source.Below(4) == 0 {
				i.Unwilling = append(i.Unwilling, p)
			}
		}
		if len(i.Unwilling) == c.Size {
			i.Unwilling = nil
		}
	}
	return i
}

// changed returns an input near the given one.
func (c *climb) changed(i Input) Input {
	if i.IDs == nil {
		return i
	}
	n := uint64(c.Size)
	i = Input{IDs: slices.Clone(i.IDs), Wake: slices.Clone(i.Wake), Unwilling: slices.Clone(i.Unwilling)}
	for range 1 + bits.TrailingZeros64(c.source.Uint64()|8) {
		p, q := int(c.source.Below(n)), int(c.source.Below(n))
		switch what := c.source.Below(6); {
		case what == 0 && i.Wake != nil:
			at := c.time()
			if i.Wake[p] = at; !slices.ContainsFunc(i.Wake, func(t election.Ticks) bool { return t != election.Forever }) {
				i.Wake[p] = election.Ticks{}
			}
		case what == 1 && c.Entry.Willingness:
			if at := slices.Index(i.Unwilling, p); at >= 0 {
				i.Unwilling = slices.Delete(i.Unwilling, at, at+1)
			} else if len(i.Unwilling) < c.Size-1 {
				i.Unwilling = append(i.Unwilling, p)
			}
		case what == 2 && c.Entry.Identifiers == election.Computed:
			if v := c.source.Below(c.values()) + 1; !slices.Contains(i.IDs, v) {
				i.IDs[p] = v
			}
		default:
			i.IDs[p], i.IDs[q] = i.IDs[q], i.IDs[p]
		}
	}
	slices.Sort(i.Unwilling)
	return i
}
