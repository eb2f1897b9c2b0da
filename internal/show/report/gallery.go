package report

import (
	"fmt"

	"ringleader.example/ringleader/internal/core/amount"
	"ringleader.example/ringleader/internal/study/gallery"
	"ringleader.example/ringleader/trace"
)

// Gallery is what the checker found about elections that are broken on purpose.
type Gallery struct {
	Program string // what the program is called in a shell
	Found   []gallery.Outcome
	Story   bool // of the only one
}

// missed counts the elections whose violation was not found.
func (r *Gallery) missed() (missed int) {
	for i := range r.Found {
		if !r.Found[i].Caught() {
			missed++
		}
	}
	return missed
}

// Err returns [ErrNo] if a violation was not found.
func (r *Gallery) Err() error {
	if r.missed() > 0 {
		return ErrNo
	}
	return nil
}

// property is what was found.
func property(o *gallery.Outcome) string {
	if o.Violation == nil {
		return "nothing"
	}
	return o.Violation.Property
}

// JSON returns what was found for programs.
func (r *Gallery) JSON() any {
	all := []Object{}
	for i := range r.Found {
		o := &r.Found[i]
		one := Object{{"name", o.Name}, {"broken", o.Broken}, {"listed", o.Property}, {"found", property(o)}, {"caught", o.Caught()}, {"states", o.States}}
		if o.Report.Walks > 0 {
			one = append(one, Field{"walks", o.Report.Walks})
		}
		if o.Violation != nil {
			one = append(one, violationJSON(o.Violation.Property, o.Violation.Detail, &o.Violation.Record))
		}
		all = append(all, one)
	}
	return Object{{"gallery", all}, {"caught", len(r.Found) - r.missed()}}
}

// Text prints what was found for people.
func (r *Gallery) Text(p *Printer) error {
	w, paint := p.Out, p.Paint()
	for i := range r.Found {
		o := &r.Found[i]
		mark := paint.Text(Green, "caught")
		if !o.Caught() {
			mark = paint.Text(Red, "missed, listed as "+o.Exhibit.Property)
		}
		fmt.Fprintf(w, "%s · %s\n  broken  %s\n  found   %s", paint.Text(Bold, o.Name), mark, o.Broken, property(o))
		if v := o.Violation; v != nil {
			fmt.Fprintf(w, ", %s", amount.Of(len(v.Record.Steps), "step"))
		}
		switch {
		case o.Runner != nil:
			fmt.Fprint(w, ", in a simulated run\n")
		case o.Report.Walks > 0:
			fmt.Fprintf(w, ", in %s\n", amount.Of(o.Report.Walks, "random walk"))
		default:
			fmt.Fprintf(w, ", %s\n", amount.Of(o.States, "state"))
		}
		if o.Command != "" {
			fmt.Fprintf(w, "  same    %s verify %s\n", r.Program, o.Command)
		}
		if r.Story && o.Violation != nil {
			fmt.Fprintf(w, "\n%s: %s\n", paint.Text(Red, o.Violation.Property), o.Violation.Detail)
			if err := o.Violation.Record.Tell(w, trace.Telling{Width: p.Width()}); err != nil {
				return err
			}
		}
	}
	if !r.Story {
		fmt.Fprintf(w, "\n%d of %d are caught as listed\n", len(r.Found)-r.missed(), len(r.Found))
	}
	return nil
}
