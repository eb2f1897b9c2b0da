package cli

import (
	"context"
	"errors"
	"fmt"
	"strconv"
	"strings"

	"ringleader.example/ringleader/catalogue"
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

// tabulate prints the extremes of several sizes.
func (p *program) tabulate(ctx context.Context, e *catalogue.Entry, o *verifyOptions) error {
	if !o.Extremes || o.recorded() || o.ids != "" {
		return errors.New("a range of sizes is for --extremes, without --ids and without files of a run")
	}
	if flag := o.kept(); flag != "" {
		return fmt.Errorf("%s is for the results of one size; give one number of processes", flag)
	}
	var table report.ExtremesTable
	for ; o.n <= o.most; o.n++ {
		v, err := o.options(e)
		if err != nil {
			return err
		}
		found, err := p.explore(ctx, e, o, &v)
		if err != nil {
			return err
		}
		if found.Extremes == nil || o.json {
			if err := p.Print(found, o.json); err != nil {
				return err
			}
		}
		if err := o.verdict(ctx, found.Report); err != nil {
			return err
		}
		if found.Extremes == nil {
			return fmt.Errorf("there are no extremes of %d processes", o.n)
		}
		table.Sizes = append(table.Sizes, found)
	}
	if o.json {
		return nil
	}
	return p.Fit(table.Text)
}
