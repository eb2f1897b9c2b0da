package cli

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"runtime"
	"slices"
	"strconv"
	"sync"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"ringleader.example/ringleader/internal/show/report"
	"ringleader.example/ringleader/internal/study/work"
)

// working holds where long work is done, where its results are kept, and which part of it is done.
type working struct {
	out   string
	shard string
	distribution
}

// workNames are its flags.
var workNames = append([]string{"out", "shard"}, natsNames...)

// natsNames are those of a [distribution].
var natsNames = []string{
	"nats", "nats-ca", "nats-certificate", "nats-credentials", "nats-key", "nats-listen", "nats-store", "nats-token",
	"nats-token-file",
}

func (w *working) flags(command *cobra.Command, p *program) {
	w.distribution.flags(command, p)
	f := command.Flags()
	f.StringVar(&w.out, "out", "", "keep results in this file, and continue from those in it")
	f.StringVar(&w.shard, "shard", "", "compute one part of several into --out, such as 3/16; ringleader merge joins them")
}

// check returns an error for flags that do not go together.
func (w *working) check() error {
	if w.out == "-" {
		return errors.New("--out keeps results in a file, to continue from; stdout cannot be read again")
	}
	if w.shard != "" && w.out == "" {
		return fmt.Errorf("--shard %s needs --out FILE for its results", w.shard)
	}
	if w.shard != "" && w.asked() {
		return errors.New("--shard computes a part on this machine, and --nats the whole on others; give one of them")
	}
	_, err := w.part()
	return errors.Join(err, w.distribution.check())
}

// kept returns the flag for which work has to be a job; empty: there is none.
func (w *working) kept() string {
	switch {
	case w.out != "":
		return "--out"
	case w.shard != "":
		return "--shard"
	case w.asked():
		return "--nats"
	}
	return ""
}

// part returns the shard, or the whole.
func (w *working) part() (work.Shard, error) {
	if w.shard == "" {
		return work.Shard{}, nil
	}
	s, err := work.ParseShard(w.shard)
	if err != nil {
		return s, fmt.Errorf("--shard: %w", err)
	}
	return s, nil
}

// assignment is the long work of a study.
type assignment struct {
	cores int                                   // 0: all
	kind  string                                // the command
	words func() ([]string, error)              // what it computes: arguments and flags
	task  work.Task                             // the same
	units string                                // what the units are: runs
	begin func() error                          // called before there are results; may be nil
	taken func(work.Part) error                 // called with each result; may be nil
	count func(results [][]byte) (done, of int) // how many things are finished, and how many there are; nil: units
	of    string                                // what these are: points
}

// job returns the work as a job, which any process can repeat.
func (a *assignment) job() (work.Job, error) {
	words, err := a.words()
	if err != nil {
		return work.Job{}, err
	}
	spec, err := report.PlainJSON(words)
	return work.Job{Kind: a.kind, Spec: spec, Version: versionName()}, err
}

// receive passes on the results that are there before the work begins.
func (a *assignment) receive(results *work.Results) error {
	if a.begin != nil {
		if err := a.begin(); err != nil {
			return err
		}
	}
	if a.taken == nil {
		return nil
	}
	for _, part := range results.Parts() {
		if err := a.taken(part); err != nil {
			return err
		}
	}
	return nil
}

// crew computes the pieces of jobs outside this process.
type crew interface {
	work.Runner

	// engage shows a job of so many units to other processes, which can continue it if this one dies.
	engage(ctx context.Context, j work.Job, units uint64, call string) error

	// resuming returns in words where the results of a job are that has stopped, and how to continue it: keeps them; …
	resuming() string

	// dismiss ends the connection. It removes the job if its output is printed.
	dismiss(printed bool)
}

// hands are the labour of a command: they do work where its flags ask for it, on the cores of this process or by a crew. They continue
// from the results in a file, and from those that a crew has.
type hands struct {
	*working
	crew     crew // nil: none
	complete bool // the work is done
}

// keeps is that of [labour].
func (h *hands) keeps() bool { return h.kept() != "" }

// do is that of [labour]. The results of a shard are only kept.
func (h *hands) do(ctx context.Context, p *program, a *assignment) ([]work.Part, error) {
	if err := h.check(); err != nil {
		return nil, err
	}
	done := &doing{hands: h, assignment: a, bar: p.Progress(), complain: p.Complain}
	err := done.hire(ctx, p)
	if err == nil {
		err = done.gather(ctx, p)
	}
	if err != nil {
		return nil, err
	}
	err = done.run(ctx)
	if h.complete = err == nil; err != nil || done.file == nil {
		return done.results.Parts(), err
	}
	text, err := done.file.Text(done.results.Parts())
	if err == nil {
		err = p.ToFile(h.out, func(w io.Writer) error { _, err := w.Write(text); return err })
	}
	if err != nil || h.shard == "" {
		return done.results.Parts(), err
	}
	shard, _ := h.part()
	fmt.Fprintf(p.Out, "shard %s is complete in %s; %s merge joins all %d\n", shard, h.out, p.Name, shard.Of)
	return nil, report.ExitError{Code: report.ExitFine}
}

// dismiss is that of [labour]. The job of a crew is removed when its output is printed: until then the same command prints it.
func (h *hands) dismiss(err error) {
	if h.crew == nil {
		return
	}
	exit := new(report.ExitError)
	printed := err == nil || errors.As(err, exit) && (exit.Err == nil || exit.Code == report.ExitIncomplete)
	h.crew.dismiss(h.complete && printed)
	h.crew = nil
}

