package cli

import (
	"context"
	"errors"
	"fmt"
	"strconv"
	"strings"

	"ringleader.example/ringleader/catalogue"
	"ringleader.example/ringleader/internal/cli/labour"
	"ringleader.example/ringleader/internal/show/report"
)

// sizes is the value of a flag that is a size, or a range of sizes such as 2..8.
type sizes struct{ from, to *int }

func (s sizes) String() string {
	switch {
	case s.from == nil || *s.from == 0:
		return "0"
	case *s.to > *s.from:
		return fmt.Sprintf("%d..%d", *s.from, *s.to)
	}
	return strconv.Itoa(*s.from)
}

func (sizes) Type() string { return "size" }

func (s sizes) Set(text string) (err error) {
	first, last, isRange := strings.Cut(text, "..")
	if *s.from, err = strconv.Atoi(first); err != nil || !isRange {
		return errors.Unwrap(err)
	}
	if *s.to, err = strconv.Atoi(last); err != nil {
		return errors.Unwrap(err)
	}
	if *s.to <= *s.from {
		return errBackwards
	}
	return nil
}

var errBackwards = errors.New("the range ends before it begins")

// tabulation is the study of extremes at several sizes.
type tabulation struct {
	e *catalogue.Entry
	o *verifyOptions
}

// planTable plans a table of extremes.
func (o *verifyOptions) planTable(e *catalogue.Entry) (study, error) {
	if !o.Extremes || o.recorded() || o.ids != "" {
		return nil, errors.New("a range of sizes is for --extremes, without --ids and without files of a run")
	}
	if flag := o.Kept(); flag != "" {
		return nil, fmt.Errorf("%s is for the results of one size; give one number of processes", flag)
	}
	return &tabulation{e, o}, nil
}

// job is that of a [study].
func (*tabulation) job() (*labour.Assignment, error) { return nil, errNoJob }

// each passes on the result of each size as soon as it is known.
func (t *tabulation) each(ctx context.Context, p *Program, by labour.Doer, take func(*report.Verification) error) error {
	o := t.o
	for ; o.n <= o.most; o.n++ {
		v, err := o.options(t.e)
		if err != nil {
			return err
		}
		found, err := (&verification{t.e, o, v}).explore(ctx, p, by)
		if err != nil {
			return err
		}
		if err := take(found); err != nil {
			return err
		}
		if err := o.verdict(ctx, found.Report); err != nil {
			return err
		}
		if found.Extremes == nil {
			return fmt.Errorf("there are no extremes of %d processes", o.n)
		}
	}
	return nil
}

// answer is that of an [answerable].
func (t *tabulation) answer(ctx context.Context, p *Program, by labour.Doer) (*finding, error) {
	f := new(finding)
	f.verdict = t.each(ctx, p, by, func(found *report.Verification) error {
		f.results = append(f.results, found)
		return nil
	})
	return f, nil
}

// carryOut is that of a [study].
func (t *tabulation) carryOut(ctx context.Context, p *Program, by labour.Doer) error {
	var all report.ExtremesTable
	err := t.each(ctx, p, by, func(found *report.Verification) error {
		if all.Sizes = append(all.Sizes, found); found.Extremes == nil || t.o.json {
			return p.Print(found, t.o.json)
		}
		return nil
	})
	if err != nil || t.o.json {
		return err
	}
	return p.Fit(all.Text)
}
