package prove

import (
	"fmt"
	"strings"
)

// Record is what was proved of a model, and by which solvers.
type Record struct {
	Hash string // of the plan
	Runs []Run
}

// Run is a solver that has proved all obligations.
type Run struct {
	Solver, Version string
	Proved, Kept    int
	Seconds         float64
}

// String returns the record as text, for a file.
func (r *Record) String() string {
	var b strings.Builder
	fmt.Fprintf(&b, "model %s\n", r.Hash)
	for _, run := range r.Runs {
		fmt.Fprintf(&b, "%s %s proved %d kept %d seconds %.1f\n", run.Solver, run.Version, run.Proved, run.Kept, run.Seconds)
	}
	return b.String()
}

// ParseRecord reads a record.
func ParseRecord(text string) (*Record, error) {
	lines := strings.Split(strings.TrimSpace(text), "\n")
	r := &Record{}
	if _, err := fmt.Sscanf(lines[0], "model %64s", &r.Hash); err != nil {
		return nil, fmt.Errorf("a record begins with the hash of its model, not with %q", lines[0])
	}
	for _, line := range lines[1:] {
		var run Run
		if _, err := fmt.Sscanf(line, "%s %s proved %d kept %d seconds %f", &run.Solver, &run.Version, &run.Proved, &run.Kept, &run.Seconds); err != nil {
			return nil, fmt.Errorf("%q is no line of a record", line)
		}
		r.Runs = append(r.Runs, run)
	}
	return r, nil
}

// Covers returns an error unless the record is of this plan and some solver has proved it.
func (r *Record) Covers(p *Plan) error {
	switch {
	case r.Hash != p.Hash():
		return fmt.Errorf("%s has changed since it was proved", p.Model.Name)
	case len(r.Runs) == 0:
		return fmt.Errorf("no solver has proved %s", p.Model.Name)
	}
	for _, run := range r.Runs {
		if run.Proved != p.Proved() || run.Kept != p.Kept {
			return fmt.Errorf("%s has %d obligations, and %s has proved %d", p.Model.Name, p.Proved(), run.Solver, run.Proved)
		}
	}
	return nil
}
