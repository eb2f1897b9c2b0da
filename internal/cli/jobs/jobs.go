//go:build !js

package jobs

import (
	"context"
	"errors"
	"fmt"
	"strconv"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"ringleader.example/ringleader/internal/cli/labour"
	"ringleader.example/ringleader/internal/cli/option"
	"ringleader.example/ringleader/internal/cli/plan"
	"ringleader.example/ringleader/internal/show/report"
	"ringleader.example/ringleader/internal/study/work"
)

// Command returns the command jobs, with its subcommands.
func Command(p *plan.Program) *cobra.Command {
	command := &cobra.Command{
		Use:     "jobs",
		GroupID: option.GroupStudy,
		Short:   "List, show, cancel, resume and compute the work that a NATS server keeps",
		Long: `A command with --nats makes its work a job of the server: pieces for workers, and the results so far. The
job is removed when the command has printed its output. If the command dies before, or is stopped by
Ctrl-C, the same command continues, on any machine with the same version, and so does jobs resume.

A KEY is that of jobs list, or its first digits.`,
		Example: `  ringleader jobs list --nats nats://10.0.0.1:4222
  ringleader jobs resume 3f2a --nats nats://10.0.0.1:4222`,
		ValidArgsFunction: cobra.NoFileCompletions,
	}
	command.AddCommand(jobsList(p), jobsShow(p), jobsCancel(p), jobsResume(p), jobsCompute(p))
	command.RunE = func(command *cobra.Command, args []string) error {
		if len(args) == 0 {
			return command.Help()
		}
		var names []string
		for _, sub := range command.Commands() {
			names = append(names, sub.Name())
		}
		return fmt.Errorf("%s has no command %q; %s", command.CommandPath(), args[0], option.Instead(args[0], names))
	}
	return command
}

// jobsOptions are those of the commands about jobs.
type jobsOptions struct {
	labour.Server
	json bool
}

func (o *jobsOptions) flags(command *cobra.Command, p *plan.Program) {
	o.DefineServer(command, p.Printer, "URL of the NATS server; embed: look into the store of --nats embed (default RINGLEADER_NATS in the environment)")
	o.Access.URL = p.Getenv(labour.URLVariable)
	command.Flags().BoolVar(&o.json, "json", false, "print one JSON object")
}

// with calls act with a connection to the server.
func (o *jobsOptions) with(command *cobra.Command, p *plan.Program, act func(context.Context, *labour.Link) error) error {
	if !o.Asked() {
		return fmt.Errorf("%s needs --nats; try %[1]s --help", command.CommandPath())
	}
	if err := o.Check(); err != nil {
		return err
	}
	l, err := o.Connect(command.Context(), p.Printer, p.Complain)
	if err != nil {
		return err
	}
	defer l.Close()
	return act(command.Context(), l)
}

// withJob calls act with the job that is named.
func (o *jobsOptions) withJob(command *cobra.Command, p *plan.Program, key string, act func(context.Context, *labour.Link, *work.JobState) error) error {
	return o.with(command, p, func(ctx context.Context, l *labour.Link) error {
		j, err := l.Find(ctx, key)
		if err != nil {
			return report.Failed("%w; %s jobs list %s shows all", err, p.Name, o.FlagsOf(o.Access.URL))
		}
		return act(ctx, l, &j)
	})
}

// oneJob takes one argument, the key of a job.
func oneJob(command *cobra.Command, args []string) error {
	if at := command.ArgsLenAtDash(); at >= 0 {
		args = args[:at]
	}
	if len(args) != 1 {
		return fmt.Errorf("%s takes one argument, the key of a job; try %[1]s --help", command.CommandPath())
	}
	if args[0] == "" || strings.Trim(args[0], "0123456789abcdef") != "" { // an empty one would be each job's
		return fmt.Errorf("the key of a job is hexadecimal, as jobs list prints it, not %q", args[0])
	}
	return nil
}

