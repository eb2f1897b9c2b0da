package study

import (
	"context"
	"errors"
	"fmt"
	"strings"

	"github.com/spf13/cobra"

	"ringleader.example/ringleader/internal/cli/labour"
	"ringleader.example/ringleader/internal/cli/option"
	"ringleader.example/ringleader/internal/cli/plan"
	"ringleader.example/ringleader/internal/show/report"
	"ringleader.example/ringleader/internal/show/report/studies"
	"ringleader.example/ringleader/internal/study/experiment"
)

type compareOptions struct {
	n, order, until string
	orders, seed    uint64
	study           string
	csv, json       bool
	labour.Work
	drawOptions
}

// Compare returns the command that compares costs.
func Compare(p *plan.Program) *plan.Command {
	var o compareOptions
	command := &cobra.Command{
		Use:     "compare ALGORITHM[:PARAMETER=VALUE,...]...",
		GroupID: option.GroupStudy,
		Short:   "Compare the costs of algorithms on the same networks, over sizes and orders",
		Long: `Compare the costs of algorithms on the same networks, over sizes and orders of identifiers. All processes
initiate first. Messages take one unit unless the algorithm is declared otherwise.

Each point is either counted exactly, by a closed form; or simulated once, where the schedule does not
matter; or the mean over many orders, with its confidence interval. --orders gives the number of orders.
Without it the number is 64 (more for small n), and is doubled until half the 95 % interval of the
election messages is at most --until of their mean. The first run of a point has the seed --seed, and each
further run the next seed, so that count and run can repeat it. Where a closed form gives no time, 32 of
the runs are also simulated for the time, up to n = 2²⁰. Trees are paths. Algorithms for equal
identifiers get an order of which all but the greatest one or two are equal.

With --order all each order of a ring is a run, up to rotation: (n-1)! of them, for n up to 14. Mean and
extremes are exact then.

With --out results are kept on disk. If the study is interrupted, the same command continues
it, and ends with the same bytes. --shard computes one part of several; ringleader merge joins
them. With --nats workers on any number of machines do the work; ringleader worker starts one.
A file for --study describes the comparison:
  algorithms = ["lcr", "stop-and-go-p2:c=2,a=3/2"]
  n = "8..1024"           # or [16, 64, 256]
  order = ["random"]      # any of ` + strings.Join(experiment.OrderNames, ", ") + `
  orders = 1000           # or until = "1%"
  seed = 1
  title = "…"             # of a drawing

A drawing shows measurements as markers, exact averages as thin lines, and worst cases as dashed lines.
--against time draws total messages over the time until quiescence: the trade-off between the two. For the
protocols of S5, the constants of its theorem 5.1 are fitted.

Exit status: 0 success; 1 a run failed, or a file cannot be written; 3 stopped early; 64 the call was wrong.`,
		Example: `  ringleader compare lcr ring-bully peterson --n 16,64,256
  ringleader compare lcr ring-bully hirschberg-sinclair peterson higham-przytycka --n 8..1048576 --draw compared.svg
  ringleader compare lcr franklin --n 8..1024 --order increasing,decreasing,bit-reversal --csv
  ringleader compare lcr peterson --n 8..65536 --orders 1000 --out points.jsonl --json
  ringleader compare lcr peterson --n 8..65536 --orders 100000 --shard 3/16 --out part3
  ringleader compare lcr peterson --n 8..65536 --orders 100000 --nats embed
  ringleader compare lcr peterson stop-and-go-p1 stop-and-go-p2:c=2,a=3/2 stop-and-go-p3 --n 256 --against time --draw trade.png
  ringleader compare --study study.toml --draw study.svg`,
		ValidArgsFunction: func(*cobra.Command, []string, string) ([]string, cobra.ShellCompDirective) {
			return p.Algorithms.Names(), cobra.ShellCompDirectiveNoFileComp
		},
	}
	f := command.Flags()
	f.StringVarP(&o.n, "n", "n", "", "sizes: 16,64,256, or 8..1048576 by doublings")
	f.StringVar(&o.order, "order", "random", "orders of identifiers, one or several: "+strings.Join(experiment.OrderNames, ", "))
	option.Positive(f, &o.orders, "orders", "number of runs to average over, where runs are random (default: see --until)")
	f.StringVar(&o.until, "until", "1%", "average until half the confidence interval is at most this percentage of the mean")
	option.Number(f, &o.seed, "seed", "", 1, "seed of the first run of each point; further runs have the next seeds")
	f.StringVar(&o.study, "study", "", "read the comparison from this TOML file; - is stdin")
	o.Work.Define(command, p.Printer)
	f.BoolVar(&o.csv, "csv", false, "print comma-separated values")
	f.BoolVar(&o.json, "json", false, "print one JSON object")
	o.drawOptions.flags(command)
	option.Offer(command, "order", experiment.OrderNames...)
	return p.CarriesOut(&plan.Command{Command: command, Plan: func(args []string) (plan.Study, error) { return o.plan(p, command, args) }, Working: &o.Work})
}

