package cli

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"

	"github.com/spf13/cobra"

	"ringleader.example/ringleader/catalogue"
	"ringleader.example/ringleader/count"
	"ringleader.example/ringleader/election"
	"ringleader.example/ringleader/internal/show/report"
	"ringleader.example/ringleader/internal/study/work"
)

type countOptions struct {
	input
	waking
	working
	json bool
}

func (p *program) count() *cobra.Command {
	var o countOptions
	command := &cobra.Command{
		Use:     "count ALGORITHM",
		GroupID: groupStudy,
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
		RunE: func(command *cobra.Command, args []string) error {
			e, err := p.oneAlgorithm(command, args)
			if err != nil {
				return err
			}
			return p.exact(command, e, &o)
		},
	}
	o.input.flags(command, p)
	command.ValidArgsFunction = p.oneOf(func(e *catalogue.Entry) bool { return e.Count != nil })
	o.waking.flags(command)
	o.working.flags(command, p)
	command.Flags().BoolVar(&o.json, "json", false, "print one JSON object")
	return command
}

func (p *program) exact(command *cobra.Command, e *catalogue.Entry, o *countOptions) error {
	if e.Count == nil {
		return fmt.Errorf("there is no closed form for %s; %s run simulates it", e.Name, p.Name)
	}
	o.streamed = true
	i, err := o.instance(e)
	if err != nil {
		return err
	}
	o.atAnyTime(e.Declaration, "", i.Parameters)
	set, err := e.Set(i.Parameters)
	if err != nil {
		return err
	}
	woken, how, err := o.woken(e, e.With(set), i)
	if err != nil {
		return err
	}
	r, err := p.counted(command, e, woken, set, o)
	if err != nil {
		return err
	}
	found := &report.Count{Subject: o.subject(e), IDs: i.IDs, Parameters: set, How: how, Result: r}
	found.Start = o.startWord(found.Start)
	if w, given := woken.(count.Woken); given {
		found.Waking.Instance = i
		if found.Waking.Instance.Unwilling = w.Unwilling; o.wake != "" {
			found.Waking.Wake = w.Wake
		}
	}
	return p.Print(found, o.json)
}

// longRing is the size from which on a count takes long enough to be work in pieces.
const longRing = 1 << 22

// counted counts, a large ring by ranges.
func (p *program) counted(command *cobra.Command, e *catalogue.Entry, ids election.Arrangement, set election.Parameters, o *countOptions) (*count.Result, error) {
	ctx, asked := command.Context(), o.kept() != "" || p.opened != nil || p.repeated != nil
	if asked && e.Ranges == nil {
		return nil, fmt.Errorf("the count of %s is one pass over the ring, and has no parts; leave out --out, --shard and --nats", e.Name)
	}
	if e.Ranges == nil || !asked && ids.Len() < longRing {
		bar := p.Progress()
		r, err := e.Count(ctx, ids, set, func(done, of int) { bar.Show("%d of %d million", done/1_000_000, of/1_000_000) })
		bar.Done()
		if ctx.Err() != nil {
			return nil, report.Stopped("stopped before the end")
		}
		return r, err
	}
	ranges, err := e.Ranges(ids, set)
	if err != nil {
		return nil, err
	}
	parts, err := p.work(ctx, assignment{
		working: &o.working, kind: "count", task: countRanges{ranges}, units: "positions",
		words: func() ([]string, error) { return jobWords("count", []string{e.Name}, command.Flags()) },
	})
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
