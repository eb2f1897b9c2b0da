package faults

import (
	"cmp"
	"fmt"
	"slices"

	"ringleader.example/ringleader/election"
	"ringleader.example/ringleader/network"
)

// Check returns an [Error] for the first fault that cannot happen, on this network and after the faults before it.
// detects reports whether the algorithm has a failure detector. Chances and Random are not checked.
func (s *Script) Check(p *network.Instance, detects bool) error {
	if len(s.Dead) == 0 && !s.Timed() {
		return nil
	}
	c := checker{Script: s, p: p, write: newWriter(p)}
	for _, check := range []func() error{c.dead, c.crashes, c.cuts, c.slow, c.drifts} {
		if err := check(); err != nil {
			return err
		}
	}
	return c.suspicions(detects)
}

// Error is a fault that cannot happen, with the reason.
type Error struct {
	Line string // the fault, as [Script.Lines] writes it
	Why  string // why it cannot happen, and a remedy
}

func (e *Error) Error() string {
	const most = 200 // a line may name thousands of processes
	if len(e.Line) > most {
		return e.Line[:most] + "…: " + e.Why
	}
	return e.Line + ": " + e.Why
}

type checker struct {
	*Script
	p     *network.Instance
	write *writer
}

func wrongFault(line, format string, args ...any) error {
	return &Error{line, fmt.Sprintf(format, args...)}
}

// has returns an error if there is no process at position q.
func (c *checker) has(q int, line string) error {
	if q < 0 || q >= c.p.Size() {
		return wrongFault(line, "there is no position %d; they are 0 to %d", q, c.p.Size()-1)
	}
	return nil
}

// span returns an error if a fault ends before it begins.
func span(at, until election.Ticks, line string) error {
	if !until.IsZero() && !at.Less(until) {
		return wrongFault(line, "it ends before it begins; until must be later than from")
	}
	return nil
}

func (c *checker) dead() error {
	line, seen := "dead "+c.write.list(c.Dead), map[int]bool{}
	for _, q := range c.Dead {
		if err := c.has(q, line); err != nil {
			return err
		}
		if seen[q] {
			return wrongFault(line, "process %s is dead twice; name it once", c.write.name(q))
		}
		seen[q] = true
	}
	if len(seen) == c.p.Size() {
		return wrongFault(line, "all processes are dead; at least one must be live to lead")
	}
	return nil
}

// turn is a crash or a recovery.
type turn struct {
	process int
	at      election.Ticks
	back    bool
	line    string
}

// turns returns the crashes and recoveries by process and time; at one time, crashes first.
func (c *checker) turns() []turn {
	turns := make([]turn, 0, len(c.Crashes)+len(c.Recoveries))
	for _, f := range c.Crashes {
		turns = append(turns, turn{f.Process, f.At, false, c.write.crash(f)})
	}
	for _, f := range c.Recoveries {
		turns = append(turns, turn{f.Process, f.At, true, c.write.recovery(f)})
	}
	slices.SortStableFunc(turns, func(a, b turn) int { return cmp.Or(a.process-b.process, a.at.Compare(b.at)) })
	return turns
}

func (c *checker) crashes() error {
	for _, f := range c.Crashes {
		if f.Sends < 0 {
			return wrongFault(c.write.crash(f), "the number of sends cannot be negative; the least is after 0 sends")
		}
	}
	n := c.p.Size()
	down := make(map[int]bool, len(c.Dead)) // after the turns so far
	for _, q := range c.Dead {
		down[q] = true
	}
	for _, t := range c.turns() {
		name := c.write.name(t.process)
		switch err := c.has(t.process, t.line); {
		case err != nil:
			return err
		case t.back && !down[t.process]:
			return wrongFault(t.line, "process %s has not crashed before; crash %s at an earlier time, or leave this out", name, name)
		case !t.back && down[t.process]:
			return wrongFault(t.line, "process %s is down then; it can crash again once it has recovered", name)
		}
		down[t.process] = !t.back
	}
	alive := 0
	for q := range n {
		if !down[q] {
			alive++
		}
	}
	if alive == 0 && len(c.Crashes) > 0 {
		return wrongFault(c.write.crash(c.Crashes[len(c.Crashes)-1]), "then all are dead for ever; at least one must live, or recover, to lead")
	}
	return nil
}