// comparison is the study of compare.
type comparison struct {
	o         *compareOptions
	study     *experiment.Study
	measuring *experiment.Measuring
}

// plan returns the study that the flags ask for.
func (o *compareOptions) plan(p *plan.Program, command *cobra.Command, args []string) (plan.Study, error) {
	s, err := o.read(p, command, args)
	if err == nil {
		err = o.check()
	}
	if err != nil {
		return nil, err
	}
	m := s.Measuring()
	if o.Shard != "" && m.Adaptive() {
		return nil, errors.New("--shard needs --orders, the number of runs: with --until it depends on the results of all shards")
	}
	return &comparison{o, s, m}, nil
}

// read returns the study that arguments and flags, or a file, describe.
func (o *compareOptions) read(p *plan.Program, command *cobra.Command, args []string) (*experiment.Study, error) {
	given := command.Flags().Changed
	if o.study != "" {
		for _, name := range []string{"n", "order", "orders", "until", "seed"} {
			if given(name) {
				return nil, fmt.Errorf("--study describes the whole comparison; leave out --%s", name)
			}
		}
		if len(args) > 0 {
			return nil, fmt.Errorf("--study describes the whole comparison; leave out %q", args[0])
		}
		return o.readFile(p)
	}
	if o.n == "" && len(args) > 0 {
		return nil, errors.New("sizes are missing: --n 16,64,256, or --n 8..1024 by doublings")
	}
	if given("orders") && given("until") {
		return nil, errors.New("--orders is a number of runs, and --until a precision; give one of them")
	}
	s := experiment.Study{Orders: strings.Split(o.order, ","), Runs: o.orders, Seed: o.seed, Program: p.Name}
	var err error
	if o.n != "" {
		if s.Sizes, err = experiment.ParseSizes(o.n); err != nil {
			return nil, fmt.Errorf("--n: %w", err)
		}
	}
	if s.Runs == 0 {
		if s.Until, err = experiment.ParsePercent(o.until); err != nil {
			return nil, fmt.Errorf("--until: %w", err)
		}
	}
	return subjects(p, s, args)
}

// subjects completes a study by the algorithms that are named.
func subjects(p *plan.Program, s experiment.Study, labels []string) (*experiment.Study, error) {
	for _, label := range labels {
		name, _, _ := strings.Cut(label, ":")
		if _, err := p.Find(name); err != nil {
			return nil, err
		}
		subject, err := experiment.ParseSubject(p.Algorithms, label)
		if err != nil {
			return nil, err
		}
		s.Subjects = append(s.Subjects, subject)
	}
	return experiment.New(s)
}

// check returns an error for an output that cannot be written, before a long measurement.
func (o *compareOptions) check() error {
	asked := 0
	for _, wanted := range []bool{o.csv, o.json, o.draw == "-"} {
		if wanted {
			asked++
		}
	}
	if asked > 1 {
		return errors.New("stdout takes one result: one of --csv, --json and --draw -")
	}
	if err := errors.Join(o.Work.Check(), o.drawOptions.check()); err != nil || o.draw == "" || o.draw == "-" {
		return err
	}
	return report.CanReplace(o.draw)
}

// Job is that of a [plan.Study].
func (c *comparison) Job() (*labour.Assignment, error) {
	return &labour.Assignment{
		Kind: "compare", Words: func() ([]string, error) { return c.study.Words(), nil }, Task: c.measuring,
		Units: "runs", Count: c.measuring.Finished, Of: "points",
	}, nil
}

// found computes all points.
func (c *comparison) found(ctx context.Context, p *plan.Program, by labour.Doer) (*studies.Comparison, error) {
	a, err := c.Job()
	if err != nil {
		return nil, err
	}
	parts, err := by.Do(ctx, p.Printer, a)
	if exit := new(report.ExitError); err != nil && !errors.As(err, exit) {
		return nil, report.Failed("%w", err)
	}
	if err != nil {
		return nil, err
	}
	results := make([][]byte, len(parts))
	for i, part := range parts {
		results[i] = part.Result
	}
	points, err := c.measuring.Points(results...)
	if err != nil {
		return nil, err
	}
	return &studies.Comparison{Study: c.study, Points: points, Version: plan.VersionName()}, nil
}

// Answer is that of an [plan.Answerable].
func (c *comparison) Answer(ctx context.Context, p *plan.Program, by labour.Doer) (*plan.Finding, error) {
	found, err := c.found(ctx, p, by)
	if err != nil {
		return nil, err
	}
	return &plan.Finding{Results: []report.Result{found}}, nil
}

// CarryOut is that of a [plan.Study].
func (c *comparison) CarryOut(ctx context.Context, p *plan.Program, by labour.Doer) error {
	found, err := c.found(ctx, p, by)
	if err != nil {
		return err
	}
	if c.o.draw != "" {
		err = p.ToFile(c.o.draw, found.Draw(c.o.draw, &c.o.Drawing))
	}
	switch { // also if that could not be written
	case c.o.csv:
		return errors.Join(err, found.CSV(p.Out))
	case c.o.draw == "-":
		return err
	}
	return errors.Join(err, p.Print(found, c.o.json))
}
