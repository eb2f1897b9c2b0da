package cli

import (
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
	"ringleader.example/ringleader/election"
	"ringleader.example/ringleader/faults"
	"ringleader.example/ringleader/internal/tcprun"
	"ringleader.example/ringleader/simulate"
)

// overOptions are for runs over real connections.
type overOptions struct {
	over string
	unit time.Duration
}

// overs are the ways to run over real connections: all processors in this process, or a process each.
var overs = []string{"tcp", "processes"}

// overFlags are the flags that mean something there. Others are about what a simulation does.
var overFlags = []string{
	"over", "unit", "ids", "n", "order", "first", "seed", "param", "topology", "edges", "orientation", "ports", "votes", "scores",
	"allow-duplicate-ids", "start", "unwilling", "dead", "fault", "faults", "limit", "json", "help",
}

// mostProcesses is how many operating-system processes are started at once.
const mostProcesses = 256

func (o *overOptions) flags(command *cobra.Command) {
	f := command.Flags()
	f.StringVar(&o.over, "over", "", "no simulation, but real connections on loopback: tcp, or processes for a process each")
	f.DurationVar(&o.unit, "unit", 0, "over connections: how long a timed algorithm's unit is, or a round at least (default by size; none)")
	_ = command.RegisterFlagCompletionFunc("over", fixed(overs...))
}

// runOver runs an election over real connections.
func (p *program) runOver(command *cobra.Command, e *catalogue.Entry, o *runOptions) error {
	s, err := p.overRun(command, e, o)
	if err != nil {
		return err
	}
	if o.over == "processes" {
		spawner, err := newSpawner(s.Instance.IDs.Len() - len(s.Dead))
		if err != nil {
			return err
		}
		defer spawner.close()
		s.Spawn = spawner.spawn
	}
	r, err := tcprun.Run(command.Context(), e.Program, s)
	switch {
	case errors.Is(err, tcprun.ErrStopped):
		return exitError{exitIncomplete, err}
	case errors.Is(err, tcprun.ErrFailed):
		return exitError{exitNo, err}
	case err != nil:
		return err
	}
	if o.json {
		err = p.print(overJSON(e, o, &s, r))
	} else {
		p.overText(e, o, &s, r)
	}
	switch {
	case err != nil:
		return err
	case !r.Complete:
		return exitError{exitIncomplete, fmt.Errorf("stopped after %d deliveries, before the end", r.Deliveries)}
	case !r.Right || len(r.Faults) > 0:
		return exitError{code: exitNo}
	}
	return nil
}

// overRun says what is to be run over real connections.
func (p *program) overRun(command *cobra.Command, e *catalogue.Entry, o *runOptions) (s tcprun.Options, err error) {
	if o.over == "" {
		return s, errors.New("--unit is for runs over connections; add --over tcp or --over processes")
	}
	if _, err := word("over", o.over, overs...); err != nil {
		return s, err
	}
	command.Flags().Visit(func(f *pflag.Flag) {
		if !slices.Contains(overFlags, f.Name) {
			err = fmt.Errorf("--%s is for simulated runs; over %s the network is what it is, so leave out one of --%[1]s and --over", f.Name, o.over)
		}
	})
	if err != nil {
		return s, err
	}
	i, err := o.instance(e)
	if err != nil {
		return s, err
	}
	o.atAnyTime(e.Declaration, o.start, i.Parameters)
	if err := o.reluctant(e, &i); err != nil {
		return s, err
	}
	s = tcprun.Options{Instance: i, Seed: o.seed, Unit: o.unit, Patient: o.unit == 0, Limit: o.limit}
	if s.Initiators, s.AnyTime, err = o.initiators(i); err != nil {
		return s, err
	}
	script, err := o.faults(i, p.stdin)
	if err != nil {
		return s, err
	}
	if !reflect.DeepEqual(script, faults.Script{Dead: script.Dead}) {
		return s, fmt.Errorf("over %s processes can be dead from the start, and nothing else can go wrong; simulated runs know all faults", o.over)
	}
	s.Dead = script.Dead
	if o.of.Changed("limit") && o.limit == 0 {
		s.Limit = math.MaxUint64
	}
	return s, nil
}

// milliseconds is how results show durations.
func milliseconds(d time.Duration) float64 {
	return float64(d.Round(time.Microsecond)) / float64(time.Millisecond)
}

