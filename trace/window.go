package trace

import "ringleader.example/ringleader/election"

// Window is a part of an execution: all steps from From until Until, both included. They are times in units if the
// record has a clock, and otherwise numbers of steps. A zero Until is no end, so
// the zero Window is the whole execution.
type Window struct{ From, Until election.Ticks }

// Holds reports whether a step of the record with that header is in the window.
func (w Window) Holds(h *Header, s *Step) bool {
	at := w.place(h, s)
	return !at.Less(w.From) && !w.endsBefore(at)
}

// place returns the place of a step on the window's axis.
func (w Window) place(h *Header, s *Step) election.Ticks {
	if h.Clock {
		return s.Time
	}
	return election.Units(uint64(s.Number))
}

func (w Window) endsBefore(at election.Ticks) bool { return !w.Until.IsZero() && w.Until.Less(at) }

// Steps returns the indices of the first step of the record in the window, and of the first one after it.
func (w Window) Steps(r *Record) (first, past int) {
	for first < len(r.Steps) && w.place(&r.Header, &r.Steps[first]).Less(w.From) {
		first++
	}
	past = first
	for past < len(r.Steps) && !w.endsBefore(w.place(&r.Header, &r.Steps[past])) {
		past++
	}
	return first, past
}

// Text returns the window in words, or nothing for the whole execution.
func (w Window) Text(h *Header) string {
	of := "steps"
	if h.Clock {
		of = "time"
	}
	switch {
	case w.Until.IsZero() && w.From.IsZero():
		return ""
	case w.Until.IsZero():
		return of + " from " + w.From.String()
	}
	return of + " " + w.From.String() + " to " + w.Until.String()
}