func jobsList(p *plan.Program) *cobra.Command {
	var o jobsOptions
	command := &cobra.Command{
		Use:   "list --nats URL",
		Short: "List the jobs of a server, and its workers",
		Long: `List shows each job of the server: how much of it is done, by how many workers, and how long the rest may
take. A job runs, or it has stopped: its command has died or was stopped, and jobs resume continues it.

Exit status: 0 the server answers; 1 it does not; 64 the call was wrong.`,
		Example: `  ringleader jobs list --nats nats://10.0.0.1:4222
  ringleader jobs list --nats embed --json`,
		Args:              option.FlagsOnly,
		ValidArgsFunction: cobra.NoFileCompletions,
	}
	command.RunE = func(command *cobra.Command, _ []string) error {
		return o.with(command, p, func(ctx context.Context, l *labour.Link) error {
			jobs, err := l.Jobs(ctx)
			if err != nil {
				return report.Failed("%w", err)
			}
			workers, err := l.Workers(ctx)
			if err != nil {
				return report.Failed("%w", err)
			}
			return p.Print(&report.Jobs{Jobs: jobs, Workers: workers, Own: labour.Version(plan.VersionName())}, o.json)
		})
	}
	o.flags(command, p)
	return command
}

func jobsShow(p *plan.Program) *cobra.Command {
	var o jobsOptions
	command := &cobra.Command{
		Use:   "show KEY --nats URL",
		Short: "Show a job",
		Long: `Show prints what is known of a job: its command, its version, how much is done, how fast, and how long the
rest may take.

Exit status: 0 there is such a job; 1 there is none, or the server does not answer; 64 the call was wrong.`,
		Example:           "  ringleader jobs show 3f2a --nats nats://10.0.0.1:4222",
		Args:              oneJob,
		ValidArgsFunction: o.Keys(p.Printer),
	}
	command.RunE = func(command *cobra.Command, args []string) error {
		return o.withJob(command, p, args[0], func(_ context.Context, _ *labour.Link, j *work.JobState) error {
			return p.Print(&report.Job{JobState: j, Own: labour.Version(plan.VersionName())}, o.json)
		})
	}
	o.flags(command, p)
	return command
}

func jobsCancel(p *plan.Program) *cobra.Command {
	var o jobsOptions
	command := &cobra.Command{
		Use:   "cancel KEY --nats URL",
		Short: "Remove a job and its results from the server",
		Long: `Cancel removes a job from the server, with the results that the server has. Workers stop its pieces, and
its command ends with exit status 3.

Exit status: 0 the job is removed; 1 there is no such job, or the server does not answer; 64 the call was
wrong.`,
		Example:           "  ringleader jobs cancel 3f2a --nats nats://10.0.0.1:4222",
		Args:              oneJob,
		ValidArgsFunction: o.Keys(p.Printer),
	}
	command.RunE = func(command *cobra.Command, args []string) error {
		return o.withJob(command, p, args[0], func(ctx context.Context, l *labour.Link, j *work.JobState) error {
			if err := l.Cancel(ctx, j.Key); err != nil {
				return report.Failed("%w", err)
			}
			return p.Print(&report.Removed{JobState: j}, o.json)
		})
	}
	o.flags(command, p)
	return command
}