func overJSON(e *catalogue.Entry, o *runOptions, s *tcprun.Options, r *tcprun.Result) object {
	result := append(identity(e, &o.input, arranged{r.Prepared}), field{"timing", e.Timing.String()}, field{"over", o.over})
	if e.Timing == election.Timed {
		result = append(result, field{"unit_ms", milliseconds(r.Unit)},
			field{"delay_ms", object{{"longest", milliseconds(r.Longest)}, {"assumed", milliseconds(r.Assumed)}}})
	}
	result = append(result, field{"seed", o.seed}, field{"parameters", parameters(r.Prepared.Parameters)})
	result = append(result, votesJSON(r.Prepared)...)
	result = append(result, wakingJSON(&simulate.Options{Instance: s.Instance})...)
	result = append(result, outcomeJSON(e.Declaration, &r.Outcome)...)
	if r.Rounds != nil {
		result = append(result, field{"time", times(r.Rounds.Elected, r.Rounds.Decided, r.Rounds.Quiet)}, field{"markers", r.Markers})
	}
	result = append(result, field{"elapsed_ms", object{
		{"elected", milliseconds(r.Elapsed.Elected)}, {"decided", milliseconds(r.Elapsed.Decided)}, {"quiet", milliseconds(r.Elapsed.Quiet)},
	}})
	if b := worst(r.Prepared.Declaration(), r.Starters, r.Disturbed); b != nil {
		result = append(result, field{"bound", bound(b, r.Messages, len(r.Decisions))})
	}
	if script := (faults.Script{Dead: s.Dead}); len(s.Dead) > 0 {
		lines := script.Lines(r.Prepared)
		result = append(result, field{"faults", lines}, field{"lost", r.Lost})
	}
	if len(r.Faults) > 0 {
		result = append(result, field{"violations", r.Faults})
	}
	if r.Settled {
		result = append(result, field{"settled", true})
	}
	return append(result, field{"complete", r.Complete})
}

func (p *program) overText(e *catalogue.Entry, o *runOptions, s *tcprun.Options, r *tcprun.Result) {
	paint, w, n := p.paintOn(p.stdout), p.stdout, len(r.Decisions)
	how := whoStarts(&r.Outcome, s.Initiators, s.AnyTime) + ", over " + o.over
	if e.Timing == election.Timed {
		how += fmt.Sprintf(", a unit is %s", r.Unit)
	}
	fmt.Fprintf(w, "%s · %s · %s\n", paint.text(bold, e.Title), networkOf(e.Declaration, e.Timing, n), e.Source)
	p.underTitle(lineUp(e.Declaration, arranged{r.Prepared}, func(q int) bool { return slices.Contains(r.Dead, q) }), fmt.Sprintf("%s, seed %d", how, o.seed))
	verdict, colour := p.verdict(r.Prepared.Declaration(), &r.Outcome)
	fmt.Fprintln(w, paint.text(colour, verdict))
	after := fmt.Sprintf("   in %s", r.Elapsed.Quiet.Round(time.Microsecond))
	if r.Rounds != nil {
		after += fmt.Sprintf(" and %s rounds", r.Rounds.Quiet)
	}
	p.tally(r.Prepared)
	counts(w, e.Declaration, worst(r.Prepared.Declaration(), r.Starters, r.Disturbed), r.Messages, n, after)
	if r.Rounds != nil {
		fmt.Fprintf(w, "  %-12s %*d   of the synchroniser, a round and link each\n", "markers", 6, r.Markers)
	}
	if r.Lost > 0 {
		fmt.Fprintf(w, "  %-12s %*d   sent to the dead\n", "lost", 6, r.Lost)
	}
	if !r.Complete {
		fmt.Fprintln(w, "it has not ended")
	}
	if r.Longest > r.Assumed {
		fmt.Fprintf(w, "  a message took %s until it was handled, longer than the assumed %s; a longer --unit would do\n",
			r.Longest.Round(time.Microsecond), r.Assumed)
	}
	if r.Settled {
		fmt.Fprintln(w, "  its timers never stop; nobody had anything new to say for twice as long as the longest of them runs")
	}
	for _, fault := range r.Faults {
		fmt.Fprintln(w, paint.text(red, fault))
	}
}

// processor is the command that a run over processes starts for each processor.
func (p *program) processor() *cobra.Command {
	return &cobra.Command{
		Use:     "processor",
		Hidden:  true,
		Short:   "Be a processor of a run over processes: a plan and orders come in, replies go out",
		Example: "  ringleader processor",
		Args:    flagsOnly,
		RunE: func(*cobra.Command, []string) error {
			err := tcprun.Serve(p.stdin, p.stdout, p.algorithms.Program)
			if err != nil {
				return fmt.Errorf("this command is for ringleader run --over processes: %w", err)
			}
			return nil
		},
	}
}

// spawner starts the processes of a run.
type spawner struct {
	program string // our own binary
	forks
}

func newSpawner(n int) (*spawner, error) {
	if n > mostProcesses {
		return nil, fmt.Errorf("--over processes starts at most %d processes, not %d; --over tcp runs as many in one", mostProcesses, n)
	}
	program, err := os.Executable()
	if err != nil {
		return nil, failed("cannot find the own binary to start it: %w", err)
	}
	return &spawner{program, newForks()}, nil
}

func (s *spawner) close() { close(s.forks) }

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
	if err := s.start(command); err != nil {
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

// Ask asks the process; when it has died, the error says how.
func (c *child) Ask(r tcprun.Request) (tcprun.Reply, error) {
	reply, err := c.Remote.Ask(r)
	if malformed := new(json.SyntaxError); err == nil || errors.As(err, &malformed) {
		return reply, err
	}
	<-c.done // nothing but its end closes the pipes
	return reply, fmt.Errorf("its process ended: %s", c.ending)
}

// Close ends the process, whatever it is doing.
func (c *child) Close() error {
	c.process.Kill()
	<-c.done
	return c.stdin.Close()
}
