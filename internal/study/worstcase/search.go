// Package worstcase searches for expensive inputs of an election on a ring: it climbs from random ones, one small
// change at a time, or tries all orders if they are few. The result is a lower bound on the worst case, with a witness.
package worstcase

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"math/bits"
	"slices"
	"sync"
	"sync/atomic"

	"ringleader.example/ringleader/catalogue"
	"ringleader.example/ringleader/election"
	"ringleader.example/ringleader/internal/core/random"
	"ringleader.example/ringleader/internal/study/work"
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
}

// Input is an input and its cost.
type Input struct {
	IDs       []uint64         `json:"ids"`
	Wake      []election.Ticks `json:"wake,omitempty"` // nil if all start together, or the algorithm has no clock
	Unwilling []int            `json:"unwilling,omitempty"`
	Cost      election.Ticks   `json:"cost"`
	Phase     int              `json:"phase,omitempty"` // by phase: which one
	slope     uint64
}

// below reports whether an input costs less than another one or, at the same cost, promises less.
func (i *Input) below(j *Input) bool {
	return i.Cost.Less(j.Cost) || i.Cost == j.Cost && i.slope < j.slope
}

// Result is the most expensive input, the first of those found.
type Result struct {
	Input
	Tries int // inputs that were run
	// Orders is whether these were all inputs, the orders. Exact is whether none can cost more: where steps make random
	// choices, an order was run with one draw of them, and another draw may cost more.
	Orders, Exact bool
}

// ErrSearch reports that a search is impossible.
var ErrSearch = errors.New("cannot search")

// climbs is the number of climbs of a search, each from its own start.
const climbs = 8

// Search is a search as work. Its units are orders, if all inputs are orders of identifiers and at most as many as the
// tries; otherwise they are climbs.
type Search struct {
	climb
	orders uint64 // all of them; 0: it climbs
	turned bool   // a rotation of the ring changes nothing
	tried  atomic.Int64
	mutex  sync.Mutex
	far    Best // what climbs that were stopped have found
}

// Best is a result of some units: the most expensive input, the first of those found.
type Best struct {
	Input  *Input `json:"input"` // nil if none could be run to its end
	Tries  int    `json:"tries"`
	Random bool   `json:"random,omitempty"` // a step has made a random choice
}

// join adds the result of later units.
func (b *Best) join(later *Best) {
	b.Tries += later.Tries
	b.Random = b.Random || later.Random
	if b.Input == nil || later.Input != nil && b.Input.Cost.Less(later.Input.Cost) {
		b.Input = later.Input
	}
}

// New returns a search, or why it is impossible.
func New(o Options) (*Search, error) {
	s := &Search{climb: climb{Options: o}}
	switch e := o.Entry; {
	case e.Topology != election.Ring:
		return nil, s.wrong("it runs on a %s; the search is for rings", e.Topology.Phrase(0))
	case e.Identifiers == election.Anonymous:
		return nil, s.wrong("it has no identifiers to arrange")
	case o.Size < 1 || o.Size > 1<<16:
		return nil, s.wrong("a ring of %d; the search takes 1 to %d processes", o.Size, 1<<16)
	case o.Tries < 1:
		return nil, s.wrong("%d tries; at least one is needed", o.Tries)
	}
	s.orders, s.turned = s.countOrders(o.Tries)
	return s, nil
}

func (s *Search) wrong(format string, args ...any) error {
	return fmt.Errorf("%w %s: %s", ErrSearch, s.Entry.Name, fmt.Sprintf(format, args...))
}

// Climb searches on one core.
func Climb(ctx context.Context, o Options) (Result, error) {
	s, err := New(o)
	if err != nil {
		return Result{}, err
	}
	text, err := s.Compute(ctx, work.Piece{From: 0, To: s.Units()})
	if err != nil {
		return Result{}, err
	}
	return s.Result(text)
}

// Units implements [work.Task].
func (s *Search) Units() uint64 { return cmp.Or(s.orders, climbs) }

