package faults

import (
	"fmt"
	"strconv"
	"strings"

	"ringleader.example/ringleader/election"
	"ringleader.example/ringleader/network"
)

// Lines returns the faults as text, a line each, which a [Reader] reads back as the same faults.
func (s *Script) Lines(p *network.Instance) []string {
	var lines []string
	w := newWriter(p)
	if len(s.Dead) > 0 {
		lines = append(lines, "dead "+w.list(s.Dead))
	}
	for _, c := range s.Crashes {
		lines = append(lines, w.crash(c))
	}
	for _, r := range s.Recoveries {
		lines = append(lines, w.recovery(r))
	}
	for i := range s.Cuts {
		lines = append(lines, w.cut(&s.Cuts[i]))
	}
	for i := range s.Slow {
		lines = append(lines, w.slow(&s.Slow[i]))
	}
	for i := range s.Suspicions {
		lines = append(lines, w.suspicion(&s.Suspicions[i]))
	}
	for i := range s.Drifts {
		lines = append(lines, w.drift(&s.Drifts[i]))
	}
	if s.Lose.Times > 0 {
		lines = append(lines, "lose "+s.Lose.String())
	}
	if s.Duplicate.Times > 0 {
		lines = append(lines, "duplicate "+s.Duplicate.String())
	}
	if s.Unordered {
		lines = append(lines, "reorder")
	}
	if s.Random.any() {
		lines = append(lines, s.Random.String())
	}
	return lines
}

// Line returns the crash as a line.
func (c Crash) Line(p *network.Instance) string { return newWriter(p).crash(c) }

// Text returns the cut as a line without its times.
func (c *Cut) Text(p *network.Instance) string { return newWriter(p).parts(c) }

// Text returns the slowness as a line without its times.
func (s *Slow) Text(p *network.Instance) string { return newWriter(p).pace(s) }

// writer names processes.
type writer struct {
	p        *network.Instance
	repeated map[uint64]bool // identifiers that several processes have; nil until the first name is needed
}

func newWriter(p *network.Instance) *writer { return &writer{p: p} }

func (w *writer) name(position int) string {
	switch {
	case position < 0 || position >= w.p.Size():
		return fmt.Sprintf("@%d", position)
	case w.p.Anonymous():
		return strconv.Itoa(position)
	case w.repeated == nil:
		w.repeated = map[uint64]bool{}
		seen := make(map[uint64]bool, w.p.Size())
		for q := range w.p.Size() {
			id := w.p.Real(q)
			if seen[id] {
				w.repeated[id] = true
			}
			seen[id] = true
		}
	}
	id := w.p.Real(position)
	if w.repeated[id] {
		return fmt.Sprintf("%d@%d", id, position)
	}
	return strconv.FormatUint(id, 10)
}

func (w *writer) list(positions []int) string {
	names := make([]string, len(positions))
	for i, q := range positions {
		names[i] = w.name(q)
	}
	return strings.Join(names, ",")
}

func (w *writer) crash(c Crash) string {
	line := fmt.Sprintf("crash %s at %s", w.name(c.Process), c.At)
	if c.Amid {
		line += fmt.Sprintf(" after %d sends", c.Sends)
		if c.Sends == 1 {
			line = strings.TrimSuffix(line, "s")
		}
	}
	return line
}

func (w *writer) recovery(r Recovery) string {
	return fmt.Sprintf("recover %s at %s", w.name(r.Process), r.At)
}

func (w *writer) cut(c *Cut) string { return w.parts(c) + lasting(c.At, c.Until) }

// parts returns a cut without its times.
func (w *writer) parts(c *Cut) string {
	groups := make([]string, len(c.Groups))
	for g, group := range c.Groups {
		groups[g] = w.list(group)
	}
	if c.OneWay {
		return "cut " + strings.Join(groups, " -> ")
	}
	return "partition " + strings.Join(groups, " | ")
}

func (w *writer) slow(s *Slow) string { return w.pace(s) + lasting(s.At, s.Until) }

// pace returns a slowness without its times.
func (w *writer) pace(s *Slow) string {
	if s.Factor == 0 {
		return "pause " + w.name(s.Process)
	}
	return fmt.Sprintf("slow %s by %d", w.name(s.Process), s.Factor)
}

func (w *writer) suspicion(s *Suspicion) string {
	return fmt.Sprintf("suspect %s of %s", w.name(s.Process), w.name(s.Of)) + lasting(s.At, s.Until)
}

func (w *writer) drift(d *Drift) string {
	return fmt.Sprintf("drift %s by %s", w.name(d.Process), Chance{d.Times, d.Of})
}

func lasting(at, until election.Ticks) string {
	if until.IsZero() {
		return " from " + at.String()
	}
	return fmt.Sprintf(" from %s until %s", at, until)
}

// String returns the chance as a fraction, such as 1/10.
func (c Chance) String() string {
	if c.Of == 1 {
		return strconv.FormatUint(c.Times, 10)
	}
	return fmt.Sprintf("%d/%d", c.Times, c.Of)
}
