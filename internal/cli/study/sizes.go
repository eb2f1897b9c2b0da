package study

import (
	"context"
	"errors"
	"fmt"
	"strconv"
	"strings"

	"ringleader.example/ringleader/catalogue"
	"ringleader.example/ringleader/internal/cli/labour"
	"ringleader.example/ringleader/internal/cli/plan"
	"ringleader.example/ringleader/internal/core/amount"
	"ringleader.example/ringleader/internal/show/report"
)

// Sizes is the value of a flag that is a size, or a range of sizes such as 2..8.
type Sizes struct{ From, To *int }

func (s Sizes) String() string {
	switch {
	case s.From == nil || *s.From == 0:
		return "0"
	case *s.To > *s.From:
		return fmt.Sprintf("%d..%d", *s.From, *s.To)
	}
	return strconv.Itoa(*s.From)
}

// Type is the name that the help has.
func (Sizes) Type() string { return "size" }

// Set reads a size or a range.
func (s Sizes) Set(text string) (err error) {
	first, last, isRange := strings.Cut(text, "..")
	if *s.From, err = strconv.Atoi(first); err != nil || !isRange {
		return errors.Unwrap(err)
	}
	if *s.To, err = strconv.Atoi(last); err != nil {
		return errors.Unwrap(err)
	}
	if *s.To <= *s.From {
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
func (o *verifyOptions) planTable(e *catalogue.Entry) (plan.Study, error) {
	if !o.Extremes || o.Recorded() || o.IDs != "" {
		return nil, errors.New("a range of sizes is for --extremes, without --ids and without files of a run")
	}
	if flag := o.Kept(); flag != "" {
		return nil, fmt.Errorf("%s is for the results of one size; give one number of processes", flag)
	}
	return &tabulation{e, o}, nil
}

// Job is that of a [plan.Study].
func (*tabulation) Job() (*labour.Assignment, error) { return nil, plan.ErrNoJob }

// each passes on the result of each size as soon as it is known.
func (t *tabulation) each(ctx context.Context, p *plan.Program, by labour.Doer, take func(*report.Verification) error) error {
	o := t.o
	for ; o.N <= o.most; o.N++ {
		v, err := o.options(t.e)
		if err != nil {
			return err
		}
		found, err := (&verification{e: t.e, o: o, v: v}).explore(ctx, p, by)
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
			return fmt.Errorf("there are no extremes of %s", amount.Of(o.N, "process"))
		}
	}
	return nil
}

// Answer is that of an [plan.Answerable].
func (t *tabulation) Answer(ctx context.Context, p *plan.Program, by labour.Doer) (*plan.Finding, error) {
	f := new(plan.Finding)
	f.Verdict = t.each(ctx, p, by, func(found *report.Verification) error {
		f.Results = append(f.Results, found)
		return nil
	})
	return f, nil
}

// CarryOut is that of a [plan.Study].
func (t *tabulation) CarryOut(ctx context.Context, p *plan.Program, by labour.Doer) error {
	var all report.ExtremesTable
	err := t.each(ctx, p, by, func(found *report.Verification) error {
		if found.Extremes == nil || t.o.JSON || t.o.verdict(ctx, found.Report) != nil {
			return p.Print(found, t.o.JSON)
		}
		all.Sizes = append(all.Sizes, found)
		return nil
	})
	if len(all.Sizes) > 0 { // also if a later one was stopped
		err = errors.Join(p.Fit(all.Text), t.named(err))
	}
	return err
}

// named returns an error with the size at which it occurred.
func (t *tabulation) named(err error) error {
	exit := new(report.ExitError)
	if errors.As(err, exit) && exit.Err == nil || err == nil {
		return err // the answer is printed
	}
	return fmt.Errorf("n = %d: %w", t.o.N, err)
}