// Most implements [work.Coarse].
func (s *Search) Most() uint64 {
	if s.orders > 0 {
		return s.orders
	}
	return 1
}

// What returns what the units are.
func (s *Search) What() string {
	if s.orders > 0 {
		return "orders"
	}
	return "climbs"
}

// Tried returns the number of inputs that were run, as far as this process knows: in these results, or by itself.
func (s *Search) Tried(results [][]byte) int {
	var all Best
	for _, text := range results {
		var one Best
		if json.Unmarshal(text, &one) == nil {
			all.join(&one)
		}
	}
	return max(all.Tries, int(s.tried.Load()))
}

// Compute implements [work.Task].
func (s *Search) Compute(ctx context.Context, p work.Piece) ([]byte, error) {
	var best Best
	var err error
	if s.orders > 0 {
		best, err = s.tryOrders(ctx, p)
	}
	for i := p.From; s.orders == 0 && i < p.To && err == nil; i++ {
		c := climb{Options: s.Options, source: random.New(s.Seed, random.Inputs+i<<8), tries: (s.Tries + climbs - 1 - int(i)) / climbs}
		var one Best
		one, err = c.play(ctx, &s.tried)
		best.join(&one)
	}
	if err != nil {
		return nil, err
	}
	if ctx.Err() != nil {
		s.mutex.Lock()
		s.far.join(&best)
		s.mutex.Unlock()
		return nil, ctx.Err()
	}
	return json.Marshal(best)
}

// Join implements [work.Task].
func (*Search) Join(first, second []byte) ([]byte, error) {
	var a, b Best
	if err := errors.Join(json.Unmarshal(first, &a), json.Unmarshal(second, &b)); err != nil {
		return nil, err
	}
	a.join(&b)
	return json.Marshal(a)
}

// Result returns the result of these results, in the order of the units. If the search was stopped, what stopped pieces
// have found counts, too.
func (s *Search) Result(results ...[]byte) (Result, error) {
	var all Best
	for _, text := range results {
		var one Best
		if err := json.Unmarshal(text, &one); err != nil {
			return Result{}, err
		}
		all.join(&one)
	}
	s.mutex.Lock()
	defer s.mutex.Unlock()
	all.join(&s.far)
	r := Result{Tries: all.Tries, Orders: s.orders > 0 && uint64(all.Tries) == s.orders}
	r.Exact = r.Orders && !all.Random
	if all.Input != nil {
		r.Input = *all.Input
	} else if s.far.Tries == 0 {
		return r, s.wrong("none of %d inputs could be run to its end", r.Tries)
	}
	return r, nil
}

// climb makes one climb after the other, while tries are left.
type climb struct {
	Options
	source *random.Source
	tries  int
	draws  bool // a step has made a random choice
	err    error
}

// patience is the number of changes without gain, for each process, that end a climb.
const patience = 40

func (c *climb) play(ctx context.Context, tried *atomic.Int64) (best Best, err error) {
	at, vain := Input{}, 0
	for best.Tries < c.tries && ctx.Err() == nil {
		next := c.changed(at)
		if at.IDs == nil || vain > patience*c.Size {
			next, at.IDs, vain = c.random(), nil, 0
		}
		ok := c.run(&next)
		if c.err != nil {
			return best, c.err
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
		best.Tries++
		tried.Add(1)
		if ok && (best.Input == nil || best.Input.Cost.Less(next.Cost)) {
			best.Input = &next
		}
	}
	return best, nil
}

// run runs an election and sets its cost. An input that cannot be run to its end is no worst case.
func (c *climb) run(i *Input) (ok bool) {
	r, err := c.Entry.Simulate(simulate.Options{
		Setup: network.Setup{IDs: election.List(i.IDs), Unwilling: i.Unwilling, Parameters: c.Parameters},
		Wake:  i.Wake, Seed: c.Seed,
	})
	switch {
	case errors.Is(err, election.ErrTime):
		return false
	case err != nil:
		c.err = err
		return false
	}
	c.draws = c.draws || r.Random
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
