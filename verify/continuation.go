package verify

import (
	"errors"
	"fmt"

	"ringleader.example/ringleader/election"
	"ringleader.example/ringleader/internal/core/memory"
	"ringleader.example/ringleader/internal/core/process"
	"ringleader.example/ringleader/program"
	"ringleader.example/ringleader/trace"
	"ringleader.example/ringleader/verify/internal/model"
	"ringleader.example/ringleader/verify/internal/search"
)

// Begun is a run that has not ended, such as that of a session of package simulate.
type Begun struct {
	Record *trace.Record  // so far
	Now    election.Ticks // with a clock, the time: that of the last step, or later
}

// Goal is what is searched for among all that can follow a run.
type Goal uint8

// The goals.
const (
	// Unsafe is the shortest way to a violation of safety: to two leaders, of one term or lease if there are any, to processes that
	// end with different leaders, to another decision after one that is for ever, or to a step that breaks the contract. That an
	// election does not end, or elects another leader than its source states, is none.
	Unsafe Goal = iota

	// Costliest is the run with the most messages, counted without overhead, from where the run has come to up to its end. There
	// are no more faults.
	Costliest
)

// Continuation is what can follow a run.
type Continuation struct {
	Found    bool
	Complete bool // the search was; if nothing was found, there is nothing
	Limit    Limit
	States   int

	Property, Detail string       // of a violation, also if it is not the goal: the costliest run is not known beyond one
	Messages         uint64       // of the costliest run, those that were still to be sent
	Unbounded        bool         // there is no costliest run, since some run sends messages for ever
	Record           trace.Record // of the run and what follows it, if it was found; its first steps are those of the run
}

// LookAhead searches all that can follow a run of an algorithm on one network. Options hold how the run began: setup, starts,
// wardens, order of messages, delay and lazy time. The numbers of faults are those that may still come. The checker first makes the
// steps of the run, and compares. The error wraps [ErrOptions] if it does not make such a run.
func LookAhead(a program.Program, o Options, begun Begun, goal Goal) (found *Continuation, err error) {
	defer model.Halted(&err)
	program := process.Opened(a)
	if err := begun.Record.Validate(); err != nil {
		return nil, err
	}
	if ids := o.Setup.IDs; ids == nil || ids.Len() != begun.Record.N {
		return nil, fmt.Errorf("%w %s from here: the run is of one order of %d processes", ErrOptions, program.Name, begun.Record.N)
	}
	o.from = &model.Prefix{Record: begun.Record, Now: begun.Now, Remaining: *o.model().Unused()}
	o.past(begun.Record)
	if err := o.check(program.Declaration, program.Functions); err != nil {
		return nil, err
	}
	c, err := model.NewChecker(program, o.model(), o.Setup)
	if err != nil {
		return nil, err
	}
	r, err := c.Resume()
	switch {
	case err != nil:
		return nil, err
	case r.Wrong != nil: // already
		return &Continuation{Found: goal == Unsafe, Complete: goal == Unsafe, Property: r.Wrong.Property, Detail: r.Wrong.Detail, Record: r.Record}, nil
	case goal == Costliest:
		return o.costliest(program)
	}
	if err := o.reduce(program); err != nil {
		return nil, err
	}
	report, err := newExploration(program, &o).run()
	if err != nil {
		return nil, err
	}
	found = &Continuation{Found: report.Violation != nil, Complete: report.Complete, Limit: report.Limit, States: report.States}
	if v := report.Violation; v != nil {
		found.Property, found.Detail, found.Record = v.Property, v.Detail, v.Record
	}
	return found, nil
}

// past adds the faults of a run to those that may come, so that the checker can make them.
func (o *Options) past(run *trace.Record) {
	crashed := map[int]bool{}
	for i := range run.Steps {
		switch s := &run.Steps[i]; s.Event {
		case trace.Crash:
			o.Crashes++
			crashed[s.Process] = true
		case trace.Recover:
			o.Recoveries++
			delete(crashed, s.Process)
		case trace.Fault:
			if s.Text != trace.Hastened {
				o.Cuts++
			}
		case trace.Suspect:
			if !crashed[s.From-1] {
				o.Suspicions++
			}
		case trace.Command:
			o.Commands++
		}
	}
}

// costliest searches for the run with the most messages.
func (o *Options) costliest(program *process.Program) (*Continuation, error) {
	settings := o.search()
	m := search.NewMonitor(settings, 1)
	defer memory.Limited(m.Enough())()
	cores := max(1, o.Cores)
	if o.Wardens { // as in an exploration
		cores = 1
	}
	l := search.NewSearcher(program, settings, m, cores)
	g, err := l.GraphOf(o.Setup)
	a := &Continuation{Complete: l.Complete, Limit: Limit(l.Reached), States: l.States}
	switch {
	case errors.As(err, new(search.Unfinished)):
		return a, nil
	case err != nil:
		return nil, err
	case l.Found != nil:
		a.Complete, a.Property, a.Detail = false, l.Found.Property, l.Found.Detail
		return a, nil
	}
	most := l.AttainIn(g, search.Counted("total"), true)
	a.Found, a.Unbounded, a.Messages, a.Record = !most.Unbounded, most.Unbounded, most.Value.Lo, most.Record
	return a, nil
}
