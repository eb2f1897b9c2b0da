package cli

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
	o     *runOptions
	setup network.Setup
}

// planLockstep plans a run of indistinguishable processes.
func (o *runOptions) planLockstep(command *cobra.Command, e *catalogue.Entry) (study, error) {
	var wrong error
	command.Flags().Visit(func(f *pflag.Flag) {
		if !slices.Contains(anonymousFlags, f.Name) {
			wrong = fmt.Errorf("with --anonymous all processes initiate at time 0 and messages take one unit; leave out one of --%s and --anonymous", f.Name)
		}
	})
	if wrong != nil {
		return nil, wrong
	}
	o.duplicates = true
	i, err := o.instance(e)
	if err != nil {
		return nil, err
	}
	if o.ids == "" && e.Identifiers != election.Anonymous {
		i.IDs, o.order = namesakes(o.n), "equal"
	}
	return &lockstep{e, o, i}, nil
}

// job is that of a [study].
func (*lockstep) job() (*labour.Assignment, error) { return nil, errNoJob }

// answer is that of an [answerable].
func (l *lockstep) answer(ctx context.Context, _ *Program, _ labour.Doer) (*finding, error) {
	limit := cmp.Or(l.o.limit, anonymousLimit)
	s, err := l.e.Symmetry(simulate.Options{Instance: l.setup, Seed: l.o.seed, Limit: limit, Progress: going(ctx)})
	if broken := new(simulate.Violation); errors.As(err, &broken) {
		return l.o.broken(l.e, &simulate.Options{Instance: l.setup}, broken)
	}
	if err != nil {
		return nil, err
	}
	f := &finding{results: []report.Result{&report.Symmetry{Subject: l.o.subject(l.e), Symmetry: s}}}
	switch {
	case !s.Complete:
		f.verdict = report.Stopped("stopped after %d deliveries, before the end", s.Deliveries)
	case !s.Right || len(s.Faults) > 0:
		f.verdict = report.ErrNo
	}
	return f, nil
}

// carryOut is that of a [study].
func (l *lockstep) carryOut(ctx context.Context, p *Program, by labour.Doer) error {
	found, err := l.answer(ctx, p, by)
	if err != nil {
		return err
	}
	if err := l.o.put(p, found); err != nil {
		return err
	}
	return found.verdict
}

// going reports whether a run continues.
func going(ctx context.Context) func(uint64) bool {
	return func(uint64) bool { return ctx.Err() == nil }
}
