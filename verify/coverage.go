package verify

import (
	"slices"

	"ringleader.example/ringleader/verify/internal/model"
)

// Coverage reports whether an event has happened in the explored model. If it has not, some properties hold only because it
// has not, and mean nothing there.
type Coverage struct {
	Event      string
	Happened   bool
	Properties []string // that it gives a meaning; none for a fault
}

// coverageOf returns the events that may happen in the explored model, and which of them have been seen.
func coverageOf(c *model.Checker, seen uint32) (all []Coverage) {
	for _, s := range c.Sightings(seen) {
		all = append(all, Coverage(s))
	}
	return all
}

// Vacuous returns the properties that would mean more if an event had happened that has not.
func (r *Report) Vacuous() (all []string) {
	for _, s := range r.Coverage {
		if !s.Happened {
			all = append(all, s.Properties...)
		}
	}
	slices.Sort(all)
	return slices.Compact(all)
}
