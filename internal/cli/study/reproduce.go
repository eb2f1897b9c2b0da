//go:build !js

package study

import (
	"context"
	"errors"
	"fmt"
	"io"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"ringleader.example/ringleader/internal/cli/labour"
	"ringleader.example/ringleader/internal/cli/option"
	"ringleader.example/ringleader/internal/cli/plan"
	"ringleader.example/ringleader/internal/show/report"
	"ringleader.example/ringleader/internal/show/report/studies"
	"ringleader.example/ringleader/internal/study/reproduce"
	"ringleader.example/ringleader/internal/study/reproduce/sources"
	"ringleader.example/ringleader/internal/study/work"
)

type reproduceOptions struct {
	json, markdown bool
	thorough       bool
	to             string // the file for the result
	labour.Work
}

// Reproduce returns the command that judges the statements of the sources.
func Reproduce(p *plan.Program) *plan.Command {
	var o reproduceOptions
	command := &cobra.Command{
		Use:     "reproduce [S1|S2|S3|S4|S5][:WHERE]...",
		GroupID: option.GroupStudy,
		Short:   "Check the statements of the sources, one by one",
		Long: `Check the statements of the sources, one by one: definitions, theorems, examples, figures, tables and
exercises. Each is tested by runs, exact counts and every schedule of small networks. A statement about
fixed cases, all of which are checked, holds, as one that an example proves. A statement about every n has
no counterexample up to the largest n that was run or counted, or whose every schedule was explored, which
is no proof beyond it. Either can need a correction, or fail. No finite search settles a statement about every algorithm, or about growth for all n. Unless a
measurement contradicts such a statement, it counts as not checked. A command that shows the finding is
given where there is one. S1:WHERE stands for the statements of S1 whose place begins with WHERE. docs/reproduction.md is the output of --markdown. With --keep an interrupted
check continues from a file. With --nats workers on any number of machines check statements; ringleader
worker starts one.

Exit status: 0 every statement was tested, whatever the verdicts; 1 a test ended with an error;
3 stopped before the end; 64 the call was wrong.`,
		Example: "  ringleader reproduce\n  ringleader reproduce S1 S3\n  ringleader reproduce S4:rule --json\n" +
			"  ringleader reproduce --thorough --markdown --out reproduction.md --keep results\n" +
			"  ringleader reproduce --thorough --shard 3/16 --out part3\n  ringleader reproduce --thorough --nats nats://10.0.0.1:4222",
	}
	f := command.Flags()
	f.BoolVar(&o.json, "json", false, "print a line of JSON for each statement")
	f.BoolVar(&o.markdown, "markdown", false, "print a page of tables in Markdown")
	f.BoolVar(&o.thorough, "thorough", false, "include checks that take minutes")
	f.StringVar(&o.to, "out", "-", "write into this file; - is stdout")
	f.StringVar(&o.Out, "keep", "", "keep results in this file, and continue from those in it")
	f.StringVar(&o.Shard, "shard", "", "check one part of several into --out, such as 3/16; ringleader merge joins them")
	o.Server.Define(command, p.Printer)
	command.ValidArgsFunction = func(*cobra.Command, []string, string) ([]string, cobra.ShellCompDirective) {
		return marks(), cobra.ShellCompDirectiveNoFileComp
	}
	return p.CarriesOut(&plan.Command{Command: command, Plan: func(args []string) (plan.Study, error) { return o.plan(p, command, args) }, Working: &o.Work})
}

// reproduction is the study of statements of the sources.
type reproduction struct {
	o     *reproduceOptions
	task  *reproduce.Judging
	left  int // statements that take too long
	words func() ([]string, error)
}

// plan returns the study that the flags ask for. The results of a shard are kept where the result would be.
func (o *reproduceOptions) plan(p *plan.Program, command *cobra.Command, args []string) (plan.Study, error) {
	if o.json && o.markdown {
		return nil, errors.New("a result has one form: --json or --markdown")
	}
	rows, left, err := o.rows(args)
	if err != nil {
		return nil, err
	}
	if o.Shard != "" {
		o.Out = o.to
	}
	return &reproduction{
		o: o, task: &reproduce.Judging{Rows: rows, Algorithms: p.Algorithms}, left: left,
		words: func() ([]string, error) { return plan.JobWords("reproduce", args, command.Flags()) },
	}, nil
}

func marks() (marks []string) {
	for _, s := range reproduce.Sources {
		marks = append(marks, s.Mark)
	}
	return marks
}

// rows returns the rows of the given sources and places, or all, and how many of them take too long.
func (o *reproduceOptions) rows(of []string) (rows []reproduce.Row, left int, err error) {
	var wanted []func(reproduce.Row) bool
	for i, s := range of {
		mark, where, _ := strings.Cut(s, ":")
		if mark = strings.ToUpper(mark); !slices.Contains(marks(), mark) {
			return nil, 0, fmt.Errorf("no source is %q; choose one of %s", mark, strings.Join(marks(), ", "))
		}
		is := func(row reproduce.Row) bool { return row.Source == mark && strings.HasPrefix(row.Where, where) }
		if !slices.ContainsFunc(sources.Rows(), is) {
			return nil, 0, fmt.Errorf("no statement of %s is at %q; --markdown prints the places of all", mark, where)
		}
		of[i] = mark + s[len(mark):] // so that a job has the same words
		wanted = append(wanted, is)
	}
	for _, row := range sources.Rows() {
		switch {
		case len(of) > 0 && !slices.ContainsFunc(wanted, func(is func(reproduce.Row) bool) bool { return is(row) }):
		case row.Thorough && !o.thorough:
			left++
		default:
			rows = append(rows, row)
		}
	}
	return rows, left, nil
}

// Job is that of a [plan.Study].
func (r *reproduction) Job() (*labour.Assignment, error) {
	return &labour.Assignment{Kind: "reproduce", Words: r.words, Task: r.task, Units: "statements"}, nil
}

// CarryOut is that of a [plan.Study]. It prints each verdict, in order, as soon as it is known. The results of a shard are only kept.
func (r *reproduction) CarryOut(ctx context.Context, p *plan.Program, by labour.Doer) error {
	a, err := r.Job()
	if err != nil {
		return err
	}
	if r.o.Shard != "" {
		_, err := by.Do(ctx, p.Printer, a)
		return err
	}
	var broken error
	err = p.Result(r.o.to, func(w io.Writer) error {
		form := studies.NewJudged(w, r.o.to == "-" && p.Paint(), p.Width(), r.o.json, r.o.markdown)
		verdicts := make([]int, len(reproduce.Verdicts))
		show := r.task.InOrder(func(found reproduce.Result) {
			if found.Err != nil {
				broken = errors.Join(broken, found.Err)
				return
			}
			form.Row(found)
			verdicts[found.Verdict]++
		})
		a.Begin = func() error {
			if !r.o.json {
				return nil
			}
			header, err := report.PlainJSON(p.Header())
			if err == nil {
				_, err = w.Write(append(header, '\n'))
			}
			return err
		}
		a.Taken = func(part work.Part) error { return show(part.Result) }
		if _, err := by.Do(ctx, p.Printer, a); err != nil {
			return err
		}
		form.End(verdicts, r.left)
		return nil
	})
	if err == nil && broken != nil {
		p.Complain(option.OneLine(broken.Error()))
		return report.ErrNo
	}
	return err
}