func jobsResume(p *plan.Program) *cobra.Command {
	var o jobsOptions
	command := &cobra.Command{
		Use:   "resume KEY --nats URL [-- FLAG...]",
		Short: "Continue a job whose command has died or was stopped, and print its output",
		Long: `Resume does what the command of the job does when it is called again: it continues from the results that
the server has, and prints the same output. Flags after -- choose how the result is shown, as those of the
command do.

Exit status: that of the command; 1 there is no such job, its command still runs, it is of another version,
or the server does not answer.`,
		Example: `  ringleader jobs resume 3f2a --nats nats://10.0.0.1:4222
  ringleader jobs resume 3f2a --nats embed -- --json`,
		Args:              oneJob,
		ValidArgsFunction: o.Keys(p.Printer),
	}
	command.RunE = func(command *cobra.Command, args []string) error {
		var words []string
		var head work.Head
		err := o.withJob(command, p, args[0], func(_ context.Context, _ *labour.Link, j *work.JobState) (err error) {
			if err := ofThisVersion(j); err != nil {
				return err
			}
			head = work.Head{Job: j.Job, Call: j.Call}
			if words, err = jobCall(p, j.Kind, j.Spec); err != nil {
				err = report.Failed("%w", err)
			}
			return err
		})
		if err != nil {
			return err
		}
		if o.json {
			words = append(words, "--json")
		}
		return repeat(command.Context(), p, &head, append(words, args[1:]...), func(w *labour.Work) labour.Doer {
			w.Server = o.Server
			return &labour.Hands{Work: w}
		})
	}
	o.flags(command, p)
	return command
}

func jobsCompute(p *plan.Program) *cobra.Command {
	var o jobsOptions
	command := &cobra.Command{
		Use:   "compute KEY UNITS --nats URL",
		Short: "Compute a few units of a job in this process, and store their result",
		Long: `Compute does what a worker does with one piece of a job: it computes some of its units, on one core, and
stores the result on the server. If a piece ends its workers, for example for lack of memory, the job stops
and names its units. This command shows what happens to them, and on a machine with enough memory it does
what is missing. Then the job is resumed. UNITS are a number or a range: 57, or 57..60.

Exit status: 0 the result is stored; 1 the computation fails, there is no such job, it is of another
version, or the server does not answer; 3 stopped before the end; 64 the call was wrong.`,
		Example:           "  ringleader jobs compute 3f2a 57..60 --nats nats://10.0.0.1:4222",
		ValidArgsFunction: o.Keys(p.Printer),
	}
	command.Args = func(command *cobra.Command, args []string) error {
		if len(args) != 2 {
			return fmt.Errorf("%s takes two arguments, the key of a job and units such as 57..60; try %[1]s --help", command.CommandPath())
		}
		_, err := parseUnits(args[1])
		return errors.Join(oneJob(command, args[:1]), err)
	}
	command.RunE = func(command *cobra.Command, args []string) error {
		units, err := parseUnits(args[1])
		if err != nil {
			return err
		}
		return o.withJob(command, p, args[0], func(ctx context.Context, l *labour.Link, j *work.JobState) error {
			if err := ofThisVersion(j); err != nil {
				return err
			}
			if units.To > j.Units {
				return fmt.Errorf("job %s has the units 0 to %d", report.Key(j.Key), j.Units-1)
			}
			began := time.Now()
			task, err := Open(p, j.Kind, j.Spec)
			var result []byte
			if err == nil {
				result, err = task.Compute(ctx, units)
			}
			if ctx.Err() != nil {
				return report.Stopped("stopped; nothing is stored")
			}
			if err == nil {
				err = l.Store(ctx, j.Key, units, result)
			}
			if err != nil {
				return report.Failed("%w", err)
			}
			return p.Print(&report.Computed{JobState: j, Piece: units, Took: time.Since(began)}, o.json)
		})
	}
	o.flags(command, p)
	return command
}

// parseUnits parses a number or a range of units.
func parseUnits(text string) (units work.Piece, err error) {
	first, last, isRange := strings.Cut(text, "..")
	if !isRange {
		last = first
	}
	units.From, err = strconv.ParseUint(first, 10, 63)
	if err == nil {
		units.To, err = strconv.ParseUint(last, 10, 63)
	}
	if err != nil || units.To < units.From {
		return units, fmt.Errorf("units are a number or a range, such as 57 or 57..60, not %q", text)
	}
	units.To++
	return units, nil
}

// ofThisVersion returns an error for a job of another version.
func ofThisVersion(j *work.JobState) error {
	own := labour.Version(plan.VersionName())
	if j.Version == own {
		return nil
	}
	return report.Failed("job %s is of version %s, and this is version %s; results of different versions are not joined", report.Key(j.Key), j.Version, own)
}
