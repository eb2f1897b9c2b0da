package report

import (
	"fmt"

	"ringleader.example/ringleader/election"
	"ringleader.example/ringleader/network"
	"ringleader.example/ringleader/simulate"
	"ringleader.example/ringleader/trace"
)

// Broken is a run that ended because a step broke the contract of package election.
type Broken struct {
	Subject
	Prepared *network.Instance
	*simulate.Violation
}

// ids returns the arrangement of the run, which Burns' adversary may change.
func (r *Broken) ids() election.Arrangement {
	if r.Record != nil && len(r.Record.IDs) > 0 {
		return election.List(r.Record.IDs)
	}
	return arranged{r.Prepared}
}

// JSON returns the run for programs.
func (r *Broken) JSON() any {
	result := append(r.identity(r.ids()), Field{"seed", r.Seed}, Field{"parameters", Parameters(r.Prepared.Parameters)})
	return append(result, violationJSON(r.Property, r.Detail, r.Record), Field{"complete", false})
}

// Text prints the run up to the step that broke the contract.
func (r *Broken) Text(p *Printer) error {
	paint, w := p.Paint(), p.Out
	fmt.Fprintf(w, "%s · %s · %s\n", paint.Text(Bold, r.Title), networkOf(r.Declaration, r.Timing, r.Prepared.Size()), r.Source)
	fmt.Fprintf(w, "  %s\n\n%s: %s\n", lineUp(r.Declaration, r.ids(), func(int) bool { return false }), paint.Text(Red, r.Property), r.Detail)
	if r.Record == nil {
		return nil
	}
	return r.Record.Tell(w, trace.Telling{Width: p.Width()})
}

// violationJSON returns the JSON of a run that violates a property.
func violationJSON(property, detail string, record *trace.Record) Field {
	violation := Object{{"property", property}, {"detail", detail}}
	if record != nil {
		violation = append(violation, Field{"ids", record.IDs}, Field{"steps", record.Steps})
	}
	return Field{"violation", violation}
}
