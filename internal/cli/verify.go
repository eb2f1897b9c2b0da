package cli

import (
	"context"
	"errors"
	"fmt"

	"github.com/spf13/cobra"

	"ringleader.example/ringleader/catalogue"
	"ringleader.example/ringleader/election"
	"ringleader.example/ringleader/trace"
	"ringleader.example/ringleader/verify"
)

type verifyOptions struct {
	input
	crashes, recoveries int
	delay               int
	unordered           bool
	maxStates           int
	results
}

func (p *program) verify() *cobra.Command {
	var o verifyOptions
	command := &cobra.Command{
		Use:     "verify ALGORITHM",
		GroupID: groupStudy,
		Short:   "Try every schedule, and show the shortest run that goes wrong",
		Long: `Try every schedule: one leader, the right one, decisions as declared, all decided in the end, the
bound kept, and every election can end. With --n every order of identifiers that differs is tried.
What goes wrong is told as a numbered story of the fewest steps; --draw draws it.

Exit status: 0 every property holds; 1 one does not; 2 the call was wrong; 3 not finished.`,
		Example: `  ringleader verify lcr --n 4
  ringleader verify ring-bully --n 4 --start any
  ringleader verify bully --n 3 --crash 1 --recover 1
  ringleader verify bully --n 3 --start every-set --param answer-timeout=2 --draw wrong.svg`,
		RunE: func(command *cobra.Command, args []string) error {
			e, err := p.oneAlgorithm(command, args)
			if err != nil {
				return err
			}
			return p.check(command.Context(), o.form(e), &o)
		},
	}
	o.input.flags(command, p.algorithms)
	o.results.flags(command, "what goes wrong")
	f := command.Flags()
	f.StringVar(&o.start, "start", "all", "who starts: all or ID,… before anything else; any: the schedule decides; every-set: each set in turn")
	f.IntVar(&o.crashes, "crash", 0, "how many crashes, of any process, at any moment")
	f.IntVar(&o.recoveries, "recover", 0, "how many recoveries")
	f.IntVar(&o.delay, "delay", 0, "of timed algorithms: messages take 1 to this many units (default the parameter delay, or 1)")
	f.BoolVar(&o.unordered, "non-fifo", false, "messages on one link may overtake each other")
	f.IntVar(&o.maxStates, "max-states", verify.DefaultMaxStates, "stop at so many states of one order")
	_ = command.RegisterFlagCompletionFunc("start", fixed("all", "any", "every-set"))
	return command
}

func (o *verifyOptions) options(e *catalogue.Entry) (verify.Options, error) {
	v := verify.Options{
		Crashes: o.crashes, Recoveries: o.recoveries, Delay: o.delay, Unordered: o.unordered, MaxStates: o.maxStates,
	}
	if o.maxStates < 1 {
		return v, fmt.Errorf("--max-states is at least 1, not %d", o.maxStates)
	}
	i, err := o.instance(e)
	if err != nil {
		return v, err
	}
	v.Instance = i
	if o.start == "every-set" {
		v.Starts = verify.EverySet
	} else {
		var anyTime bool
		if v.Initiators, anyTime, err = o.initiators(i); err != nil {
			return v, err
		}
		if anyTime {
			v.Starts = verify.AnyTime
		}
	}
	if o.ids == "" && o.order == "" { // every order
		if v.Initiators != nil && e.Topology != election.Complete {
			return v, fmt.Errorf("--start %s needs one order: give --ids or --order", o.start)
		}
		if o.scores != "" && e.Topology != election.Complete {
			return v, errors.New("--scores need one order: give --ids or --order")
		}
		v.Size, v.Instance.IDs = o.n, nil
	}
	return v, nil
}

func (p *program) check(ctx context.Context, e *catalogue.Entry, o *verifyOptions) error {
	if err := o.results.check(); err != nil {
		return err
	}
	v, err := o.options(e)
	if err != nil {
		return err
	}
	bar := p.progress()
	v.Progress = func(states, frontier int) bool {
		bar.show("%d states, %d of them to look at", states, frontier)
		return ctx.Err() == nil
	}
	r, err := e.Verify(v)
	bar.done()
	if err != nil {
		return err
	}
	var record *trace.Record
	if r.Violation != nil {
		record = &r.Violation.Record
	}
	err = o.put(p, record, func() object { return reportJSON(e, o, r) }, func() error { return p.reportText(e, o, &v, r) })
	switch {
	case err != nil:
		return err
	case r.Violation != nil:
		return exitError{code: exitNo}
	case ctx.Err() != nil:
		return exitError{exitIncomplete, fmt.Errorf("stopped after %d states", r.States)}
	case !r.Complete:
		return exitError{exitIncomplete, fmt.Errorf("not finished after %d states; --max-states allows more", r.States)}
	}
	return nil
}

