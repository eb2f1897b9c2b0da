package reproduce

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"

	"ringleader.example/ringleader/catalogue"
	"ringleader.example/ringleader/internal/study/work"
)

// Judging is the check of rows as work whose units are rows.
type Judging struct {
	Rows       []Row
	Algorithms catalogue.List
}

// judged is the result of a row for other processes.
type judged struct {
	Row     int     `json:"row"`
	Finding Finding `json:"finding"`
	Err     string  `json:"error,omitempty"`
}

// Units implements [work.Task].
func (j *Judging) Units() uint64 { return uint64(len(j.Rows)) }

// Most implements [work.Coarse]: some rows take minutes.
func (*Judging) Most() uint64 { return 1 }

// Compute implements [work.Task].
func (j *Judging) Compute(ctx context.Context, p work.Piece) ([]byte, error) {
	var all []judged
	for r := range Run(ctx, j.Rows[p.From:p.To], j.Algorithms) {
		if ctx.Err() != nil {
			return nil, ctx.Err()
		}
		one := judged{Row: int(p.From) + len(all), Finding: r.Finding}
		if r.Err != nil {
			one.Err = r.Err.Error()
		}
		all = append(all, one)
	}
	return json.Marshal(all)
}

// Join implements [work.Task].
func (*Judging) Join(first, second []byte) ([]byte, error) {
	var a, b []judged
	if err := errors.Join(json.Unmarshal(first, &a), json.Unmarshal(second, &b)); err != nil {
		return nil, err
	}
	return json.Marshal(append(a, b...))
}

// InOrder returns a function that takes results in any order. It shows each row in the order of the rows, as soon as it and those
// before it are there.
func (j *Judging) InOrder(show func(Result)) (take func(result []byte) error) {
	next, waiting := 0, map[int]judged{}
	return func(result []byte) error {
		var some []judged
		if err := json.Unmarshal(result, &some); err != nil {
			return err
		}
		for _, one := range some {
			if one.Row < 0 || one.Row >= len(j.Rows) || int(one.Finding.Verdict) >= len(Verdicts) {
				return fmt.Errorf("there is no row %d with a verdict %d", one.Row, one.Finding.Verdict)
			}
			waiting[one.Row] = one
		}
		for ; ; next++ {
			one, there := waiting[next]
			if !there {
				return nil
			}
			delete(waiting, next)
			r := Result{Row: j.Rows[next], Finding: one.Finding}
			if one.Err != "" {
				r.Err = errors.New(one.Err)
			}
			show(r)
		}
	}
}
