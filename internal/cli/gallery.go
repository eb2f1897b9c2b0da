package cli

import (
	"context"
	"fmt"
	"slices"
	"strings"

	"ringleader.example/ringleader/internal/show/report"
	"ringleader.example/ringleader/internal/study/gallery"
	"ringleader.example/ringleader/trace"
)

// gallery checks elections that are broken on purpose: all, or those that are named.
func (p *program) gallery(ctx context.Context, names []string, o *results) error {
	exhibits := gallery.All()
	if len(names) > 0 {
		var chosen []gallery.Exhibit
		for _, name := range names {
			at := slices.IndexFunc(exhibits, func(e gallery.Exhibit) bool { return strings.EqualFold(e.Name, name) })
			if at < 0 {
				return fmt.Errorf("the gallery has no %q; %s verify --gallery lists all", name, p.Name)
			}
			chosen = append(chosen, exhibits[at])
		}
		exhibits = chosen
	}
	if err := o.check(); err != nil {
		return err
	}
	if o.recorded() && len(exhibits) != 1 {
		return fmt.Errorf("a drawing and a trace are of one election; name it: %s verify --gallery NAME", p.Name)
	}
	found := &report.Gallery{Program: p.Name, Story: len(names) == 1}
	var record *trace.Record
	bar := p.Progress()
	for outcome, err := range gallery.Verify(exhibits) {
		if err != nil {
			return err
		}
		if outcome.Violation != nil {
			record = &outcome.Violation.Record
		}
		found.Found = append(found.Found, outcome)
		bar.Show("%d of %d", len(found.Found), len(exhibits))
		if ctx.Err() != nil {
			bar.Done()
			return report.Stopped("stopped after %d of %d", len(found.Found), len(exhibits))
		}
	}
	bar.Done()
	if err := o.put(p, record, found); err != nil {
		return err
	}
	return found.Err()
}
