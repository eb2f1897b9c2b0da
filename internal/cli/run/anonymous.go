package run

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"slices"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"ringleader.example/ringleader/catalogue"
	"ringleader.example/ringleader/election"
	"ringleader.example/ringleader/internal/cli/labour"
	"ringleader.example/ringleader/internal/cli/plan"
	"ringleader.example/ringleader/internal/core/amount"
	"ringleader.example/ringleader/internal/show/report"
	"ringleader.example/ringleader/network"
	"ringleader.example/ringleader/simulate"
)

// anonymousFlags are the flags that apply with --anonymous; the symmetry argument fixes all else.
var anonymousFlags = []string{"anonymous", "ids", "n", "seed", "param", "orientation", "limit", "json", "help"}

// anonymousLimit is the limit of deliveries of a run that neither becomes quiescent nor repeats a configuration.
const anonymousLimit = 10_000_000

// namesakes is a number of processes with the same identifier.
type namesakes int

func (n namesakes) Len() int      { return int(n) }
func (n namesakes) At(int) uint64 { return 1 }
func (n namesakes) Dense() bool   { return false }

// lockstep is the study of indistinguishable processes, which are compared in lock-step.
type lockstep struct {
	e     *catalogue.Entry
	o     *Options
	setup network.Setup
}

// planLockstep plans a run of indistinguishable processes.
func (o *Options) planLockstep(command *cobra.Command, e *catalogue.Entry) (plan.Study, error) {
	var wrong error
	command.Flags().Visit(func(f *pflag.Flag) {
		if !slices.Contains(anonymousFlags, f.Name) {
			wrong = fmt.Errorf("with --anonymous all processes initiate at time 0 and messages take one unit; leave out one of --%s and --anonymous", f.Name)
		}
	})
	if wrong != nil {
		return nil, wrong
	}
	o.Duplicates = true
	i, err := o.Setup(e)
	if err != nil {
		return nil, err
	}
	if o.IDs == "" && e.Identifiers != election.Anonymous {
		i.IDs, o.Order = namesakes(o.N), "equal"
	}
	return &lockstep{e, o, i}, nil
}

// Job is that of a [plan.Study].
func (*lockstep) Job() (*labour.Assignment, error) { return nil, plan.ErrNoJob }

// Answer is that of an [plan.Answerable].
func (l *lockstep) Answer(ctx context.Context, _ *plan.Program, _ labour.Doer) (*plan.Finding, error) {
	limit := cmp.Or(l.o.limit, anonymousLimit)
	s, err := l.e.Symmetry(simulate.Options{Setup: l.setup, Seed: l.o.Seed, Limit: limit, Progress: going(ctx)})
	if broken := new(simulate.Violation); errors.As(err, &broken) {
		return l.o.broken(l.e, &simulate.Options{Setup: l.setup}, broken)
	}
	if err != nil {
		return nil, err
	}
	f := &plan.Finding{Results: []report.Result{&report.Symmetry{Subject: l.o.Subject(l.e), Symmetry: s}}}
	switch {
	case !s.Complete:
		f.Verdict = report.Stopped("stopped after %s, before the end", amount.Of(s.Deliveries, "delivery"))
	case !s.Right || len(s.Faults) > 0:
		f.Verdict = report.ErrNo
	}
	return f, nil
}

// CarryOut is that of a [plan.Study].
func (l *lockstep) CarryOut(ctx context.Context, p *plan.Program, by labour.Doer) error {
	found, err := l.Answer(ctx, p, by)
	if err != nil {
		return err
	}
	if err := l.o.Put(p, found); err != nil {
		return err
	}
	return found.Verdict
}

// going reports whether a run continues.
func going(ctx context.Context) func(uint64) bool {
	return func(uint64) bool { return ctx.Err() == nil }
}
