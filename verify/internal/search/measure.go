package search

import (
	"ringleader.example/ringleader/election"
	"ringleader.example/ringleader/verify/internal/model"
)

// Measure is a quantity of a run from some state on: the messages of a class, or the moment of the last event of a kind. 0 is
// that of a run without such events, and [election.Forever] is without bound.
type Measure interface {
	// before returns the quantity of a run that begins with a transition, from the quantity of what follows. It is monotone.
	before(by model.Cost, rest election.Ticks) election.Ticks

	// recurs reports whether a run has no value of the quantity if it makes such transitions for ever.
	recurs(by model.Cost) bool

	// value returns the quantity of a whole run for people.
	Value(of election.Ticks) election.Ticks
}

// Counted is the number of messages of one of costNames. Of a run that goes round for ever in the end, as those of a service do,
// it is that of the messages before.
type Counted string

func (m Counted) before(by model.Cost, rest election.Ticks) election.Ticks {
	if rest == election.Forever {
		return rest
	}
	return rest.Add(election.Units(by.Of(string(m))))
}

func (Counted) recurs(model.Cost) bool { return false }

// Value returns the number of messages of a whole run.
func (Counted) Value(messages election.Ticks) election.Ticks { return messages }

// Moment is the measure that is 1 more than the moment of the last event of a kind.
type Moment model.Marks

func (m Moment) before(by model.Cost, rest election.Ticks) election.Ticks {
	switch {
	case rest == election.Forever:
		return rest
	case rest.IsZero() && by.Marks&model.Marks(m) != 0:
		return election.Units(1)
	case rest.IsZero():
		return rest
	}
	return rest.Add(by.Time)
}

func (m Moment) recurs(by model.Cost) bool { return by.Marks&model.Marks(m) != 0 }

// Value returns the moment of a whole run.
func (Moment) Value(of election.Ticks) election.Ticks {
	if of.IsZero() || of == election.Forever {
		return of
	}
	return of.Sub(election.Units(1))
}
