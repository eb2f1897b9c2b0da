package simulate

import (
	"errors"
	"fmt"
	"slices"

	"ringleader.example/ringleader/election"
	"ringleader.example/ringleader/internal/core/process"
	"ringleader.example/ringleader/trace"
)

// ErrBroken reports that an algorithm broke the contract. The error is a [Violation].
var ErrBroken = process.ErrBroken

// Violation is the error of a run that ended because a step broke the contract of package election: it panicked,
// wrote into a shared list or a constant field, used a port, kind or timer that it does not have, or gave another
// result when it was repeated. Package verify names the properties, and reports the same.
//
// Recorded runs, and runs with Options.Check, repeat each step: the result must be the same, and writes must be
// permitted ones.
type Violation struct {
	Property string        // "broke the contract" or "panic"
	Detail   string        // the process, the event, and what the step did
	Record   *trace.Record // of the run up to that step, with the violation; nil if the run is too long or its repetition is fine

	steps uint64 // upper bound of the steps made; 0: unknown
}

func (v *Violation) Error() string { return v.Property + ": " + v.Detail }

// Unwrap returns ErrBroken.
func (v *Violation) Unwrap() error { return ErrBroken }

// mostTold is the largest number of steps of a run that is repeated for a record, which takes some hundred bytes a step.
const mostTold = 100_000

// broken ends the run: the last step broke the contract.
func (r *run) broken(property, how string) {
	if !r.Checks {
		panic(fmt.Errorf("%w: %s", ErrBroken, how))
	}
	p, e := r.Acting.Process, r.Acting.Event
	if r.Record != nil {
		r.Record.Broken(&r.Core, trace.Graphic(how))
	}
	r.violates(property, r.Processes.Breach(p, e, how))
}

// violates ends the run.
func (r *run) violates(property, detail string) {
	v := &Violation{Property: property, Detail: detail, steps: r.made()}
	if r.Record != nil {
		v.Record = &trace.Record{Header: r.Record.Header, Steps: slices.Clone(r.Record.Steps)}
	}
	panic(v)
}

// made returns the approximate number of steps so far, at least 1.
func (r *run) made() uint64 { return r.Steps + uint64(r.Instance.Size()) }

// breakdown is a panic in a run that does not note which process acts. The run is repeated, with its steps checked.
type breakdown struct {
	fault any
	steps uint64 // upper bound of the steps made; 0: unknown
}

func (s *breakdown) Error() string { return fmt.Sprint(s.fault) }

// Unwrap returns ErrBroken: the algorithm failed, unless an engine for large networks did.
func (s *breakdown) Unwrap() error { return ErrBroken }

// attempt plays a run, or a part of one. A panic of the algorithm ends it as a [Violation], or as a breakdown, which
// needs a repetition.
func (r *run) attempt(play func()) {
	defer func() {
		fault := recover()
		err, _ := fault.(error)
		var wrong process.Fault
		var violation *Violation
		switch {
		case fault == nil:
		case refusal(err) || errors.As(err, &wrong) || errors.As(err, &violation):
			panic(fault)
		case !r.Checks && r.loops != nil:
			panic(&breakdown{fault: fault})
		case !r.Checks:
			panic(&breakdown{fault, r.made()})
		case !r.Acting.Inside: // the engine
			panic(fault)
		default:
			r.Breaks(process.Blame(fault))
		}
	}()
	play()
}

// refusal reports whether an error means that the run is impossible for any algorithm.
func refusal(err error) bool { return errors.Is(err, election.ErrTime) || errors.Is(err, ErrOptions) }

// told runs an election. If a step breaks the contract, the run is repeated: its steps are checked and, if they are
// not too many, recorded.
func told[R any](o Options, run func(Options) (R, error)) (R, error) {
	result, err := run(o)
	var first *breakdown
	if errors.As(err, &first) {
		o.Check, o.Record = true, first.steps > 0 && first.steps <= mostTold
		if result, err = run(o); !errors.Is(err, ErrBroken) {
			if first.steps == 0 { // so an engine is wrong
				panic(first.fault)
			}
			property, how := process.Blame(first.fault)
			err = &Violation{Property: property, Detail: "a process " + how + "; run again, it did not: steps depend on more than their arguments"}
		}
	}
	var v *Violation
	if errors.As(err, &v) && !o.Record && 0 < v.steps && v.steps <= mostTold {
		o.Record = true
		return run(o)
	}
	return result, err
}