func (c *checker) cuts() error {
	side := make([]int, c.p.Size())
	for i := range c.Cuts {
		cut := &c.Cuts[i]
		line := c.write.cut(cut)
		for _, q := range slices.Concat(cut.Groups...) {
			if err := c.has(q, line); err != nil {
				return err
			}
		}
		if err := span(cut.At, cut.Until, line); err != nil {
			return err
		}
		if len(cut.Groups) < 2 || cut.OneWay && len(cut.Groups) > 2 {
			return wrongFault(line, "a partition has two groups or more, as in 1,2 | 3, and a cut two, as in 1 -> 2")
		}
		clear(side)
		for g, group := range cut.Groups {
			if len(group) == 0 {
				return wrongFault(line, "a group is empty; each has at least one process")
			}
			for _, q := range group {
				if side[q] != 0 {
					return wrongFault(line, "process %s is there twice; each is in one group", c.write.name(q))
				}
				side[q] = g + 1
			}
		}
		none := true
		for range cut.Links(c.p.Network) {
			none = false
			break
		}
		if none {
			return wrongFault(line, "no link leads there, on this %s; only neighbours can be separated", c.p.Declaration().Topology.Phrase(0))
		}
	}
	return nil
}

func (c *checker) slow() error {
	last := map[int]int{}
	order := make([]int, len(c.Slow))
	for i := range order {
		order[i] = i
	}
	slices.SortStableFunc(order, func(i, j int) int { return c.Slow[i].At.Compare(c.Slow[j].At) })
	for _, i := range order {
		s := &c.Slow[i]
		line := c.write.slow(s)
		if err := c.has(s.Process, line); err != nil {
			return err
		}
		if err := span(s.At, s.Until, line); err != nil {
			return err
		}
		if s.Factor == 1 {
			return wrongFault(line, "that is its usual speed; slow by 2 is the least")
		}
		if before, found := last[s.Process]; found && (c.Slow[before].Until.IsZero() || s.At.Less(c.Slow[before].Until)) {
			return wrongFault(line, "it is slow at that time already; one must end before the next begins")
		}
		last[s.Process] = i
	}
	return nil
}

func (c *checker) drifts() error {
	seen := map[int]bool{}
	for i := range c.Drifts {
		d := &c.Drifts[i]
		line := c.write.drift(d)
		if err := c.has(d.Process, line); err != nil {
			return err
		}
		switch {
		case d.Times == 0 || d.Of == 0:
			return wrongFault(line, "a clock that stops or jumps does not drift; a rate is such as 11/10 or 0.9")
		case seen[d.Process]:
			return wrongFault(line, "process %s has one clock; give one rate", c.write.name(d.Process))
		case len(c.p.Declaration().Timers) == 0:
			return wrongFault(line, "%s uses no clock: it has no timers", c.p.Declaration().Name)
		}
		seen[d.Process] = true
	}
	return nil
}

func (c *checker) suspicions(detects bool) error {
	for i := range c.Suspicions {
		s := &c.Suspicions[i]
		line := c.write.suspicion(s)
		for _, q := range []int{s.Process, s.Of} {
			if err := c.has(q, line); err != nil {
				return err
			}
		}
		if err := span(s.At, s.Until, line); err != nil {
			return err
		}
		if !detects {
			return wrongFault(line, "%s has no failure detector; bully has", c.p.Declaration().Name)
		}
		linked := false
		for range s.Links(c.p.Network) {
			linked = true
		}
		if s.Process == s.Of || !linked {
			return wrongFault(line, "no link leads from the one to the other; a process can suspect its neighbours")
		}
	}
	return nil
}
