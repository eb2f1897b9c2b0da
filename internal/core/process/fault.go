package process

import (
	"bytes"
	"errors"

	"ringleader.example/ringleader/election"
	"ringleader.example/ringleader/internal/core/codec"
)

// Fault is the panic of a function of an algorithm that is no step, and names it. It wraps ErrBroken.
type Fault struct{ Property, Detail string }

func (f Fault) Error() string { return f.Detail }

// Unwrap returns ErrBroken.
func (f Fault) Unwrap() error { return ErrBroken }

// blamed returns the panic of a function that is no step as a [Fault]. That time is too long is none.
func blamed(fault any, function string) any {
	if err, is := fault.(error); is && (errors.Is(err, election.ErrTime) || errors.As(err, new(Fault))) {
		return fault
	}
	property, how := Blame(fault)
	return Fault{property, function + " " + how}
}

// left ends a call of a function of a process that is no step, and turns its panic into a [Fault]. It is to be deferred.
func (ps *Processes) left(function string, position int) {
	ps.checker.underWay.end()
	if fault := recover(); fault != nil {
		panic(blamed(fault, function+" of "+ps.network.Name(position)))
	}
}

// Born makes the newborn process at a position, in a slot.
func (ps *Processes) Born(slot, position int) {
	u := &ps.checker.underWay
	u.position, u.function = position, "New"
	u.begin()
	defer ps.left("New", position)
	l := ps.network.Local(position)
	ps.store.born(slot, l)
	if c := &ps.checker; c.twice && c.births < mostKnown { // a search makes those of all orders
		c.births++
		ps.bornAgain(slot, l)
	}
}

// bornAgain makes the process in a slot again, after a stranger, and compares: New depends on its argument only.
func (ps *Processes) bornAgain(slot int, l election.Local) {
	c := &ps.checker
	once := ps.AppendState(nil, slot, election.Ticks{}, codec.Whole)
	ps.strangers()
	c.larger.born()
	ps.store.born(c.slot, l)
	if c.told = ps.AppendState(c.told[:0], c.slot, election.Ticks{}, codec.Whole); !bytes.Equal(once, c.told) {
		panic(errNewborn)
	}
}

// Eligible reports whether a process may become leader.
func (ps *Processes) Eligible(slot, position int) bool {
	if !ps.Program.Functions.Eligible {
		return ps.network.Willing(position)
	}
	u := &ps.checker.underWay
	u.position, u.function = position, "Eligible"
	u.begin()
	defer ps.left("Eligible", position)
	may := ps.store.stands(slot)
	if ps.checker.twice && may != ps.store.stands(slot) {
		panic(errEligible)
	}
	return may
}