// doing is work that hands do.
type doing struct {
	*hands
	*assignment
	started work.Job
	results *work.Results
	file    *work.File // nil: results are not kept
	lost    error      // a result that was not kept

	mutex    sync.Mutex // of the terminal
	bar      *report.Progress
	complain func(string)
}

// hire makes the work a job, if it is kept or done by a crew, and connects to the crew.
func (d *doing) hire(ctx context.Context, p *program) (err error) {
	if d.keeps() {
		if d.started, err = d.job(); err != nil {
			return err
		}
	}
	d.crew, err = d.hired(ctx, p, d.notice)
	return err
}

// notice prints a line.
func (d *doing) notice(text string) {
	d.mutex.Lock()
	defer d.mutex.Unlock()
	d.bar.Done()
	d.complain(text)
}

// gather gathers the results that are there.
func (d *doing) gather(ctx context.Context, p *program) (err error) {
	if d.out != "" {
		err = d.open(p)
	} else {
		d.results, err = work.NewResults(d.task, nil, d.take)
	}
	if err == nil && d.crew != nil {
		err = d.crew.engage(ctx, d.started, d.task.Units(), p.Command)
	}
	if err != nil {
		return err
	}
	return d.receive(d.results)
}

// open opens the file of results.
func (d *doing) open(p *program) (err error) {
	shard, _ := d.part()
	if d.file, err = work.OpenFile(d.out, d.started, d.task, shard, p.Command); errors.Is(err, work.ErrFile) {
		return report.Failed("%w; choose another file for --out", err)
	} else if err != nil {
		return report.Failed("cannot write %s: %w", d.out, report.Reason(err))
	}
	if d.results, err = work.NewResults(d.task, d.file.Parts, d.take); err == nil {
		d.results.Only(shard)
	}
	return err
}

// take keeps a result, and passes it on.
func (d *doing) take(part work.Part) error {
	if d.file != nil {
		if d.lost = d.file.Add(part); d.lost != nil {
			return d.lost
		}
	}
	if d.taken == nil {
		return nil
	}
	d.mutex.Lock()
	defer d.mutex.Unlock()
	d.bar.Done()
	return d.taken(part)
}

// run computes what is missing.
func (d *doing) run(ctx context.Context) error {
	runner := work.Runner(d.crew)
	if d.crew == nil {
		runner = work.Local{Cores: coresOr(d.cores)}
	}
	err := work.Complete(ctx, runner, d.started, d.task, d.results, d.progress)
	d.mutex.Lock()
	d.bar.Done()
	d.mutex.Unlock()
	if d.file != nil {
		d.lost = errors.Join(d.lost, d.file.Close())
	}
	switch {
	case d.lost != nil:
		return report.Failed("cannot write %s: %w", d.out, report.Reason(d.lost))
	case ctx.Err() != nil:
		return d.stopped()
	}
	return err
}

// coresOr returns a number of cores; 0 is all.
func coresOr(cores int) int { return cmp.Or(cores, runtime.GOMAXPROCS(0)) }

// progress shows the progress of work.
func (d *doing) progress(at work.Progress) {
	d.mutex.Lock()
	defer d.mutex.Unlock()
	if !d.bar.Due() {
		return
	}
	workers := ""
	if d.crew != nil {
		workers = ", " + report.Several(at.Workers, "worker")
	}
	d.bar.Show("%s, %s %s a second%s%s", d.done(), strconv.FormatFloat(at.Rate, 'g', 3, 64), d.units, workers, d.bar.Remaining(at.Left))
}

// done returns in words how much is done.
func (d *doing) done() string {
	if d.count == nil {
		done, missing := d.results.Count()
		return fmt.Sprintf("%d of %d %s", done, done+missing, d.units)
	}
	var all [][]byte
	for _, part := range d.results.Parts() {
		all = append(all, part.Result)
	}
	done, of := d.count(all)
	return fmt.Sprintf("%d of %d %s", done, of, d.of)
}

// stopped returns the error of work that was stopped, with the way to resume it.
func (d *doing) stopped() error {
	switch {
	case d.crew != nil:
		return report.Stopped("stopped with %s, which %s", d.done(), d.crew.resuming())
	case d.file != nil:
		return report.Stopped("stopped with %s; the same command continues from there", d.done())
	}
	return report.Stopped("stopped with %s, which are lost; --out FILE keeps them", d.done())
}

// jobFlags are the flags of a kind of job. None names a file, so a job that came from elsewhere reads and writes none.
func jobFlags(kind string) []string {
	if kind == "reproduce" {
		return []string{"thorough"}
	}
	return labCalls[kind]
}

// jobKinds are the commands whose work can be a job.
var jobKinds = []string{"compare", "count", "reproduce", "verify", "worst"}

// shownNames are flags that choose how results are shown or computed, and not which.
var shownNames = slices.Concat(resultNames, workNames, []string{"cores", "csv", "keep", "markdown", "save"})

// jobWords returns the words of a job: the arguments of a command and its flags, except those for results.
func jobWords(kind string, args []string, flags *pflag.FlagSet) ([]string, error) {
	err := passable(kind, flags, shownNames)
	return append(slices.Clone(args), words(flags, shownNames)...), err
}

// passable returns an error for a flag that a job cannot have, except for some.
func passable(kind string, flags *pflag.FlagSet, except []string) (err error) {
	flags.Visit(func(f *pflag.Flag) {
		if err == nil && !slices.Contains(except, f.Name) && !slices.Contains(jobFlags(kind), f.Name) {
			err = fmt.Errorf("--%s cannot be part of work that is kept; leave it out, or leave out --out, --shard and --nats", f.Name)
		}
	})
	if err == nil {
		err = harmless(flags)
	}
	return err
}
