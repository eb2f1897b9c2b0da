package prove

import (
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"slices"
	"strings"

	"ringleader.example/ringleader/internal/study/logic"
)

// Record is what was proved of a model, and by which solvers.
type Record struct {
	Hash   string // of the plan
	Claims string // see [Claims]; "": none were recorded
	Runs   []Run
}

// Claims returns a digest of what is claimed with a proof, in words: the theorem, the source, the code and what ties the model to it, the
// assumptions, and what each proved formula means. No solver reads them, so a change of them needs a reader.
func Claims(m *logic.Model) string {
	sum := sha256.New()
	say := func(texts ...string) { fmt.Fprintf(sum, "%q\n", texts) }
	say(m.Name, m.Title, m.Theorem, m.Source, m.Code)
	for _, a := range m.Assumptions {
		say("assumption", a.Name, a.Words, a.Holds, a.Breaks)
	}
	for _, f := range slices.Concat(m.Invariants, m.Lemmas, m.Safety, m.Steps) {
		say("formula", f.Name, f.Words)
	}
	for _, t := range m.Ties {
		say("tie", t.Kind, t.Folder, t.Test)
	}
	return hex.EncodeToString(sum.Sum(nil))
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
	if r.Claims != "" {
		fmt.Fprintf(&b, "claims %s\n", r.Claims)
	}
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
	lines = lines[1:]
	if len(lines) > 0 && strings.HasPrefix(lines[0], "claims ") {
		r.Claims, lines = strings.TrimSpace(strings.TrimPrefix(lines[0], "claims ")), lines[1:]
	}
	for _, line := range lines {
		var run Run
		if _, err := fmt.Sscanf(line, "%s %s proved %d kept %d seconds %f", &run.Solver, &run.Version, &run.Proved, &run.Kept, &run.Seconds); err != nil {
			return nil, fmt.Errorf("%q is no line of a record", line)
		}
		r.Runs = append(r.Runs, run)
	}
	return r, nil
}

// Covers returns an error unless the record is of this plan and of what its model claims, and some solver has proved it.
func (r *Record) Covers(p *Plan) error {
	switch {
	case r.Hash != p.Hash():
		return fmt.Errorf("%s has changed since it was proved", p.Model.Name)
	case r.Claims != Claims(p.Model):
		return fmt.Errorf("what %s claims in words has changed since it was proved", p.Model.Name)
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
