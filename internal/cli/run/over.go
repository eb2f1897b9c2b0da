//go:build !js

package run

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"math"
	"os"
	"os/exec"
	"reflect"
	"slices"
	"time"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"ringleader.example/ringleader/catalogue"
	"ringleader.example/ringleader/faults"
	"ringleader.example/ringleader/internal/cli/labour"
	"ringleader.example/ringleader/internal/cli/option"
	"ringleader.example/ringleader/internal/cli/plan"
	"ringleader.example/ringleader/internal/core/amount"
	"ringleader.example/ringleader/internal/serve/rig"
	"ringleader.example/ringleader/internal/show/report"
	"ringleader.example/ringleader/internal/study/tcprun"
)

// overOptions are for runs over real connections.
type overOptions struct {
	over string
	unit time.Duration
}

// overs are the ways to run over real connections: all processors in this process, or a process each.
var overs = []string{"tcp", "processes"}

// overFlags are the flags that apply there. Others apply only to simulations.
var overFlags = []string{
	"over", "unit", "ids", "n", "order", "first", "seed", "param", "topology", "edges", "orientation", "ports", "votes", "scores",
	"allow-duplicate-ids", "start", "unwilling", "dead", "leader-dead", "fault", "faults", "limit", "json", "help",
}

// mostProcesses is the largest number of operating-system processes of a run.
const mostProcesses = 256

func (o *overOptions) flags(command *cobra.Command) {
	f := command.Flags()
	f.StringVar(&o.over, "over", "", "real connections on loopback, not simulation: tcp, or processes: one OS process each")
	f.DurationVar(&o.unit, "unit", 0, "over connections: duration of a unit of a timed algorithm, or least duration of a round (default by size; none)")
	option.Offer(command, "over", overs...)
}

// overRun is the study of a run over real connections.
type overRun struct {
	e *catalogue.Entry
	o *Options
	s tcprun.Options
}

// planOver plans a run over real connections.
func (o *Options) planOver(p *plan.Program, command *cobra.Command, e *catalogue.Entry) (plan.Study, error) {
	s, err := overSettings(p, command, e, o)
	if err != nil {
		return nil, err
	}
	return &overRun{e, o, s}, nil
}

// Job is that of a [plan.Study].
func (*overRun) Job() (*labour.Assignment, error) { return nil, plan.ErrNoJob }

// CarryOut is that of a [plan.Study].
func (r *overRun) CarryOut(ctx context.Context, p *plan.Program, _ labour.Doer) error {
	if r.o.over == "processes" {
		spawner, err := newSpawner(r.s.Setup.IDs.Len() - len(r.s.Dead))
		if err != nil {
			return err
		}
		defer spawner.close()
		r.s.Spawn = spawner.spawn
	}
	found, err := tcprun.Run(ctx, r.e.Program, r.s)
	switch {
	case errors.Is(err, tcprun.ErrStopped):
		return report.Stopped("%w", err)
	case errors.Is(err, tcprun.ErrFailed):
		return report.Failed("%w", err)
	case err != nil:
		return err
	}
	if err := p.Print(&report.OverRun{Subject: r.o.Subject(r.e), Over: r.o.over, Options: &r.s, Result: found}, r.o.JSON); err != nil {
		return err
	}
	switch {
	case !found.Complete:
		return report.Stopped("stopped after %s, before the end", amount.Of(found.Deliveries, "delivery"))
	case !found.Right || len(found.Faults) > 0:
		return report.ErrNo
	}
	return nil
}

