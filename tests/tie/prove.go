package tie

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"time"

	"ringleader.example/ringleader/internal/study/prove"
)

// Result is what a solver has found of a tie.
type Result struct {
	Proved int           // parts
	Open   []string      // those that are not proved, with their paths and what the solver says
	Used   time.Duration // of processors
}

// Parts returns how many parts there are to prove.
func (t *Tie) Parts() (count int) {
	for _, p := range t.Paths {
		count += len(p.Parts)
	}
	return count
}

// Hash returns a digest of what is to be proved: of terms, and not of words, comments and lines. It depends on the code, on its
// correspondence and on the model.
func (t *Tie) Hash() (string, error) {
	sum := sha256.New()
	for _, p := range t.Paths {
		plan, err := t.Plan(p, false)
		if err != nil {
			return "", err
		}
		sum.Write([]byte(plan.Hash()))
	}
	return hex.EncodeToString(sum.Sum(nil)), nil
}

// Prove asks a solver for each part of each path. With First it ends at the first that is not proved.
func (t *Tie) Prove(ctx context.Context, s *prove.Solver, o prove.Options) (*Result, error) {
	r := &Result{}
	for _, p := range t.Paths {
		plan, err := t.Plan(p, false)
		if err != nil {
			return nil, err
		}
		found, err := s.Prove(ctx, plan, o)
		if err != nil {
			return nil, err
		}
		r.Used += found.Used
		for i, a := range found.Answers[1:] {
			if a.Verdict == prove.Proved {
				r.Proved++
				continue
			}
			r.Open = append(r.Open, fmt.Sprintf("%s: %s: %v", p, p.Parts[i].Name, a.Verdict))
			if o.First {
				return r, nil
			}
		}
	}
	return r, nil
}

// Record returns the record of the solvers that have proved a tie.
func (t *Tie) Record() (*prove.Record, error) {
	hash, err := t.Hash()
	return &prove.Record{Hash: hash}, err
}

// Covers returns an error unless a record is of this tie and some solver has proved it.
func (t *Tie) Covers(r *prove.Record) error {
	hash, err := t.Hash()
	switch {
	case err != nil:
		return err
	case hash != r.Hash:
		return fmt.Errorf("the code of %s, its correspondence or its model has changed since it was proved", t.code.Name)
	case len(r.Runs) == 0:
		return fmt.Errorf("no solver has proved the code of %s", t.code.Name)
	}
	for _, run := range r.Runs {
		if run.Proved != t.Parts() {
			return fmt.Errorf("the code of %s has %d parts, and %s has proved %d", t.code.Name, t.Parts(), run.Solver, run.Proved)
		}
	}
	return nil
}
