package study

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"ringleader.example/ringleader/catalogue"
	"ringleader.example/ringleader/count"
	"ringleader.example/ringleader/election"
	"ringleader.example/ringleader/internal/cli/labour"
	"ringleader.example/ringleader/internal/cli/option"
	"ringleader.example/ringleader/internal/cli/plan"
	"ringleader.example/ringleader/internal/show/report"
	"ringleader.example/ringleader/internal/study/work"
	"ringleader.example/ringleader/network"
)

type countOptions struct {
	plan.Input
	plan.Waking
	labour.Work
	json bool
}

// Count returns the command that counts exact costs.
func Count(p *plan.Program) *plan.Command {
	var o countOptions
	command := &cobra.Command{
		Use:     "count ALGORITHM",
		GroupID: option.GroupStudy,
		Short:   "Count the exact cost of an election, without simulating it",
		Long: `Count the exact cost of an election, by closed forms that are tested to be equal to simulation. All
processes initiate first, unless a synchronous election has --wake. Times are for unit delays. For a
comparison-based algorithm the ring is not stored, so n may be 10⁹.

A large ring is read by ranges of positions, on all cores. With --out what is known of them is kept
on disk: if the count is interrupted, the same command continues it. --shard counts one part of
several; ringleader merge joins them. Some algorithms need one pass from end to end instead:
higham-przytycka, dolev-klawe-rodeh-b and the synchronous ones of which the smallest identifier wins.`,
		Example: `  ringleader count lcr --n 1000000 --order random --seed 7
  ringleader count ring-bully --n 1000000000 --order random
  ringleader count lcr --ids 5,4,3,2,1 --json
  ringleader count franklin --n 4000000000 --order random --out ranges
  ringleader count stop-and-go-p4 --ids 4,2,5,3 --wake 0,-,3,- --unwilling 2`,
	}
	o.Input.Flags(command, p)
	command.ValidArgsFunction = p.OneOf(func(e *catalogue.Entry) bool { return e.Count != nil })
	o.Waking.Flags(command)
	o.Work.Define(command, p.Printer)
	command.Flags().BoolVar(&o.json, "json", false, "print one JSON object")
	return p.CarriesOut(&plan.Command{Command: command, Plan: func(args []string) (plan.Study, error) { return o.plan(p, command, args) }, Working: &o.Work})
}

// counting is the study of count.
type counting struct {
	e     *catalogue.Entry
	o     *countOptions
	setup network.Setup
	set   election.Parameters
	ids   election.Arrangement // as they wake
	how   string               // in words
	flags *pflag.FlagSet
}

// plan returns the study that the flags ask for.
func (o *countOptions) plan(p *plan.Program, command *cobra.Command, args []string) (plan.Study, error) {
	e, err := p.OneAlgorithm(command, args)
	if err != nil {
		return nil, err
	}
	if e.Count == nil {
		return nil, fmt.Errorf("there is no closed form for %s; %s run simulates it", e.Name, p.Name)
	}
	c := &counting{e: e, o: o, flags: command.Flags()}
	o.Streamed = true
	if c.setup, err = o.Setup(e); err != nil {
		return nil, err
	}
	o.AtAnyTime(e.Declaration, "", c.setup.Parameters)
	if c.set, err = e.Set(c.setup.Parameters); err != nil {
		return nil, err
	}
	c.ids, c.how, err = o.Woken(e, e.With(c.set), c.setup)
	return c, err
}

// Job is that of a [plan.Study].
func (c *counting) Job() (*labour.Assignment, error) {
	ranges, err := c.ranges()
	if err != nil {
		return nil, err
	}
	return c.all(ranges), nil
}

// Answer is that of an [plan.Answerable].
func (c *counting) Answer(ctx context.Context, p *plan.Program, by labour.Doer) (*plan.Finding, error) {
	r, err := c.counted(ctx, p, by)
	if err != nil {
		return nil, err
	}
	found := &report.Count{Subject: c.o.Subject(c.e), IDs: c.setup.IDs, Parameters: c.set, How: c.how, Result: r}
	found.Start = c.o.StartWord(found.Start)
	if w, given := c.ids.(count.Woken); given {
		found.Waking.Setup = c.setup
		if found.Waking.Setup.Unwilling = w.Unwilling; c.o.Wake != "" {
			found.Waking.Wake = w.Wake
		}
	}
	return &plan.Finding{Results: []report.Result{found}}, nil
}

// CarryOut is that of a [plan.Study].
func (c *counting) CarryOut(ctx context.Context, p *plan.Program, by labour.Doer) error {
	found, err := c.Answer(ctx, p, by)
	if err != nil {
		return err
	}
	return p.Print(found.Results[0], c.o.json)
}

// longRing is the size from which on a count takes long enough to be work in pieces.
const longRing = 1 << 22

// counted counts, a large ring by ranges.
func (c *counting) counted(ctx context.Context, p *plan.Program, by labour.Doer) (*count.Result, error) {
	if !by.Keeps() && (c.e.Ranges == nil || c.ids.Len() < longRing) {
		bar := p.Progress()
		r, err := c.e.Count(ctx, c.ids, c.set, func(done, of int) { bar.Show("%d of %d million", done/1_000_000, of/1_000_000) })
		bar.Done()
		if ctx.Err() != nil {
			return nil, report.Stopped("stopped before the end")
		}
		return r, err
	}
	ranges, err := c.ranges()
	if err != nil {
		return nil, err
	}
	parts, err := by.Do(ctx, p.Printer, c.all(ranges))
	if err != nil {
		return nil, err
	}
	whole := new(count.Range)
	if err := json.Unmarshal(parts[0].Result, whole); err != nil { // adjacent parts are joined
		return nil, err
	}
	r, err := ranges.Result(whole)
	if err != nil {
		return nil, report.Failed("%w", err)
	}
	return r, nil
}

// ranges returns the ring as ranges of positions.
func (c *counting) ranges() (*count.Ranges, error) {
	if c.e.Ranges == nil {
		return nil, fmt.Errorf("the count of %s is one pass over the ring, and has no parts; leave out --out, --shard and --nats", c.e.Name)
	}
	return c.e.Ranges(c.ids, c.set)
}

// all is the count of all ranges as work.
func (c *counting) all(ranges *count.Ranges) *labour.Assignment {
	return &labour.Assignment{
		Kind: "count", Task: countRanges{ranges}, Units: "positions",
		Words: func() ([]string, error) { return plan.JobWords("count", []string{c.e.Name}, c.flags) },
	}
}

// countRanges is a count as work whose units are positions of a ring.
type countRanges struct{ *count.Ranges }

// Units is that of a [work.Task].
func (c countRanges) Units() uint64 { return c.Len() }

// Compute is that of a [work.Task].
func (c countRanges) Compute(ctx context.Context, p work.Piece) ([]byte, error) {
	known, err := c.Read(ctx, p.From, p.To)
	if err != nil {
		return nil, err
	}
	return json.Marshal(known)
}

// Check is that of a [work.Picky].
func (c countRanges) Check(p work.Piece, result []byte) error {
	known := new(count.Range)
	if err := json.Unmarshal(result, known); err != nil {
		return err
	}
	return c.Ranges.Check(known, p.From, p.To)
}

// Join is that of a [work.Task].
func (c countRanges) Join(first, second []byte) ([]byte, error) {
	var a, b count.Range
	if err := errors.Join(json.Unmarshal(first, &a), json.Unmarshal(second, &b)); err != nil {
		return nil, err
	}
	if err := c.Ranges.Join(&a, &b); err != nil {
		return nil, err
	}
	return json.Marshal(&a)
}