// overSettings returns the options of a run over real connections.
func overSettings(p *plan.Program, command *cobra.Command, e *catalogue.Entry, o *Options) (s tcprun.Options, err error) {
	if o.over == "" {
		return s, errors.New("--unit is for runs over connections; add --over tcp or --over processes")
	}
	if _, err := plan.Word("over", o.over, overs...); err != nil {
		return s, err
	}
	command.Flags().Visit(func(f *pflag.Flag) {
		if !slices.Contains(overFlags, f.Name) {
			err = fmt.Errorf("--%s is for simulated runs; --over %s uses the real network; leave out one of --%[1]s and --over", f.Name, o.over)
		}
	})
	if err != nil {
		return s, err
	}
	i, err := o.Setup(e)
	if err == nil {
		err = o.LeaderDies(e, i)
	}
	if err != nil {
		return s, err
	}
	o.AtAnyTime(e.Declaration, o.Start, i.Parameters)
	if err := o.Reluctant(e, &i); err != nil {
		return s, err
	}
	s = tcprun.Options{Setup: i, Seed: o.Seed, Unit: o.unit, Patient: o.unit == 0, Limit: o.limit}
	if s.Initiators, s.AnyTime, err = o.Initiators(i); err != nil {
		return s, err
	}
	script, err := o.Faults(i, p.Stdin)
	if err != nil {
		return s, err
	}
	if !reflect.DeepEqual(script, faults.Script{Dead: script.Dead}) {
		return s, fmt.Errorf("--over %s takes only processes that are dead from the start; simulated runs take all faults", o.over)
	}
	s.Dead = script.Dead
	if o.Of.Changed("limit") && o.limit == 0 {
		s.Limit = math.MaxUint64
	}
	return s, nil
}

// Processor is the command that a run over processes starts for each processor.
func Processor(p *plan.Program) *cobra.Command {
	return &cobra.Command{
		Use:     "processor",
		Hidden:  true,
		Short:   "Run one process of a run over processes: plan and orders in, replies out",
		Example: "  ringleader processor",
		Args:    option.FlagsOnly,
		RunE: func(*cobra.Command, []string) error {
			err := tcprun.Serve(p.Stdin, p.Out, p.Algorithms.Program)
			if err != nil {
				return fmt.Errorf("this command is for %s run --over processes: %w", p.Name, err)
			}
			return nil
		},
	}
}

// spawner starts the processes of a run.
type spawner struct {
	program string // our own binary
	rig.Forks
}

func newSpawner(n int) (*spawner, error) {
	if n > mostProcesses {
		return nil, fmt.Errorf("--over processes starts at most %d processes, not %d; --over tcp runs as many in one", mostProcesses, n)
	}
	program, err := os.Executable()
	if err != nil {
		return nil, report.Failed("cannot find this program's file: %w", err)
	}
	return &spawner{program, rig.NewForks()}, nil
}

func (s *spawner) close() { close(s.Forks) }

// child is a processor in a process of its own.
type child struct {
	*tcprun.Remote
	process *os.Process
	stdin   io.Closer
	done    chan struct{} // closed when it has ended
	ending  string        // how, then
}

// spawn starts a processor. Its process ends with its input, so also when we do.
func (s *spawner) spawn(plan tcprun.Plan) (tcprun.Control, error) {
	command := exec.Command(s.program, "processor")
	stdin, err := command.StdinPipe()
	if err != nil {
		return nil, err
	}
	stdout, err := command.StdoutPipe()
	if err != nil {
		return nil, err
	}
	if err := s.Start(command); err != nil {
		return nil, err
	}
	c := &child{process: command.Process, stdin: stdin, done: make(chan struct{})}
	go func() {
		command.Wait()
		c.ending = command.ProcessState.String()
		close(c.done)
	}()
	if c.Remote, err = tcprun.NewRemote(stdin, stdout, plan); err != nil {
		c.Close()
		return nil, fmt.Errorf("its process ended: %s", c.ending)
	}
	return c, nil
}

// Ask asks the process; if it has ended, the error contains how.
func (c *child) Ask(r tcprun.Request) (tcprun.Reply, error) {
	reply, err := c.Remote.Ask(r)
	if malformed := new(json.SyntaxError); err == nil || errors.As(err, &malformed) {
		return reply, err
	}
	<-c.done // nothing but its end closes the pipes
	return reply, fmt.Errorf("its process ended: %s", c.ending)
}

// Close ends the process in any state.
func (c *child) Close() error {
	c.process.Kill()
	<-c.done
	return c.stdin.Close()
}
