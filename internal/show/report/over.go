//go:build !js

package report

import (
	"fmt"
	"slices"
	"time"

	"ringleader.example/ringleader/election"
	"ringleader.example/ringleader/faults"
	"ringleader.example/ringleader/internal/core/amount"
	"ringleader.example/ringleader/internal/study/tcprun"
	"ringleader.example/ringleader/simulate"
)

// milliseconds returns a duration in the results' unit.
func milliseconds(d time.Duration) float64 {
	return float64(d.Round(time.Microsecond)) / float64(time.Millisecond)
}

// OverRun is a run over real connections.
type OverRun struct {
	Subject
	Over    string // tcp or processes
	Options *tcprun.Options
	*tcprun.Result
}

// JSON returns the run for programs.
func (r *OverRun) JSON() any {
	s := r.Options
	result := append(r.identity(arranged{r.Prepared}), Field{"timing", r.Timing.String()}, Field{"over", r.Over})
	if r.Timing == election.Timed {
		result = append(result, Field{"unit_ms", milliseconds(r.Unit)},
			Field{"delay_ms", Object{{"longest", milliseconds(r.Longest)}, {"assumed", milliseconds(r.Assumed)}}})
	}
	result = append(result, Field{"seed", r.Seed}, Field{"parameters", Parameters(r.Prepared.Parameters)})
	result = append(result, votesJSON(r.Prepared)...)
	result = append(result, wakingJSON(&simulate.Options{Setup: s.Setup})...)
	result = append(result, outcomeJSON(r.Declaration, &r.Outcome)...)
	if r.Rounds != nil {
		result = append(result, Field{"time", times(r.Rounds.Elected, r.Rounds.Decided, r.Rounds.Quiet)}, Field{"markers", r.Markers})
	}
	result = append(result, Field{"elapsed_ms", Object{
		{"elected", milliseconds(r.Elapsed.Elected)}, {"decided", milliseconds(r.Elapsed.Decided)}, {"quiet", milliseconds(r.Elapsed.Quiet)},
	}})
	if b := worst(r.Prepared.Declaration(), r.Starters, len(r.Decisions), r.Disturbed); b != nil {
		result = append(result, Field{"bound", b.json(r.Messages)})
	}
	if script := (faults.Script{Dead: s.Dead}); len(s.Dead) > 0 {
		lines := script.Lines(r.Prepared)
		result = append(result, Field{"faults", lines}, Field{"lost", r.Lost})
	}
	if len(r.Faults) > 0 {
		result = append(result, Field{"violations", r.Faults})
	}
	if r.Settled {
		result = append(result, Field{"settled", true})
	}
	return append(result, Field{"complete", r.Complete})
}

// Text prints the run for people.
func (r *OverRun) Text(p *Printer) error {
	paint, w, n, s := p.Paint(), p.Out, len(r.Decisions), r.Options
	most := worst(r.Prepared.Declaration(), r.Starters, n, r.Disturbed)
	how := initiatorsOf(&r.Outcome, s.Initiators, s.AnyTime) + ", over " + r.Over
	if r.Timing == election.Timed {
		how += fmt.Sprintf(", a unit is %s", r.Unit)
	}
	fmt.Fprintf(w, "%s · %s · %s\n", paint.Text(Bold, r.Title), networkOf(r.Declaration, r.Timing, n), r.Source)
	p.underTitle(lineUp(r.Declaration, arranged{r.Prepared}, func(q int) bool { return slices.Contains(r.Dead, q) }), fmt.Sprintf("%s, seed %d", how, r.Seed))
	verdict, colour := verdict(r.Prepared.Declaration(), &r.Outcome)
	fmt.Fprintln(w, paint.Text(colour, verdict))
	after := fmt.Sprintf("   in %s", r.Elapsed.Quiet.Round(time.Microsecond))
	if r.Rounds != nil {
		after += " and " + amount.Of(r.Rounds.Quiet, "round")
	}
	p.tally(r.Prepared)
	names := counts(w, r.Declaration, most, r.Messages, after)
	if r.Rounds != nil {
		fmt.Fprintf(w, "  %-*s %*d   of the synchroniser, one per round and link\n", names, "markers", 6, r.Markers)
	}
	if r.Lost > 0 {
		fmt.Fprintf(w, "  %-*s %*d   sent to crashed processes\n", names, "lost", 6, r.Lost)
	}
	if !r.Complete {
		fmt.Fprintln(w, "not ended")
	}
	if r.Longest > r.Assumed {
		fmt.Fprintf(w, "  a message took %s to be delivered and handled, longer than the assumed %s; use a longer --unit\n",
			r.Longest.Round(time.Microsecond), r.Assumed)
	}
	if r.Settled {
		fmt.Fprintln(w, "  its timers never stop; no process decided or sent anything new for twice the longest timer")
	}
	for _, fault := range r.Faults {
		fmt.Fprintln(w, paint.Text(Red, fault))
	}
	return nil
}
