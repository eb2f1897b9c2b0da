//go:build !js

package cli

import (
	"context"
	"errors"
	"fmt"
	"io"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"ringleader.example/ringleader/internal/show/report"
	"ringleader.example/ringleader/internal/study/reproduce"
	"ringleader.example/ringleader/internal/study/reproduce/sources"
	"ringleader.example/ringleader/internal/study/work"
)

type reproduceOptions struct {
	json, markdown bool
	thorough       bool
	out            string
	keep, shard    string
	distribution
	words func() ([]string, error) // of the job
}

func (p *program) reproduce() *cobra.Command {
	var o reproduceOptions
	command := &cobra.Command{
		Use:     "reproduce [S1|S2|S3|S4|S5]...",
		GroupID: groupStudy,
		Short:   "Check the statements of the sources, one by one",
		Long: `Check the statements of the sources, one by one: definitions, theorems, examples, figures, tables and
exercises. Each is tested by runs, exact counts and every schedule of small networks. A statement about
fixed cases, all of which are checked, holds, as one that an example proves. A statement about every n has
no counterexample up to the largest n that was run or counted, or whose every schedule was explored, which
is no proof beyond it. Either can need a correction, or fail. No finite search settles a statement about every algorithm, or about growth for all n. Unless a
measurement contradicts such a statement, it counts as not checked. A command that shows the finding is
given where there is one. docs/reproduction.md is the output of --markdown. With --keep an interrupted
check continues from a file. With --nats workers on any number of machines check statements; ringleader
worker starts one.

Exit status: 0 every statement was tested, whatever the verdicts; 1 a test ended with an error;
3 stopped before the end; 64 the call was wrong.`,
		Example: "  ringleader reproduce\n  ringleader reproduce S1 S3\n  ringleader reproduce S4 --json\n" +
			"  ringleader reproduce --thorough --markdown --out reproduction.md --keep results\n" +
			"  ringleader reproduce --thorough --shard 3/16 --out part3\n  ringleader reproduce --thorough --nats nats://10.0.0.1:4222",
		RunE: func(command *cobra.Command, args []string) error {
			if o.json && o.markdown {
				return errors.New("a result has one form: --json or --markdown")
			}
			rows, left, err := o.rows(args)
			if err != nil {
				return err
			}
			o.words = func() ([]string, error) { return jobWords("reproduce", args, command.Flags()) }
			return p.judge(command.Context(), rows, left, &o)
		},
	}
	f := command.Flags()
	f.BoolVar(&o.json, "json", false, "print a line of JSON for each statement")
	f.BoolVar(&o.markdown, "markdown", false, "print a page of tables in Markdown")
	f.BoolVar(&o.thorough, "thorough", false, "include checks that take minutes")
	f.StringVar(&o.out, "out", "-", "write into this file; - is stdout")
	f.StringVar(&o.keep, "keep", "", "keep results in this file, and continue from those in it")
	f.StringVar(&o.shard, "shard", "", "check one part of several into --out, such as 3/16; ringleader merge joins them")
	o.distribution.flags(command, p)
	command.ValidArgsFunction = func(*cobra.Command, []string, string) ([]string, cobra.ShellCompDirective) {
		return marks(), cobra.ShellCompDirectiveNoFileComp
	}
	return command
}

func marks() (marks []string) {
	for _, s := range reproduce.Sources {
		marks = append(marks, s.Mark)
	}
	return marks
}

// rows returns the rows of the given sources, or of all, and how many of them take too long.
func (o *reproduceOptions) rows(of []string) (rows []reproduce.Row, left int, err error) {
	for i, s := range of {
		if of[i] = strings.ToUpper(s); !slices.Contains(marks(), of[i]) {
			return nil, 0, fmt.Errorf("no source is %q; choose one of %s", s, strings.Join(marks(), ", "))
		}
	}
	for _, row := range sources.Rows() {
		switch {
		case len(of) > 0 && !slices.Contains(of, row.Source):
		case row.Thorough && !o.thorough:
			left++
		default:
			rows = append(rows, row)
		}
	}
	return rows, left, nil
}

// judge checks rows on all cores and prints each result, in order, as soon as it is known. A shard's results are only kept.
func (p *program) judge(ctx context.Context, rows []reproduce.Row, left int, o *reproduceOptions) error {
	task := &reproduce.Judging{Rows: rows, Algorithms: p.algorithms}
	a := assignment{working: &working{o.keep, o.shard, o.distribution}, kind: "reproduce", words: o.words, task: task, units: "statements"}
	if o.shard != "" {
		a.out = o.out
		_, err := p.work(ctx, a)
		return err
	}
	return p.ToFile(o.out, func(w io.Writer) error {
		form := report.NewJudged(w, o.out == "-" && p.Paint(), p.Width(), o.json, o.markdown)
		var broken error
		verdicts := make([]int, len(reproduce.Verdicts))
		show := task.InOrder(func(r reproduce.Result) {
			if r.Err != nil {
				broken = errors.Join(broken, r.Err)
				return
			}
			form.Row(r)
			verdicts[r.Verdict]++
		})
		a.begin = func() error {
			if !o.json {
				return nil
			}
			header, err := report.PlainJSON(p.Header())
			if err == nil {
				_, err = w.Write(append(header, '\n'))
			}
			return err
		}
		a.taken = func(part work.Part) error { return show(part.Result) }
		if _, err := p.work(ctx, a); err != nil {
			return err
		}
		form.End(verdicts, left)
		if broken != nil {
			p.Complain(oneLine(broken.Error()))
			return report.ErrNo
		}
		return nil
	})
}
