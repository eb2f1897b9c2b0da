package faults

import (
	"fmt"
	"strings"

	"ringleader.example/ringleader/election"
	"ringleader.example/ringleader/internal/core/random"
	"ringleader.example/ringleader/network"
)

// Budget holds how many faults of each sort [Script.Draw] draws from a seed. All end by Until, except crashes without
// a recovery. A crash is drawn for a process that does not crash otherwise, during a step with probability 1/2; a
// recovery for a process that stays down otherwise. A partition has two sides; a cut is one-way over one link; a slow
// process is slow by a factor of 2 to 16.
type Budget struct {
	Crashes, Recoveries, Partitions, Cuts, Slow, Pauses, Suspicions int

	Until election.Ticks // at most 2⁶³
}

// drawn lists the sorts of faults of a budget: the name of one, and of several.
var drawn = []struct {
	one, more string
	of        func(*Budget) *int
}{
	{"crash", "crashes", func(b *Budget) *int { return &b.Crashes }},
	{"recovery", "recoveries", func(b *Budget) *int { return &b.Recoveries }},
	{"partition", "partitions", func(b *Budget) *int { return &b.Partitions }},
	{"cut", "cuts", func(b *Budget) *int { return &b.Cuts }},
	{"slow", "slow", func(b *Budget) *int { return &b.Slow }},
	{"pause", "pauses", func(b *Budget) *int { return &b.Pauses }},
	{"suspicion", "suspicions", func(b *Budget) *int { return &b.Suspicions }},
}

// of returns the number of a sort by its name; nil if no sort has that name.
func (b *Budget) of(name string) *int {
	for _, kind := range drawn {
		if name == kind.one || name == kind.more {
			return kind.of(b)
		}
	}
	return nil
}

func drawnNames() (names []string) {
	for _, kind := range drawn {
		names = append(names, kind.more)
	}
	return names
}

func (b *Budget) any() bool {
	for _, kind := range drawn {
		if *kind.of(b) != 0 {
			return true
		}
	}
	return false
}

// String returns the budget as a line.
func (b *Budget) String() string {
	var parts []string
	for _, kind := range drawn {
		switch n := *kind.of(b); n {
		case 0:
		case 1:
			parts = append(parts, "1 "+kind.one)
		default:
			parts = append(parts, fmt.Sprintf("%d %s", n, kind.more))
		}
	}
	return fmt.Sprintf("random %s until %s", strings.Join(parts, ", "), b.Until)
}

// mostDrawn is the largest number of faults of one sort.
const mostDrawn = 1000

// Draw draws the faults of s.Random from a seed, adds them, and makes s.Random zero. Each drawn fault can happen
// after the faults in the script, as [Script.Check] judges. The error is an [Error] if the budget is not possible, or
// if a fault is not found in a thousand tries.
func (s *Script) Draw(p *network.Instance, detects bool, seed uint64) error {
	b := s.Random
	s.Random = Budget{}
	if !b.any() {
		return nil
	}
	draw := drawing{Script: s, b: b, p: p, detects: detects, source: random.New(seed, random.Faults)}
	for _, kind := range drawn {
		if n := *kind.of(&b); n < 0 || n > mostDrawn {
			return wrongFault(b.String(), "0 to %d %s can be drawn", mostDrawn, kind.more)
		}
	}
	if b.Until.IsZero() || b.Until.Hi > 0 || b.Until.Lo > 1<<63 {
		return wrongFault(b.String(), "until is from 1 to 2^63")
	}
	return draw.all()
}

type drawing struct {
	*Script
	b       Budget
	p       *network.Instance
	detects bool
	source  *random.Source
}

func (w *drawing) below(n int) int { return int(w.source.Below(uint64(n))) }

// span draws a beginning and a later end.
func (w *drawing) span() (at, until election.Ticks) {
	begin := w.source.Below(w.b.Until.Lo)
	return election.Units(begin), election.Units(begin + 1 + w.source.Below(w.b.Until.Lo-begin))
}

