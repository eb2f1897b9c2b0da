package experiment

import (
	"context"
	"fmt"
	"maps"
	"slices"
	"strings"

	"ringleader.example/ringleader/catalogue"
	"ringleader.example/ringleader/election"
)

// Subject is an algorithm with values of its parameters.
type Subject struct {
	*catalogue.Entry
	Label      string // lcr, or stop-and-go-p2:a=3/2,c=2: what was given, sorted by name
	Parameters election.Parameters
	Claims     *election.Declaration // what is declared with them
	given      map[string]string
	timed      bool // the closed form knows the time, too
}

// ParseSubject reads a label that names an algorithm of the list.
func ParseSubject(algorithms catalogue.List, label string) (*Subject, error) {
	name, list, some := strings.Cut(label, ":")
	e, err := algorithms.Find(name)
	if err != nil {
		return nil, err
	}
	given := map[string]string{}
	if some {
		for part := range strings.SplitSeq(list, ",") {
			knob, value, found := strings.Cut(part, "=")
			if _, twice := given[knob]; !found || knob == "" || twice {
				return nil, fmt.Errorf("%w: %q: parameters are name=value, each once, such as stop-and-go-p2:a=3/2,c=2", ErrStudy, label)
			}
			given[knob] = value
		}
	}
	set, err := e.Set(given)
	if err != nil {
		return nil, fmt.Errorf("%w: %w", ErrStudy, err)
	}
	s := &Subject{Entry: e, Label: e.Name, Parameters: set, Claims: e.With(set), given: given}
	separator := ":"
	for _, knob := range slices.Sorted(maps.Keys(given)) {
		s.Label += separator + knob + "=" + set.Text(knob)
		separator = ","
	}
	if s.counted() { // what is known of two processes is known of all
		r, err := e.Count(context.Background(), election.List{1, 2}, set, nil)
		s.timed = err == nil && r.Time != nil
	}
	return s, nil
}

// ordered reports whether it matters where identifiers stand.
func (s *Subject) ordered() bool {
	return s.Topology != election.Complete && s.Identifiers != election.Anonymous
}

// counted reports whether there is a closed form.
func (s *Subject) counted() bool { return s.Count != nil && s.Claims.Counts != election.CountsVary }

// Bound is the first worst case that is declared for messages, if all start; nil if there is none.
func (s *Subject) Bound(n int) *election.Bound {
	b := s.Claims.Bound(election.Worst)
	if b == nil || b.OneStart && n > 1 {
		return nil
	}
	return b
}

// Average is the exact mean over all orders that is declared; nil if there is none.
func (s *Subject) Average() *election.Bound { return s.Claims.Bound(election.Average) }
