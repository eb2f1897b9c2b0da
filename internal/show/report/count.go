package report

import (
	"fmt"

	"ringleader.example/ringleader/count"
	"ringleader.example/ringleader/election"
	"ringleader.example/ringleader/internal/core/amount"
	"ringleader.example/ringleader/network"
	"ringleader.example/ringleader/outcome"
	"ringleader.example/ringleader/simulate"
)

// Count is an election whose cost was counted.
type Count struct {
	Subject
	IDs        election.Arrangement
	Parameters election.Parameters
	How        string           // how it begins
	Waking     simulate.Options // wake-up times and unwilling processes, if given
	*count.Result
}

// JSON returns the costs for programs.
func (r *Count) JSON() any {
	claims, n := r.With(r.Parameters), r.IDs.Len()
	result := append(r.identity(r.IDs),
		Field{"timing", r.Timing.String()}, Field{"seed", r.Seed}, Field{"parameters", Parameters(r.Parameters)})
	result = append(result, wakingJSON(&r.Waking)...)
	result = append(result, outcomeJSON(r.Declaration, r.outcome(claims))...)
	if r.Entered != nil {
		result = append(result, Field{"entered_by_phase", r.Entered})
	}
	if r.Time != nil {
		result = append(result, Field{"time", times(r.Time.Elected, r.Time.Decided, r.Time.Quiet)})
	}
	if b := worst(claims, n, n, false); b != nil {
		result = append(result, Field{"bound", b.json(r.Messages)})
	}
	return append(result, Field{"complete", true})
}

// Text prints the costs for people.
func (r *Count) Text(p *Printer) error {
	claims, n := r.With(r.Parameters), r.IDs.Len()
	most := worst(claims, n, n, false)
	fmt.Fprintf(p.Out, "%s · %s · %s\n", p.Paint().Text(Bold, r.Title), networkOf(r.Declaration, r.Timing, n), r.Source)
	p.underTitle(lineUp(r.Declaration, r.IDs, func(int) bool { return false }), fmt.Sprintf("%s, counted exactly, seed %d", r.How, r.Seed))
	fmt.Fprintf(p.Out, "leader %d, at position %d\n", r.Leader, r.Position)
	after := ""
	if r.Time != nil {
		after = "   in " + amount.Of(r.Time.Quiet, "unit") + " of delay"
	}
	counts(p.Out, r.Declaration, most, r.Messages, after)
	if b := claims.Bound(election.Average); b != nil && n > 1 {
		fmt.Fprintf(p.Out, "\non average over all orders %.6g %s messages: %s\n", b.Mean(uint64(n)), b.Of, b.Formula)
	}
	return nil
}

// outcome returns the outcome of an election without faults.
func (r *Count) outcome(claims *election.Declaration) *outcome.Outcome {
	n := r.IDs.Len()
	v := network.Verdict{Leaders: []int{r.Position}, Live: n, Decided: n, Agreed: true, Right: true}
	if claims.Decides == election.LeaderOnly {
		v.Decided = 1
	}
	return &outcome.Outcome{IDs: r.IDs, Verdict: v, Starters: n, Messages: r.Messages, ByPhase: r.ByPhase, Complete: true}
}
