package study

import (
	"cmp"
	"context"
	"strings"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"ringleader.example/ringleader/catalogue"
	"ringleader.example/ringleader/election"
	"ringleader.example/ringleader/internal/cli/labour"
	"ringleader.example/ringleader/internal/cli/option"
	"ringleader.example/ringleader/internal/cli/plan"
	"ringleader.example/ringleader/internal/show/report"
	"ringleader.example/ringleader/internal/show/report/studies"
	"ringleader.example/ringleader/internal/study/worstcase"
)

type worstOptions struct {
	n, tries   int
	of         string
	seed       uint64
	parameters []string
	json       bool
	labour.Work
}

// Worst returns the command that searches for costly inputs.
func Worst(p *plan.Program) *plan.Command {
	var o worstOptions
	command := &cobra.Command{
		Use:     "worst ALGORITHM",
		GroupID: option.GroupStudy,
		Short:   "Search for the costliest inputs on a ring",
		Long: `Search for the costliest inputs: orders of identifiers, and for synchronous elections also the
identifiers, the times to wake, and the unwilling processes (see run --help). If the inputs
are orders of identifiers only, and not more than --tries, all are tried and the result is exact,
unless steps make random choices: each order is run with one draw of them, so it is a lower bound.
Otherwise the search climbs from random inputs by small changes, and finds a lower bound on the worst
case. The result includes a command that runs the input. With --out an interrupted search continues. With
--nats workers on any number of machines search; ringleader worker starts one.`,
		Example: `  ringleader worst lcr --n 8 --of election
  ringleader worst stop-and-go-p1 --n 8 --param c=3 --tries 60000
  ringleader worst peterson --n 16 --of total --json
  ringleader worst lcr --n 10 --tries 400000 --shard 3/16 --out part3
  ringleader worst lcr --n 10 --tries 400000 --nats nats://10.0.0.1:4222`,
		ValidArgsFunction: p.OneOf(func(e *catalogue.Entry) bool {
			return e.Topology == election.Ring && e.Identifiers != election.Anonymous
		}),
	}
	f := command.Flags()
	option.Number(f, &o.n, "n", "n", 8, "number of processes")
	f.StringVar(&o.of, "of", "", strings.Join(worstcase.Measures, ", ")+": the cost to maximize (default phase, or election without phases)")
	option.Number(f, &o.tries, "tries", "", 20_000, "largest number of inputs to run")
	option.Number(f, &o.seed, "seed", "", 1, "seed of the search")
	f.StringSliceVar(&o.parameters, "param", nil, "parameter of the algorithm: name=value, repeated or comma-separated")
	f.BoolVar(&o.json, "json", false, "print one JSON object")
	o.Work.Define(command, p.Printer)
	option.Offer(command, "of", worstcase.Measures...)
	return p.CarriesOut(&plan.Command{Command: command, Plan: func(args []string) (plan.Study, error) { return o.plan(p, command, args) }, Working: &o.Work})
}

// climb is the study of worst.
type climb struct {
	o       *worstOptions
	options worstcase.Options
	search  *worstcase.Search
	flags   *pflag.FlagSet
}

// plan returns the study that the flags ask for.
func (o *worstOptions) plan(p *plan.Program, command *cobra.Command, args []string) (plan.Study, error) {
	e, err := p.OneAlgorithm(command, args)
	if err != nil {
		return nil, err
	}
	s := worstcase.Options{Entry: e, Size: o.n, Seed: o.seed, Tries: o.tries}
	if s.Parameters, err = plan.Pairs(o.parameters); err != nil {
		return nil, err
	}
	if o.of == "" && !e.Phased() {
		o.of = worstcase.Elections.String()
	}
	if o.of != "" {
		of, err := plan.Word("of", o.of, worstcase.Measures...)
		if err != nil {
			return nil, err
		}
		s.Measure = worstcase.Measure(of)
	}
	search, err := worstcase.New(s)
	if err != nil {
		return nil, err
	}
	return &climb{o, s, search, command.Flags()}, nil
}

// Job is that of a [plan.Study].
func (c *climb) Job() (*labour.Assignment, error) {
	return &labour.Assignment{
		Kind: "worst", Task: c.search, Units: c.search.What(),
		Words: func() ([]string, error) { return plan.JobWords("worst", []string{c.options.Entry.Name}, c.flags) },
		Count: func(results [][]byte) (int, int) { return c.search.Tried(results), c.o.tries },
		Of:    "inputs",
	}, nil
}

// Answer is that of an [plan.Answerable]. A search that is stopped has the result of its inputs so far.
func (c *climb) Answer(ctx context.Context, p *plan.Program, by labour.Doer) (*plan.Finding, error) {
	a, err := c.Job()
	if err != nil {
		return nil, err
	}
	parts, stopped := by.Do(ctx, p.Printer, a)
	if stopped != nil && ctx.Err() == nil {
		return nil, stopped
	}
	results := make([][]byte, len(parts))
	for i, part := range parts {
		results[i] = part.Result
	}
	r, err := c.search.Result(results...)
	if err != nil || r.IDs == nil {
		return nil, cmp.Or(stopped, err)
	}
	found := &studies.Worst{Options: &c.options, Parameters: c.o.parameters, Program: p.Name, Result: &r}
	return &plan.Finding{
		Results: []report.Result{found}, Verdict: stopped,
		Witness: func() (plan.SavedRun, error) { return plan.SavedRun{Ringleader: p.Version, Run: found.Words()}, nil },
	}, nil
}

// CarryOut is that of a [plan.Study].
func (c *climb) CarryOut(ctx context.Context, p *plan.Program, by labour.Doer) error {
	found, err := c.Answer(ctx, p, by)
	if err != nil {
		return err
	}
	return cmp.Or(p.Print(found.Results[0], c.o.json), found.Verdict)
}
