package cli

import (
	"context"
	"fmt"

	"github.com/spf13/cobra"

	"ringleader.example/ringleader/catalogue"
	"ringleader.example/ringleader/count"
	"ringleader.example/ringleader/internal/report"
)

func (p *program) count() *cobra.Command {
	var in input
	var awake waking
	var asJSON bool
	command := &cobra.Command{
		Use:     "count ALGORITHM",
		GroupID: groupStudy,
		Short:   "Count the exact cost of an election, without simulating it",
		Long: `Count the exact cost of an election, by closed forms that are tested to be equal to simulation. All
processes initiate first, unless a synchronous election has --wake. Times are for unit delays. For a
comparison-based algorithm the ring is not stored, so n may be 10⁹.`,
		Example: `  ringleader count lcr --n 1000000 --order random --seed 7
  ringleader count ring-bully --n 1000000000 --order random
  ringleader count lcr --ids 5,4,3,2,1 --json
  ringleader count stop-and-go-p4 --ids 4,2,5,3 --wake 0,-,3,- --unwilling 2`,
		RunE: func(command *cobra.Command, args []string) error {
			e, err := p.oneAlgorithm(command, args)
			if err != nil {
				return err
			}
			return p.exact(command.Context(), e, &in, &awake, asJSON)
		},
	}
	in.flags(command, p)
	command.ValidArgsFunction = p.oneOf(func(e *catalogue.Entry) bool { return e.Count != nil })
	awake.flags(command)
	command.Flags().BoolVar(&asJSON, "json", false, "print one JSON object")
	return command
}

func (p *program) exact(ctx context.Context, e *catalogue.Entry, in *input, awake *waking, asJSON bool) error {
	if e.Count == nil {
		return fmt.Errorf("there is no closed form for %s; %s run simulates it", e.Name, p.Name)
	}
	in.streamed = true
	i, err := in.instance(e)
	if err != nil {
		return err
	}
	awake.atAnyTime(e.Declaration, "", i.Parameters)
	set, err := e.Set(i.Parameters)
	if err != nil {
		return err
	}
	woken, how, err := awake.woken(e, e.With(set), i)
	if err != nil {
		return err
	}
	bar := p.Progress()
	r, err := e.Count(ctx, woken, set, func(done, of int) { bar.Show("%d of %d million", done/1_000_000, of/1_000_000) })
	bar.Done()
	if ctx.Err() != nil {
		return report.Stopped("stopped before the end")
	}
	if err != nil {
		return err
	}
	found := &report.Count{Subject: in.subject(e), IDs: i.IDs, Parameters: set, How: how, Result: r}
	found.Start = awake.startWord(found.Start)
	if w, given := woken.(count.Woken); given {
		found.Waking.Instance = i
		if found.Waking.Instance.Unwilling = w.Unwilling; awake.wake != "" {
			found.Waking.Wake = w.Wake
		}
	}
	return p.Print(found, asJSON)
}
