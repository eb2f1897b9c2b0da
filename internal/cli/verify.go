package cli

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"runtime"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"ringleader.example/ringleader/catalogue"
	"ringleader.example/ringleader/election"
	"ringleader.example/ringleader/internal/report"
	"ringleader.example/ringleader/trace"
	"ringleader.example/ringleader/verify"
)

type verifyOptions struct {
	input
	crashes, recoveries int
	delay               int
	unordered           bool
	maxStates, cores    int
	memory              byteCount
	exact, rotations    bool
	reduce              string
	results
}

func (p *program) verify() *cobra.Command {
	var o verifyOptions
	command := &cobra.Command{
		Use:     "verify ALGORITHM",
		GroupID: groupStudy,
		Short:   "Try every schedule, and show the shortest run that violates a property",
		Long: `Try every schedule, and check these properties: one leader, the right one, decisions as declared, all
decided at the end, the bound kept, and every election can end. With --n every distinct order of
identifiers is tried. A violation is shown as a numbered story of the fewest steps; --draw draws it.

Exit status: 0 every property holds; 1 a property is violated; 2 the call was wrong; 3 not finished.`,
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
	o.input.flags(command, p)
	command.ValidArgsFunction = p.oneOf(anyAlgorithm)
	o.results.flags(command, "the violation")
	f := command.Flags()
	f.StringVar(&o.start, "start", "all", "initiators: all or ID,…, before other events; any: the schedule decides; every-set: each set in turn; each: all, at any time before their first message")
	decimalVar(f, &o.crashes, "crash", "", 0, "number of crashes, of any process, at any moment")
	decimalVar(f, &o.recoveries, "recover", "", 0, "number of recoveries")
	decimalVar(f, &o.delay, "delay", "", 0, "of timed algorithms: messages take 1 to this many units (default the parameter delay, or 1)")
	f.BoolVar(&o.unordered, "non-fifo", false, "links are not FIFO: messages may overtake each other")
	f.Var(&o.memory, "memory", "stop before the program takes more memory: a number of bytes, or one with KiB, MiB or GiB (default 4GiB)")
	decimalVar(f, &o.maxStates, "max-states", "", 0, "stop at this many states of one order (default no limit)")
	decimalVar(f, &o.cores, "cores", "", 0, "number of cores to use; the result does not depend on it (default all)")
	f.StringVar(&o.reduce, "reduce", "none", "none: the whole state space; confluence: one schedule of each order, if it decides all; auto: whatever applies")
	f.BoolVar(&o.exact, "exact", false, "tell states apart by 128 bits, even if there are more than 10 million of them in one order")
	f.BoolVar(&o.rotations, "rotations", false, "on a ring: try every order, and not only one of those that are rotations of each other")
	_ = command.RegisterFlagCompletionFunc("start", fixed("all", "any", "every-set", "each"))
	_ = command.RegisterFlagCompletionFunc("reduce", fixed(reductions...))
	return command
}

// reductions are the values of --reduce, by their numbers.
var reductions = []string{verify.NoReduction.String(), verify.AnyReduction.String(), verify.Confluence.String()}

func (o *verifyOptions) options(e *catalogue.Entry) (verify.Options, error) {
	v := verify.Options{
		Crashes: o.crashes, Recoveries: o.recoveries, Delay: o.delay, Unordered: o.unordered, MaxStates: o.maxStates,
		SafetyOnly: e.Leased, // its elections never end
		Memory:     uint64(o.memory), Exact: o.exact, Rotations: o.rotations, Cores: cmp.Or(o.cores, runtime.GOMAXPROCS(0)),
	}
	if o.maxStates < 0 || o.cores < 0 {
		return v, errors.New("--max-states and --cores are at least 1")
	}
	reduction := slices.Index(reductions, o.reduce)
	if reduction < 0 {
		return v, fmt.Errorf("--reduce is %s, not %.40q", strings.Join(reductions, ", "), o.reduce)
	}
	v.Reduce = verify.Reduction(reduction)
	i, err := o.instance(e)
	if err != nil {
		return v, err
	}
	if most := i.IDs.Len() + max(0, o.recoveries); o.crashes > most {
		return v, fmt.Errorf("--crash %d is more than can happen: each of %d processes crashes once, and once more after each recovery; use --crash %d",
			o.crashes, i.IDs.Len(), most)
	}
	v.Instance = i
	switch o.start {
	case "every-set":
		v.Starts = verify.EverySet
	case "each":
		v.Starts = verify.Each
	default:
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
	bar := p.Progress()
	v.Progress = func(at verify.Progress) bool {
		orders := ""
		if at.Orders > 1 {
			orders = fmt.Sprintf(", %d of %d orders%s", at.Done, at.Orders, bar.Left(float64(at.Done), float64(at.Orders)))
		}
		bar.Show("%d states, %s a second, %d in the frontier%s", at.States, bar.Rate(at.States), at.Frontier, orders)
		return ctx.Err() == nil
	}
	r, err := e.Verify(v)
	bar.Done()
	if err != nil {
		return err
	}
	var record *trace.Record
	if r.Violation != nil {
		record = &r.Violation.Record
	}
	err = o.put(p, record, &report.Verification{Entry: e, Size: o.size(), Start: o.start, Seed: o.seed, Options: &v, Report: r})
	switch {
	case err != nil:
		return err
	case r.Violation != nil:
		return report.ErrNo
	case ctx.Err() != nil:
		return report.Stopped("stopped after %d states", r.States)
	case !r.Complete:
		return report.Stopped("not finished after %d states; %s allows more", r.States, o.limit())
	}
	return nil
}

// limit returns the option with the limit that was reached.
func (o *verifyOptions) limit() string {
	if o.maxStates > 0 {
		return "--max-states"
	}
	return "--memory"
}

// size is the number of processes.
func (o *verifyOptions) size() int {
	if o.ids == "" {
		return o.n
	}
	ids, _ := numbers(o.ids) // they were read before
	return len(ids)
}
