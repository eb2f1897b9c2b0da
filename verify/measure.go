package verify

import "ringleader.example/ringleader/election"

// measure is a quantity of a run from some state on: the messages of a class, or the moment of the last event of a kind. 0 is
// that of a run without such events, and [election.Forever] is without bound.
type measure interface {
	// before returns the quantity of a run that begins with a transition, from the quantity of what follows. It is monotone.
	before(by cost, rest election.Ticks) election.Ticks

	// recurs reports whether a run has no value of the quantity if it makes such transitions for ever.
	recurs(by cost) bool

	// value returns the quantity of a whole run for people.
	Value(of election.Ticks) election.Ticks
}

// counted is the number of messages of one of costNames. Of a run that goes round for ever in the end, as those of a service do,
// it is that of the messages before.
type counted string

func (m counted) before(by cost, rest election.Ticks) election.Ticks {
	if rest == election.Forever {
		return rest
	}
	return rest.Add(election.Units(by.Of(string(m))))
}

func (counted) recurs(cost) bool                             { return false }
func (counted) Value(messages election.Ticks) election.Ticks { return messages }

// moment is the measure that is 1 more than the moment of the last event of a kind.
type moment marks

func (m moment) before(by cost, rest election.Ticks) election.Ticks {
	switch {
	case rest == election.Forever:
		return rest
	case rest.IsZero() && by.Marks&marks(m) != 0:
		return election.Units(1)
	case rest.IsZero():
		return rest
	}
	return rest.Add(by.Time)
}

func (m moment) recurs(by cost) bool { return by.Marks&marks(m) != 0 }

func (moment) Value(of election.Ticks) election.Ticks {
	if of.IsZero() || of == election.Forever {
		return of
	}
	return of.Sub(election.Units(1))
}
