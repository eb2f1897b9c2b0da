package model

import (
	"errors"
	"fmt"

	"ringleader.example/ringleader/internal/core/process"
)

// The limits of one step, of which the checker tries every vector of values that it may choose. A step that chooses until a value suits it
// has vectors without end, each of which ends.
const (
	mostValues   = 1 << 16 // of one choice
	mostDraws    = 64      // choices
	mostOutcomes = 1 << 18 // vectors
)

// ErrLimit reports a step with more choices than the checker tries. That is no violation.
var ErrLimit = errors.New("is beyond the limits of the checker")

// Halt is the panic that ends a search amid a step.
type Halt struct{ Err error }

// Halted turns the panic of a [Halt] into its error, and a [process.Fault] is one. It is to be deferred.
func Halted(err *error) {
	switch fault := recover().(type) {
	case nil:
	case Halt:
		*err = fault.Err
	case process.Fault:
		*err = fault
	default:
		panic(fault)
	}
}

// surrender ends the search, since a step is beyond the limits.
func (c *Checker) surrender(key StepKey, how string) {
	p := c.Processes.Values[key.Process]
	event, body := c.event(key, &p)
	panic(Halt{fmt.Errorf("%s %w: %s", c.Declaration.Name, ErrLimit, c.Values.Breach(int(p.Position), event, body, how))})
}

// patience is the effort between two looks: searches look between states, and a few states may have very many outcomes, or very
// long queues. Each outcome, each message that is sent, and each one of a new queue is effort.
const patience = 1 << 12

// look ends the search amid a step if it is to end. It is called before, or after, so much effort.
func (c *Checker) look(effort int) {
	if c.effort += effort; c.effort < patience {
		return
	}
	if c.effort = 0; c.Look == nil {
		return
	}
	if err := c.Look(); err != nil {
		panic(Halt{err})
	}
}
