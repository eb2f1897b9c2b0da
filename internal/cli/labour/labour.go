// Package labour does the long work of studies: on the cores of this process or by workers of any number of machines, kept in a file, or as
// part of a job that was begun elsewhere.
package labour

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"runtime"
	"strconv"
	"sync"

	"github.com/spf13/cobra"

	"ringleader.example/ringleader/internal/core/amount"
	"ringleader.example/ringleader/internal/show/report"
	"ringleader.example/ringleader/internal/study/work"
)

// Work holds where long work is done, where its results are kept, and which part of it is done.
type Work struct {
	Out   string
	Shard string
	Server
}

// Names are the flags of [Work].
var Names = append([]string{"out", "shard"}, ServerNames...)

// ServerNames are the flags of a [Server].
var ServerNames = []string{
	"nats", "nats-ca", "nats-certificate", "nats-credentials", "nats-key", "nats-listen", "nats-store", "nats-token",
	"nats-token-file",
}

// Define adds the flags.
func (w *Work) Define(command *cobra.Command, p *report.Printer) {
	w.Server.Define(command, p)
	f := command.Flags()
	f.StringVar(&w.Out, "out", "", "keep results in this file, and continue from those in it")
	f.StringVar(&w.Shard, "shard", "", "compute one part of several into --out, such as 3/16; ringleader merge joins them")
}

// Check returns an error for flags that do not go together.
func (w *Work) Check() error {
	if w.Out == "-" {
		return errors.New("--out keeps results in a file, to continue from; stdout cannot be read again")
	}
	if w.Shard != "" && w.Out == "" {
		return fmt.Errorf("--shard %s needs --out FILE for its results", w.Shard)
	}
	if w.Shard != "" && w.Asked() {
		return errors.New("--shard computes a part on this machine, and --nats the whole on others; give one of them")
	}
	_, err := w.part()
	return errors.Join(err, w.Server.Check())
}

// Kept returns the flag for which work has to be a job; empty: there is none.
func (w *Work) Kept() string {
	switch {
	case w.Out != "":
		return "--out"
	case w.Shard != "":
		return "--shard"
	case w.Asked():
		return "--nats"
	}
	return ""
}

// part returns the shard, or the whole.
func (w *Work) part() (work.Shard, error) {
	if w.Shard == "" {
		return work.Shard{}, nil
	}
	s, err := work.ParseShard(w.Shard)
	if err != nil {
		return s, fmt.Errorf("--shard: %w", err)
	}
	return s, nil
}

// Assignment is the long work of a study.
type Assignment struct {
	Cores int                                   // 0: all
	Kind  string                                // the command
	Words func() ([]string, error)              // what it computes: arguments and flags
	Task  work.Task                             // the same
	Units string                                // what the units are: runs
	Begin func() error                          // called before there are results; may be nil
	Taken func(work.Part) error                 // called with each result; may be nil
	Count func(results [][]byte) (done, of int) // how many things are finished, and how many there are; nil: units
	Of    string                                // what these are: points
}

// Job returns the work as a job of this version, which any process can repeat.
func (a *Assignment) Job(version string) (work.Job, error) {
	words, err := a.Words()
	if err != nil {
		return work.Job{}, err
	}
	spec, err := report.PlainJSON(words)
	return work.Job{Kind: a.Kind, Spec: spec, Version: version}, err
}

