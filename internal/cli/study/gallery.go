package study

import (
	"context"
	"fmt"
	"slices"
	"strings"

	"ringleader.example/ringleader/internal/cli/labour"
	"ringleader.example/ringleader/internal/cli/plan"
	"ringleader.example/ringleader/internal/show/report"
	"ringleader.example/ringleader/internal/study/gallery"
)

// tour is the study of elections that are broken on purpose.
type tour struct {
	exhibits []gallery.Exhibit
	o        *plan.Results
	story    bool // of the only one
}

// planGallery plans a tour of all exhibits, or of those that are named.
func (o *verifyOptions) planGallery(p *plan.Program, names []string) (plan.Study, error) {
	exhibits := gallery.All()
	if len(names) > 0 {
		var chosen []gallery.Exhibit
		for _, name := range names {
			at := slices.IndexFunc(exhibits, func(e gallery.Exhibit) bool { return strings.EqualFold(e.Name, name) })
			if at < 0 {
				return nil, fmt.Errorf("the gallery has no %q; %s verify --gallery lists all", name, p.Name)
			}
			chosen = append(chosen, exhibits[at])
		}
		exhibits = chosen
	}
	if err := o.Results.Check(); err != nil {
		return nil, err
	}
	if o.Recorded() && len(exhibits) != 1 {
		return nil, fmt.Errorf("a drawing and a trace are of one election; name it: %s verify --gallery NAME", p.Name)
	}
	return &tour{exhibits, &o.Results, len(names) == 1}, nil
}

// Job is that of a [plan.Study].
func (*tour) Job() (*labour.Assignment, error) { return nil, plan.ErrNoJob }

// CarryOut is that of a [plan.Study].
func (t *tour) CarryOut(ctx context.Context, p *plan.Program, _ labour.Doer) error {
	shown := &report.Gallery{Program: p.Name, Story: t.story}
	found := &plan.Finding{Results: []report.Result{shown}}
	bar := p.Progress()
	for outcome, err := range gallery.Verify(t.exhibits) {
		if err != nil {
			return err
		}
		if outcome.Violation != nil {
			found.Record = &outcome.Violation.Record
		}
		shown.Found = append(shown.Found, outcome)
		bar.Show("%d of %d", len(shown.Found), len(t.exhibits))
		if ctx.Err() != nil {
			bar.Done()
			return report.Stopped("stopped after %d of %d", len(shown.Found), len(t.exhibits))
		}
	}
	bar.Done()
	if err := t.o.Put(p, found); err != nil {
		return err
	}
	return shown.Err()
}