func (w *drawing) all() error {
	n, until := w.p.Size(), w.b.Until.Lo
	for range w.b.Crashes {
		if err := w.try("crashes", "fewer can crash, so that one lives", func() func() {
			c := Crash{Process: w.below(n), At: election.Units(w.source.Below(until))}
			if w.below(2) == 1 {
				c.Amid, c.Sends = true, w.below(max(1, min(n-1, w.p.Network.Degree(c.Process))))
			}
			for _, other := range w.Crashes {
				if other.Process == c.Process {
					return nil
				}
			}
			before := w.Crashes
			w.Crashes = grown(w.Crashes, c)
			return func() { w.Crashes = before }
		}); err != nil {
			return err
		}
	}
	for range w.b.Recoveries {
		err := w.try("recoveries", "as many can be drawn as processes stay down", func() func() {
			at := election.Units(1 + w.source.Below(until))
			return w.recover(Recovery{w.below(n), at})
		})
		if err != nil && !w.recoverOne() {
			return err
		}
	}
	for range w.b.Partitions {
		if err := w.cut("partitions", w.sides); err != nil {
			return err
		}
	}
	for range w.b.Cuts {
		if err := w.cut("cuts", w.pair); err != nil {
			return err
		}
	}
	for i := range w.b.Slow + w.b.Pauses {
		if err := w.try("slow processes and pauses", "fewer fit in, or a longer time", func() func() {
			s := Slow{Process: w.below(n)}
			s.At, s.Until = w.span()
			if i < w.b.Slow {
				s.Factor = 2 + w.source.Below(15)
			}
			before := w.Slow
			w.Slow = grown(w.Slow, s)
			return func() { w.Slow = before }
		}); err != nil {
			return err
		}
	}
	for range w.b.Suspicions {
		if err := w.try("suspicions", "fewer fit in, with a failure detector and among neighbours", func() func() {
			s := Suspicion{Process: w.below(n), Of: w.below(n)}
			s.At, s.Until = w.span()
			before := w.Suspicions
			w.Suspicions = grown(w.Suspicions, s)
			return func() { w.Suspicions = before }
		}); err != nil {
			return err
		}
	}
	return nil
}

// recover adds a recovery, and returns how to undo that.
func (w *drawing) recover(r Recovery) (undo func()) {
	before := w.Recoveries
	w.Recoveries = grown(w.Recoveries, r)
	return func() { w.Recoveries = before }
}

// recoverOne draws when a process that stays down recovers, as after a crash shortly before the end few moments are left. It reports false if there is none.
func (w *drawing) recoverOne() bool {
	for _, c := range w.Crashes {
		undo := w.recover(Recovery{c.Process, election.Units(c.At.Lo + 1 + w.source.Below(w.b.Until.Lo-c.At.Lo))})
		if w.Check(w.p, w.detects) == nil {
			return true
		}
		undo()
	}
	return false
}

// try draws a fault until it can happen together with the faults in the script. draw returns how to undo the fault,
// or nil for no fault.
func (w *drawing) try(what, instead string, draw func() (undo func())) error {
	const tries = 1000
	for range tries {
		undo := draw()
		if undo == nil {
			continue
		}
		if w.Check(w.p, w.detects) == nil {
			return nil
		}
		undo()
	}
	return wrongFault(w.b.String(), "that many %s are not possible among %d processes; %s", what, w.p.Size(), instead)
}

func (w *drawing) cut(what string, groups func() (groups [][]int, oneWay bool)) error {
	return w.try(what, "there must be two, and a link", func() func() {
		var c Cut
		c.Groups, c.OneWay = groups()
		c.At, c.Until = w.span()
		before := w.Cuts
		w.Cuts = grown(w.Cuts, c)
		return func() { w.Cuts = before }
	})
}

// sides assigns each process to one of two sides.
func (w *drawing) sides() ([][]int, bool) {
	groups := make([][]int, 2)
	for q := range w.p.Size() {
		side := w.below(2)
		groups[side] = append(groups[side], q)
	}
	return groups, false
}

// pair draws two neighbours.
func (w *drawing) pair() ([][]int, bool) {
	from := w.below(w.p.Size())
	to := from
	if degree := w.p.Network.Degree(from); degree > 0 {
		to, _ = w.p.Network.End(w.p.Network.First(from) + uint32(w.below(degree)))
	}
	return [][]int{{from}, {to}}, true
}