func reportJSON(e *catalogue.Entry, o *verifyOptions, r *verify.Report) object {
	result := object{
		{"algorithm", e.Name},
		{"n", o.size()},
		{"start", o.start},
		{"crashes", o.crashes},
		{"recoveries", o.recoveries},
		{"orders", r.Orders},
		{"states", r.States},
		{"transitions", r.Transitions},
		{"finals", r.Finals},
		{"depth", r.Depth},
		{"complete", r.Complete},
		{"holds", r.Complete && r.Violation == nil},
	}
	extreme := func(name string, m *verify.Messages) {
		if m != nil {
			result = append(result, field{name, object{{"total", m.Total}, {"election", m.Election}, {"announcement", m.Announcement}}})
		}
	}
	extreme("max_messages", r.MaxMessages)
	extreme("min_messages", r.MinMessages)
	if v := r.Violation; v != nil {
		result = append(result, field{"violation", object{
			{"property", v.Property}, {"detail", v.Detail}, {"ids", v.Record.IDs}, {"steps", v.Record.Steps},
		}})
	}
	return result
}

// size is the number of processes.
func (o *verifyOptions) size() int {
	if o.ids == "" {
		return o.n
	}
	ids, _ := numbers(o.ids) // they were read before
	return len(ids)
}

func (p *program) reportText(e *catalogue.Entry, o *verifyOptions, v *verify.Options, r *verify.Report) error {
	paint, w := p.paintOn(p.stdout), p.stdout
	fmt.Fprintf(w, "%s · %s · %s\n", paint.text(bold, e.Title), networkOf(e.Declaration, e.Timing, o.size()), e.Source)
	what := "every schedule"
	if v.Instance.IDs == nil && e.Topology != election.Complete && e.Identifiers != election.Anonymous {
		what += fmt.Sprintf(" of every order of %d identifiers", o.size())
	}
	if o.crashes > 0 {
		what += fmt.Sprintf(", crashes up to %d, recoveries up to %d", o.crashes, o.recoveries)
	}
	fmt.Fprintf(w, "  %s, start %s\n", what, o.start)
	orders := ""
	if r.Orders > 1 {
		orders = fmt.Sprintf("%d orders, ", r.Orders)
	}
	fmt.Fprintf(w, "  %s%d states, %d transitions, at most %d deep\n\n", orders, r.States, r.Transitions, r.Depth)
	switch {
	case r.Violation != nil:
		fmt.Fprintf(w, "%s: %s\n", paint.text(red, r.Violation.Property), r.Violation.Detail)
		return r.Violation.Record.Story(w)
	case !r.Complete:
		fmt.Fprintln(w, paint.text(yellow, "nothing wrong so far"))
		return nil
	}
	set, err := e.Set(v.Instance.Parameters)
	if err != nil {
		return err
	}
	unless := "" // costs are of runs without faults
	if o.crashes > 0 {
		unless = " if nobody crashes"
	}
	fmt.Fprintln(w, paint.text(green, "holds: "+properties(e.With(set), unless)))
	if most, least := r.MaxMessages, r.MinMessages; most != nil {
		fmt.Fprintf(w, "  election      %d to %d messages%s\n", least.Election, most.Election, unless)
		fmt.Fprintf(w, "  total         %d to %d messages%s\n", least.Total, most.Total, unless)
	}
	return nil
}

// properties says in words what a check of a declaration is about. What the bound does not speak of, unless says.
func properties(d *election.Declaration, unless string) string {
	text := "one leader"
	if d.Winner != election.Unspecified {
		text += ", " + d.Winner.String()
	}
	if d.Task == election.Once {
		text += ", for ever"
	} else {
		text += ", once faults have stopped"
	}
	if d.Decides == election.EveryProcess {
		text += ", and all follow it"
	}
	text += "; every election can end"
	if b := d.Bound(election.Worst); b != nil && d.Task == election.Once {
		text += fmt.Sprintf("; at most %s %s messages%s", b.Formula, b.Of, unless)
	}
	return text
}
