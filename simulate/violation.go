package simulate

import (
	"errors"
	"slices"

	"ringleader.example/ringleader/election"
	"ringleader.example/ringleader/internal/process"
	"ringleader.example/ringleader/trace"
)

// ErrBroken reports that an algorithm broke the contract. The error is a [Violation].
var ErrBroken = process.ErrBroken

// Violation is the error of a run that ended because a step broke the contract of package election: it panicked, wrote
// into a list that others share or into a constant field, used a port, kind or timer that it does not have, or did
// something else when it was made again. Package verify names the properties, and reports the same.
//
// That a step does the same when it is made again, and writes only where it may, is checked in runs that are recorded
// or have Options.Check.
type Violation struct {
	Property string        // "broke the contract" or "panic"
	Detail   string        // which process did what, and about which event
	Record   *trace.Record // of the run up to that step, which tells how it is broken; nil if the run is too long or does not break again

	steps uint64 // at most so many were made
}

func (v *Violation) Error() string { return v.Property + ": " + v.Detail }

// Unwrap returns ErrBroken.
func (v *Violation) Unwrap() error { return ErrBroken }

// mostTold is how many steps a run may have that is made again to be recorded: a record takes some hundred bytes a step.
const mostTold = 100_000

// acting is the step that is being made.
type acting struct {
	process int
	event   process.Event
	inside  bool // the algorithm runs, and not the engine
}

// breaks ends the run: the step that is being made broke the contract.
func (r *run) breaks(property, how string) {
	p, e := r.acting.process, r.acting.event
	if r.record != nil {
		r.record.broken(r, trace.Graphic(how))
	}
	r.violates(property, r.ps.Breach(p, e, how))
}

// violates ends the run.
func (r *run) violates(property, detail string) {
	v := &Violation{Property: property, Detail: detail, steps: r.steps + uint64(r.p.Size())}
	if r.record != nil {
		v.Record = &trace.Record{Header: r.record.Header, Steps: slices.Clone(r.record.Steps)}
	}
	panic(v)
}

// broken writes down the step that is being made, which broke the contract.
func (b *recorder) broken(r *run, how string) {
	p, e := r.acting.process, r.acting.event
	step := trace.Step{Number: len(b.Steps) + 1, Time: r.now, Process: p, Event: events[e.What], Port: -1, State: r.stateText(p), Broken: how}
	switch e.What {
	case process.Received:
		step.Message, step.Port = b.numbers[e.Message], int(e.Port)
		m := b.sent[step.Message-1]
		step.From, step.Kind, step.Text = m.process+1, m.kind, m.text
	case process.Suspected, process.Trusted:
		q, _ := r.net.End(r.net.First(p) + uint32(e.Port))
		step.Port, step.From = int(e.Port), q+1
	case process.Expired:
		step.Text = r.d.Timers[e.Timer]
	case process.Commanded:
		step.Text = "resign"
	}
	b.Steps = append(b.Steps, step)
}

// events are the events of package process as records name them.
var events = [...]trace.Event{trace.Start, trace.Recover, trace.Receive, trace.Timeout, trace.Suspect, trace.Trust, trace.Command}

// attempt plays a run, or a part of one. A panic of the algorithm ends it as a [Violation].
func (r *run) attempt(play func()) {
	defer func() {
		if !r.acting.inside {
			return // a panic of the engine goes on
		}
		r.acting.inside = false
		fault := recover()
		if err, is := fault.(error); is && refusal(err) {
			panic(fault)
		}
		r.breaks(process.Blame(fault))
	}()
	play()
}

// refusal reports whether an error means that there cannot be such a run, whatever the algorithm does.
func refusal(err error) bool { return errors.Is(err, election.ErrTime) || errors.Is(err, ErrOptions) }

// told runs an election, and runs it again for the record if a step broke the contract and the run was not recorded.
func told[R any](o Options, run func(Options) (R, error)) (R, error) {
	result, err := run(o)
	var first *Violation
	if !errors.As(err, &first) || first.Record != nil || first.steps > mostTold {
		return result, err
	}
	o.Record = true
	if recorded, again := run(o); errors.Is(again, ErrBroken) {
		return recorded, again
	}
	first.Detail += "; run again, it did not: steps depend on more than their arguments"
	return result, err
}
