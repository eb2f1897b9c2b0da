package cli

import (
	"context"
	"errors"
	"fmt"
	"slices"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"ringleader.example/ringleader/catalogue"
	"ringleader.example/ringleader/election"
	"ringleader.example/ringleader/internal/show/report"
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

// runAnonymous compares indistinguishable processes in lock-step.
func (p *program) runAnonymous(command *cobra.Command, e *catalogue.Entry, o *runOptions) error {
	var wrong error
	command.Flags().Visit(func(f *pflag.Flag) {
		if !slices.Contains(anonymousFlags, f.Name) {
			wrong = fmt.Errorf("with --anonymous all processes initiate at time 0 and messages take one unit; leave out one of --%s and --anonymous", f.Name)
		}
	})
	if wrong != nil {
		return wrong
	}
	o.duplicates = true
	i, err := o.instance(e)
	if err != nil {
		return err
	}
	if o.ids == "" && e.Identifiers != election.Anonymous {
		i.IDs, o.order = namesakes(o.n), "equal"
	}
	limit := o.limit
	if limit == 0 {
		limit = anonymousLimit
	}
	s, err := e.Symmetry(simulate.Options{Instance: i, Seed: o.seed, Limit: limit, Progress: going(command.Context())})
	if broken := new(simulate.Violation); errors.As(err, &broken) {
		return p.broken(e, o, &simulate.Options{Instance: i}, broken)
	}
	if err != nil {
		return err
	}
	if err := p.Print(&report.Symmetry{Subject: o.subject(e), Symmetry: s}, o.json); err != nil {
		return err
	}
	switch {
	case !s.Complete:
		return report.Stopped("stopped after %d deliveries, before the end", s.Deliveries)
	case !s.Right || len(s.Faults) > 0:
		return report.ErrNo
	}
	return nil
}

// going reports whether a run continues.
func going(ctx context.Context) func(uint64) bool {
	return func(uint64) bool { return ctx.Err() == nil }
}