// receive passes on the results that are there before the work begins.
func (a *Assignment) receive(results *work.Results) error {
	if a.Begin != nil {
		if err := a.Begin(); err != nil {
			return err
		}
	}
	if a.Taken == nil {
		return nil
	}
	for _, part := range results.Parts() {
		if err := a.Taken(part); err != nil {
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

// Hands are the labour of a command: they do work where its flags ask for it, on the cores of this process or by a crew. They continue
// from the results in a file, and from those that a crew has.
type Hands struct {
	*Work
	crew     crew // nil: none
	complete bool // the work is done
	unkept   bool // the file does not keep all of it, or not in order
}

// Keeps is that of [Doer].
func (h *Hands) Keeps() bool { return h.Kept() != "" }

// Do is that of [Doer]. The results of a shard are only kept.
func (h *Hands) Do(ctx context.Context, p *report.Printer, a *Assignment) ([]work.Part, error) {
	if err := h.Check(); err != nil {
		return nil, err
	}
	done := &doing{Hands: h, Assignment: a, bar: p.Progress(), complain: p.Complain}
	err := done.hire(ctx, p)
	if err == nil {
		err = done.gather(ctx, p)
	}
	if err != nil {
		return nil, err
	}
	err = done.run(ctx)
	if h.complete = err == nil; err != nil || done.file == nil || done.lost != nil {
		return done.results.Parts(), err
	}
	text, err := done.file.Text(done.results.Parts())
	if err == nil {
		err = p.ToFile(h.Out, func(w io.Writer) error { _, err := w.Write(text); return err })
	}
	if err != nil && h.Shard == "" {
		done.unable("%v; it has all results, as they came, and what they make is printed", err)
		return done.results.Parts(), nil
	}
	if err != nil || h.Shard == "" {
		return done.results.Parts(), err
	}
	shard, _ := h.part()
	fmt.Fprintf(p.Out, "shard %s is complete in %s; %s merge joins all %d\n", shard, h.Out, p.Name, shard.Of)
	return nil, report.ExitError{Code: report.ExitFine}
}

// Dismiss is that of [Doer]. The job of a crew is removed when its output is printed: until then the same command prints it.
func (h *Hands) Dismiss(err error) error {
	if h.crew != nil {
		exit := new(report.ExitError)
		printed := err == nil || errors.As(err, exit) && (exit.Err == nil || exit.Code == report.ExitIncomplete)
		h.crew.dismiss(h.complete && printed)
		h.crew = nil
	}
	if err == nil && h.unkept {
		return report.ErrNo
	}
	return err
}

// doing is work that hands do.
type doing struct {
	*Hands
	*Assignment
	started work.Job
	results *work.Results
	file    *work.File // nil: results are not kept
	lost    error      // a result that was not kept

	mutex    sync.Mutex // of the terminal
	bar      *report.Progress
	complain func(string)
}

// hire makes the work a job, if it is kept or done by a crew, and connects to the crew.
func (d *doing) hire(ctx context.Context, p *report.Printer) (err error) {
	if d.Keeps() {
		if d.started, err = d.Job(Version(p.Version)); err != nil {
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

// unable prints why results are not kept as the call asks. The command ends with a failure.
func (d *doing) unable(format string, args ...any) {
	d.unkept = true
	d.notice(fmt.Sprintf(format, args...))
}

// gather gathers the results that are there.
func (d *doing) gather(ctx context.Context, p *report.Printer) (err error) {
	if d.Out != "" {
		err = d.open(p)
	} else {
		d.results, err = work.NewResults(d.Task, nil, d.take)
	}
	if err == nil && d.crew != nil {
		err = d.crew.engage(ctx, d.started, d.Task.Units(), p.Command)
	}
	if err != nil {
		return err
	}
	return d.receive(d.results)
}

// open opens the file of results.
func (d *doing) open(p *report.Printer) (err error) {
	shard, _ := d.part()
	if d.file, err = work.OpenFile(d.Out, d.started, d.Task, shard, p.Command); errors.Is(err, work.ErrFile) {
		return report.Failed("%w; choose another file for --out", err)
	} else if err != nil {
		return report.Failed("cannot write %s: %w", d.Out, report.Reason(err))
	}
	if d.results, err = work.NewResults(d.Task, d.file.Parts, d.take); err == nil {
		d.results.Only(shard)
	}
	return err
}

// take keeps a result, and passes it on. If the file cannot keep it, the work stops if its other results are kept elsewhere, or if it is only for the file.
// Otherwise it goes on, as its result can be printed.
func (d *doing) take(part work.Part) error {
	if d.file != nil && d.lost == nil {
		if d.lost = d.file.Add(part); d.lost != nil && (d.crew != nil || d.Shard != "") {
			return d.lost
		} else if d.lost != nil {
			d.unable("cannot write %s: %v; the work goes on, and its result is printed", d.Out, report.Reason(d.lost))
		}
	}
	if d.Taken == nil {
		return nil
	}
	d.mutex.Lock()
	defer d.mutex.Unlock()
	d.bar.Done()
	return d.Taken(part)
}

// run computes what is missing.
func (d *doing) run(ctx context.Context) error {
	runner := work.Runner(d.crew)
	if d.crew == nil {
		runner = work.Local{Cores: Cores(d.Cores)}
	}
	err := work.Complete(ctx, runner, d.started, d.Task, d.results, d.progress)
	d.mutex.Lock()
	d.bar.Done()
	d.mutex.Unlock()
	if d.file != nil {
		d.lost = errors.Join(d.lost, d.file.Close())
	}
	switch {
	case d.lost != nil && !d.unkept:
		return report.Failed("cannot write %s: %w", d.Out, report.Reason(d.lost))
	case ctx.Err() != nil:
		return d.stopped()
	}
	return err
}

// Cores returns a number of cores; 0 is all.
func Cores(cores int) int { return cmp.Or(cores, runtime.GOMAXPROCS(0)) }

// progress shows the progress of work.
func (d *doing) progress(at work.Progress) {
	d.mutex.Lock()
	defer d.mutex.Unlock()
	if !d.bar.Due() {
		return
	}
	workers := ""
	if d.crew != nil {
		workers = ", " + amount.Of(at.Workers, "worker")
	}
	units := ""
	if d.Count != nil { // what is done is told in others
		units = " " + d.Units
	}
	d.bar.Show("%s, %s%s a second%s%s", d.done(), strconv.FormatFloat(at.Rate, 'g', 3, 64), units, workers, d.bar.Remaining(at.Left))
}

// done returns in words how much is done.
func (d *doing) done() string {
	if d.Count == nil {
		done, missing := d.results.Count()
		return fmt.Sprintf("%d of %d %s", done, done+missing, d.Units)
	}
	var all [][]byte
	for _, part := range d.results.Parts() {
		all = append(all, part.Result)
	}
	done, of := d.Count(all)
	return fmt.Sprintf("%d of %d %s", done, of, d.Of)
}

// stopped returns the error of work that was stopped, with the way to resume it.
func (d *doing) stopped() error {
	switch {
	case d.crew != nil:
		return report.Stopped("stopped with %s, which %s", d.done(), d.crew.resuming())
	case d.unkept:
		return report.Stopped("stopped with %s; the same command continues from those that %s had room for", d.done(), d.Out)
	case d.file != nil:
		return report.Stopped("stopped with %s; the same command continues from there", d.done())
	}
	return report.Stopped("stopped with %s, which are lost; --out FILE keeps them", d.done())
}

// Doer does the long work of studies.
type Doer interface {
	// Keeps reports whether results are kept for others, so that the work must be that of the study's job.
	Keeps() bool

	// Do returns the results of the work, complete and in order.
	Do(ctx context.Context, p *report.Printer, a *Assignment) ([]work.Part, error)

	// Dismiss ends the work, after a call with that error. It returns the error of the command.
	Dismiss(err error) error
}

// Repeated is labour for a job that was begun, and for no other.
type Repeated struct {
	Doer
	Head *work.Head
}

// Keeps is that of [Doer].
func (*Repeated) Keeps() bool { return true }

// Do is that of [Doer]. The call of the job is that of the result.
func (r *Repeated) Do(ctx context.Context, p *report.Printer, a *Assignment) ([]work.Part, error) {
	job, err := a.Job(Version(p.Version))
	if err != nil {
		return nil, err
	}
	if !r.Head.Same(job) {
		return nil, errors.New("flags after -- choose how results are shown, such as --json; the job stays as it is")
	}
	p.Command = r.Head.Call
	return r.Doer.Do(ctx, p, a)
}
