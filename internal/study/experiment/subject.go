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
	Label      string // lcr, or stop-and-go-p2:a=3/2,c=2: the given values, sorted by name
	Parameters election.Parameters
	Claims     *election.Declaration // the declaration with them
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
			name, value, found := strings.Cut(part, "=")
			if _, twice := given[name]; !found || name == "" || twice {
				return nil, fmt.Errorf("%w: %q: parameters are name=value, each once, such as stop-and-go-p2:a=3/2,c=2", ErrStudy, label)
			}
			given[name] = value
		}
	}
	set, err := e.Set(given)
	if err != nil {
		return nil, fmt.Errorf("%w: %w", ErrStudy, err)
	}
	s := &Subject{Entry: e, Label: e.Name, Parameters: set, Claims: e.With(set), given: given}
	separator := ":"
	for _, name := range slices.Sorted(maps.Keys(given)) {
		s.Label += separator + name + "=" + set.Text(name)
		separator = ","
	}
	if s.counted() { // a closed form for two processes is one for all sizes
		r, err := e.Count(context.Background(), election.List{1, 2}, set, nil)
		s.timed = err == nil && r.Time != nil
	}
	return s, nil
}

// ordered reports whether the positions of identifiers matter.
func (s *Subject) ordered() bool {
	return s.Topology != election.Complete && s.Identifiers != election.Anonymous
}

// counted reports whether there is a closed form.
func (s *Subject) counted() bool { return s.Count != nil && s.Claims.Counts != election.CountsVary }

// Bound returns the first declared worst case of messages, if all processes initiate; nil if there is none.
func (s *Subject) Bound(n int) *election.Bound {
	b := s.Claims.Bound(election.Worst)
	if b == nil || b.OneStart && n > 1 {
		return nil
	}
	return b
}

// Average returns the declared exact mean over all orders; nil if there is none.
func (s *Subject) Average() *election.Bound { return s.Claims.Bound(election.Average) }
