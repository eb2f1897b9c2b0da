package drawing

import (
	"slices"
	"strings"

	"ringleader.example/ringleader/trace"
)

// stretch is a part of a process's line in which its role does not change.
type stretch struct {
	line     int
	from, to int    // steps, as indices; -1 is the begin of the line, and the number of steps its end
	class    string // alive, leads or dead
}

// life is the state of a process after a step.
type life struct {
	class   string
	since   int
	last    trace.Decision
	decided bool // it is not undecided as from the start: without a leader, it is electing
}

// follow follows each process through its life, and lasting faults to their end. Marks have no places yet.
func (d *diagram) follow() {
	lives := newborn(d.r.N)
	for i := range d.r.Steps[:d.past] {
		s := &d.r.Steps[i]
		l := &lives[s.Process]
		class, decided := l.step(s)
		if class != l.class {
			if i >= d.first {
				d.stretches = append(d.stretches, stretch{s.Process, l.since, i, l.class})
				l.since = i
			}
			l.class = class
		}
		d.shade(i)
		if i >= d.first {
			d.markStep(i, decided)
		}
	}
	for p, l := range lives {
		d.stretches = append(d.stretches, stretch{p, l.since, d.past, l.class})
		d.final = append(d.final, l.text())
	}
	d.shades = slices.DeleteFunc(d.shades, func(s shade) bool { return s.to < d.first })
}

// newborn returns so many processes before their first steps.
func newborn(n int) []life {
	lives := make([]life, n)
	for p := range lives {
		lives[p] = life{class: "alive", since: -1, last: trace.Decision{Role: "undecided"}}
	}
	return lives
}

// step returns the class of the process's line, and the role that the step decided, if it is a new one.
func (l *life) step(s *trace.Step) (class, decided string) {
	class = l.class
	switch s.Event {
	case trace.Crash:
		class, l.last = "dead", trace.Decision{Role: "undecided"}
	case trace.Recover:
		class = "alive"
	}
	for _, now := range s.Decided {
		was, is := l.last, now
		was.Lease, is.Lease = nil, nil // to renew a lease is to decide nothing new
		if was.Text() != is.Text() {
			decided = now.Role
		}
		l.last, l.decided, class = now, true, "alive"
		if now.Role == "leader" {
			class = "leads"
		}
	}
	return class, decided
}

func (l *life) text() string {
	switch {
	case l.class == "dead":
		return "crashed"
	case l.last.Role == "undecided" && !l.decided:
		return "undecided"
	}
	return strings.ToLower(l.last.Text())
}

// markStep marks the event and the decision of a step.
func (d *diagram) markStep(i int, decided string) {
	s := &d.r.Steps[i]
	hidden := s.Event == trace.Lost || s.Event == trace.Fault || s.Event == trace.Heal || s.Event == trace.Receive && decided != ""
	if !hidden {
		d.marks = append(d.marks, mark{step: i, line: s.Process, symbol: string(s.Event)})
	}
	if decided != "" {
		d.marks = append(d.marks, mark{step: i, line: s.Process, symbol: decided})
	}
}
