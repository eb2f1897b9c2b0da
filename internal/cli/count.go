package cli

import (
	"context"
	"fmt"
	"strings"

	"github.com/spf13/cobra"

	"ringleader.example/ringleader/catalogue"
	"ringleader.example/ringleader/count"
	"ringleader.example/ringleader/election"
	"ringleader.example/ringleader/network"
	"ringleader.example/ringleader/outcome"
	"ringleader.example/ringleader/simulate"
)

func (p *program) count() *cobra.Command {
	var in input
	var awake waking
	var asJSON bool
	command := &cobra.Command{
		Use:     "count ALGORITHM",
		GroupID: groupStudy,
		Short:   "Say exactly what an election costs, without simulating it",
		Long: `Say exactly what an election costs, by closed forms that are tested to be equal to simulation.
All processes start first, unless a synchronous election has --wake; times are those of unit delays. Where
identifiers are only compared, the ring is never stored, so n may be 10⁹.`,
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
	in.flags(command, p.algorithms)
	awake.flags(command)
	command.Flags().BoolVar(&asJSON, "json", false, "print one JSON object")
	return command
}

func (p *program) exact(ctx context.Context, e *catalogue.Entry, in *input, awake *waking, asJSON bool) error {
	if e.Count == nil {
		known := e.List().Where(func(other *catalogue.Entry) bool { return other.Count != nil })
		return fmt.Errorf("there is no closed form for %s; count knows %s, and run simulates all", e.Name, strings.Join(known, ", "))
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
	claims := e.With(set)
	woken, how, err := awake.woken(e, claims, i)
	if err != nil {
		return err
	}
	bar := p.progress()
	r, err := e.Count(ctx, woken, set, func(done, of int) { bar.show("%d of %d million", done/1_000_000, of/1_000_000) })
	bar.done()
	if ctx.Err() != nil {
		return exitError{exitIncomplete, fmt.Errorf("stopped before the end")}
	}
	if err != nil {
		return err
	}
	n := i.IDs.Len()
	if asJSON {
		result := append(identity(e, in, i.IDs),
			field{"timing", e.Timing.String()}, field{"seed", in.seed}, field{"parameters", parameters(set)})
		if w, given := woken.(count.Woken); given {
			s := simulate.Options{Instance: i}
			if s.Instance.Unwilling = w.Unwilling; awake.wake != "" {
				s.Wake = w.Wake
			}
			result = append(result, wakingJSON(&s)...)
		}
		result = append(result, outcomeJSON(e.Declaration, counted(i.IDs, claims, r))...)
		if r.Time != nil {
			result = append(result, field{"time", times(r.Time.Elected, r.Time.Decided, r.Time.Quiet)})
		}
		if b := worst(claims, n, false); b != nil {
			result = append(result, field{"bound", bound(b, r.Messages, n)})
		}
		return p.print(append(result, field{"complete", true}))
	}
	paint := p.paintOn(p.stdout)
	fmt.Fprintf(p.stdout, "%s · %s · %s\n", paint.text(bold, e.Title), networkOf(e.Declaration, e.Timing, n), e.Source)
	p.underTitle(lineUp(e.Declaration, i.IDs, func(int) bool { return false }), fmt.Sprintf("%s, counted exactly, seed %d", how, in.seed))
	fmt.Fprintf(p.stdout, "leader %d, at position %d\n", r.Leader, r.Position)
	after := ""
	if r.Time != nil {
		after = fmt.Sprintf("   in %s units of delay", r.Time.Quiet)
	}
	counts(p.stdout, e.Declaration, worst(claims, n, false), r.Messages, n, after)
	if b := claims.Bound(election.Average); b != nil && n > 1 {
		fmt.Fprintf(p.stdout, "\non average over all orders %.6g %s messages: %s\n", b.Mean(uint64(n)), b.Of, b.Formula)
	}
	return nil
}

// counted is the outcome of an election that was counted.
func counted(ids election.Arrangement, claims *election.Declaration, r *count.Result) *outcome.Outcome {
	n := ids.Len()
	v := network.Verdict{Leaders: []int{r.Position}, Live: n, Decided: n, Agreed: true, Right: true}
	if claims.Decides == election.LeaderOnly {
		v.Decided = 1
	}
	return &outcome.Outcome{IDs: ids, Verdict: v, Starters: n, Messages: r.Messages, ByPhase: r.ByPhase, Complete: true}
}
