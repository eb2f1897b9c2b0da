package run

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"runtime"
	"runtime/debug"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/spf13/cobra"

	"ringleader.example/ringleader/catalogue"
	"ringleader.example/ringleader/election"
	"ringleader.example/ringleader/internal/cli/labour"
	"ringleader.example/ringleader/internal/cli/option"
	"ringleader.example/ringleader/internal/cli/plan"
	"ringleader.example/ringleader/internal/core/amount"
	"ringleader.example/ringleader/internal/core/memory"
	"ringleader.example/ringleader/internal/show/report"
	"ringleader.example/ringleader/internal/study/gallery"
	"ringleader.example/ringleader/network"
	"ringleader.example/ringleader/simulate"
)

// Options are what the flags of a run ask for.
type Options struct {
	plan.Input
	timing, schedule string
	delay            uint64
	until, limit     uint64
	scenario         string
	plan.StoryFlags
	save string
	plan.Waking
	checking
	plan.FaultFlags
	plan.Ranks
	plan.Hosts
	overOptions
	Anonymous bool
	step      bool
	walk      string // the events of a walk, as [plan.ReadWalk] reads them
	LazyFlags
	plan.Results

	replayed []plan.SavedChoice // the events of a saved walk; nil: it is none
	Ceiling  Ceiling
}

// Ceiling limits a run. Zero means no limit.
type Ceiling struct {
	Memory uint64 // bytes of the program
	Record int    // bytes of the record, about
}

// Command returns the command run.
func Command(p *plan.Program) *cobra.Command {
	command, _ := New(p)
	return command.Command
}

// New returns the command, and the options that its flags set.
func New(p *plan.Program) (*plan.Command, *Options) {
	o := new(Options)
	command := &cobra.Command{
		Use:     "run [ALGORITHM]",
		GroupID: option.GroupStudy,
		Short:   "Run one election, simulated or over TCP, and count its cost",
		Long: `Run one election on a simulated network and report the leader, the cost, and whether it keeps the
bound that its source states. A seed determines the run, on every machine.

An asynchronous run has a schedule, which selects the link that delivers next:
  fifo           the link with the oldest message, so that all delays are one unit
  lifo           the link that was written last
  random         any link that is not empty
  round-robin    each link in turn
  random-delay   by random delays, from 256 to 65536 ticks of a clock
  sweep, tile    process by process, tile by tile: the same counts, faster on large rings
  max-messages, max-time   greedy adversaries
  burns          the adversary of Burns' lower bound, which keeps one edge of the ring closed
A timed run has delays of 1 to --delay units, and a synchronous one delays of one unit. Both have a
clock, and so do fifo and random-delay.

Faults are given one per line: each in a --fault, or all in a file for --faults, where # begins a
comment. Times need a clock. Without from and until a fault lasts from 0 on, for ever.
  dead 3                                     crash 7 at 30
  recover 7 at 80                            crash 7 at 30 after 2 sends
  partition 1,2 | 3,4 from 30 until 150      partition 1 | others
  cut 1 -> 2 from 10 until 20                pause 3 from 10 until 50
  slow 3 by 4 from 0 until 100               suspect 2 of 5 from 10 until 20
  drift 4 by 11/10                           reorder
  lose 1/20                                  duplicate 1/50
  random 2 crashes, 1 recovery, 1 partition, 1 cut, 1 slow, 1 pause, 1 suspicion until 500
A crash after 2 sends happens within the next step that sends more than 2 messages. Processes that a
partition does not name keep their links. Messages of a slow process take that many times as long. A
paused process takes no steps. The seed determines the random faults. An algorithm also runs under faults
outside its fault model. If a property is then violated, the result names it, with a command to replay it.

Hosts ask things of their processes with --command, a line each: resign 3 at 50; transfer 3 to 2 at 50;
weigh 3 as 7 at 50. The algorithm decides what it makes of that. With --wardens a process that crashes
takes its work with it, and the others get a proof of that.

With --over tcp nothing is simulated: the processes are connected by TCP on this machine, and the
operating system determines the schedule. Schedule-independent counts are the same. A timed
algorithm's unit of time is the duration --unit. A synchronous algorithm keeps rounds by markers, which
are counted apart. The only fault is dead. With --over processes each has an operating-system process of
its own.

With --anonymous all processes of a ring have one identifier, or those of --ids, which may repeat. All
initiate at time 0, and every message takes one unit. After each unit the states of symmetric processes
are compared. Without random choices they stay equal for ever, so all of them are leaders or none is.

With --step the run waits for commands, one per line. An empty line takes the first of the listed next
events, and a number takes that one.
  back 3     undo the last 3 events          faults      list possible faults, selected as f1, f2, …
  go 5       take the next 5 events          end         continue to quiescence
  state      what each process knows         save FILE   save the walk, for replay
  partition 1,2 | 3, cut 1 -> 2              transfer 3 to 2, weigh 3 as 7
  worst      take the most messages          two-leaders take a way to two leaders
  list, help, quit
On a terminal, lines can be edited and recalled, and Tab completes a command.

ALGORITHM may also be an exhibit of verify --gallery.

Exit status: 0 one leader, the right one, agreed; 1 not so; 3 stopped early; 64 the call was wrong.`,
		Example: `  ringleader run lcr --ids 5,4,3,2,1
  ringleader run ring-bully --n 1000000 --order random --seed 7
  ringleader run lcr --n 8 --order random --schedule random --start any --draw lcr.svg
  ringleader run franklin --n 256 --order decreasing --schedule burns
  ringleader run peterson --n 7 --order random --non-fifo --schedule random --seed 16
  ringleader run bully --n 7 --leader-dead --start 4
  ringleader run bully --n 5 --crash 5@30 --recover 5@60 --trace bully.jsonl
  ringleader run bully --n 5 --fault "partition 1,2 | 3,4,5 from 30 until 90"
  ringleader run bully --n 7 --fault "random 2 crashes, 1 recovery until 100" --seed 3
  ringleader run hirschberg-sinclair --n 100 --order random --over tcp
  ringleader run quorum-bully --n 3 --command "resign 3 at 50" --until 200 --story
  ringleader run lcr --n 5 --anonymous
  ringleader run odd-pair --ids 7,5,5,7,5,5,5
  ringleader run --scenario s2-figures-2.7-2.8
  ringleader run lcr --ids 5,4,3,2,1 --story
  ringleader run bully --n 7 --fault "random 2 crashes until 100" --seed 3 --save bad-day.json`,
	}
	o.Input.Flags(command, p)
	command.ValidArgsFunction = p.OneOf(plan.AnyAlgorithm)
	o.Results.Flags(command, "the run")
	f := command.Flags()
	f.BoolVar(&o.Duplicates, "allow-duplicate-ids", false, "allow equal identifiers")
	f.StringVar(&o.Start, "start", "", "initiators, before the first delivery: all, or ID,…; any: the schedule decides when (default all)")
	o.Waking.Flags(command)
	o.checking.flags(command)
	f.StringVar(&o.timing, "timing", "", "asynchronous, timed or synchronous (default: as the algorithm assumes)")
	f.StringVar(&o.schedule, "schedule", "fifo", "of an asynchronous run: "+strings.Join(simulate.Schedules, ", "))
	option.Positive(f, &o.delay, "delay", "of a timed run: messages take 1 to this many units (default the parameter delay, or 1)")
	o.FaultFlags.Flags(command, p.Name)
	o.Ranks.Flags(command)
	o.Hosts.Flags(command)
	o.overOptions.flags(command)
	f.BoolVar(&o.Anonymous, "anonymous", false, "one identifier for all, or those of --ids, and states compared in lock-step: Angluin's impossibility")
	f.StringVar(&o.scenario, "scenario", "", "a named run, with its story; see ringleader scenarios")
	o.StoryFlags.Flags(command)
	f.BoolVar(&o.step, "step", false, "walk the run event by event, forward and back, choosing the next event")
	f.StringVar(&o.walk, "walk", "", "make these events, as an address or a command of ringleader lab has them; with --step, go on from there")
	o.LazyFlags.flags(command)
	option.Positive(f, &o.until, "until", "a run with a clock ends at this time (default: at quiescence, or when it must have stabilized)")
	option.Number(f, &o.limit, "limit", "", 0, "stop after this many deliveries and timeouts; 0: never (default 100 million, or 4n³ if that is more; over connections 10000 or 4n³)")
	f.StringVar(&o.save, "save", "", "save the run with all its inputs into this file, for ringleader replay")
	option.Offer(command, "timing", "asynchronous", "timed", "synchronous")
	option.Offer(command, "schedule", simulate.Schedules...)
	option.Offer(command, "start", "all", "any")
	option.Offer(command, "scenario", runScenarioNames()...)
	planned := func(args []string) (plan.Study, error) { return o.plan(p, command, args) }
	return p.CarriesOut(&plan.Command{Command: command, Plan: planned, Working: new(labour.Work)}), o
}

// plan returns the study that the flags ask for.
func (o *Options) plan(p *plan.Program, command *cobra.Command, args []string) (plan.Study, error) {
	args, err := o.played(command, args)
	if err != nil {
		return nil, err
	}
	e, err := o.Runnable(p, command, args)
	if err != nil {
		return nil, err
	}
	e = o.Form(e)
	if o.Anonymous {
		return o.planLockstep(command, e)
	}
	if o.step || o.walk != "" {
		return o.planWalk(p, command, e)
	}
	if err := o.LazyFlags.Unused(command); err != nil {
		return nil, err
	}
	if o.over != "" || command.Flags().Changed("unit") {
		return o.planOver(p, command, e)
	}
	return o.planSimulation(p, e)
}

// Runnable returns what the only argument names: an algorithm, or an exhibit of the gallery.
func (o *Options) Runnable(p *plan.Program, command *cobra.Command, args []string) (*catalogue.Entry, error) {
	e, err := p.OneAlgorithm(command, args)
	if err == nil || len(args) != 1 {
		return e, err
	}
	all := gallery.All()
	at := slices.IndexFunc(all, func(x gallery.Exhibit) bool { return x.Name == args[0] })
	if at < 0 {
		return nil, err
	}
	o.Called = args[0]
	return new(catalogue.Of(simulate.New(all[at].Program), nil)), nil
}

// Simulator turns flags into options of the simulator.
func (o *Options) Simulator(e *catalogue.Entry, stdin io.Reader) (simulate.Options, error) {
	i, err := o.Setup(e)
	if err == nil {
		err = o.LeaderDies(e, i)
	}
	if err != nil {
		return simulate.Options{}, err
	}
	o.AtAnyTime(e.Declaration, o.Start, i.Parameters)
	if err = cmp.Or(o.Reluctant(e, &i), o.Rank(e, &i, o.Given)); err != nil {
		return simulate.Options{}, err
	}
	s := simulate.Options{
		Setup: i, Delay: o.delay, Seed: o.Seed, Until: election.Units(o.until), Limit: o.most(),
		Record: o.Recorded() || o.Told(), Cores: runtime.GOMAXPROCS(0),
	}
	timing := int(e.Timing)
	if o.timing != "" {
		if timing, err = plan.Word("timing", o.timing, "asynchronous", "timed", "synchronous"); err != nil {
			return s, err
		}
		if election.Timing(timing) < e.Timing {
			return s, fmt.Errorf("%s needs a %s network; --timing %s is too weak", e.Name, e.Timing, o.timing)
		}
	}
	s.Timing = election.Timing(timing)
	schedule, err := plan.Word("schedule", o.schedule, simulate.Schedules...)
	if err != nil {
		return s, err
	}
	s.Schedule = simulate.Schedule(schedule)
	if s.Initiators, s.AnyTime, err = o.Initiators(i); err != nil {
		return s, err
	}
	if s.Wake, err = o.WakeUps(o.Start, i.IDs.Len()); err != nil {
		return s, err
	}
	if err := o.Tell(i, &s); err != nil {
		return s, err
	}
	s.Faults, err = o.Faults(i, stdin)
	return s, err
}

// most is the limit of deliveries and timeouts, for the simulator.
func (o *Options) most() uint64 {
	if o.limit == 0 && o.Of.Changed("limit") {
		return simulate.NoLimit
	}
	return o.limit
}

// simulation is the study of one simulated run.
type simulation struct {
	e *catalogue.Entry
	o *Options
	s simulate.Options
}

// planSimulation plans a simulated run.
func (o *Options) planSimulation(p *plan.Program, e *catalogue.Entry) (plan.Study, error) {
	if err := o.Check(); err != nil {
		return nil, err
	}
	if o.save == "-" {
		return nil, fmt.Errorf("--save writes a file for %s replay; stdout has the result", p.Name)
	}
	s, err := o.Simulator(e, p.Stdin)
	if err != nil {
		return nil, err
	}
	return &simulation{e, o, s}, nil
}

// Job is that of a [plan.Study].
func (*simulation) Job() (*labour.Assignment, error) { return nil, plan.ErrNoJob }

// Answer is that of an [plan.Answerable].
func (r *simulation) Answer(ctx context.Context, p *plan.Program, _ labour.Doer) (*plan.Finding, error) {
	found, err := Elect(ctx, p, r.e, r.o, &r.s)
	if broken := new(simulate.Violation); errors.As(err, &broken) {
		return r.o.broken(r.e, &r.s, broken)
	}
	if err != nil {
		return nil, err
	}
	f := &plan.Finding{
		Results: []report.Result{found}, Record: found.Record,
		Page: func() (plan.SavedRun, error) { return r.o.saved(r.e, &r.s, found.Prepared), nil },
	}
	if r.o.scenario != "" {
		f.Results[0] = scenarioRun{found, r.o.scenario}
	}
	switch {
	case !found.Complete:
		f.Verdict = report.Stopped("%w", stopped(ctx, found.Deliveries))
	case !found.Right || len(found.Faults) > 0 || r.o.failed():
		f.Verdict = report.ErrNo
	}
	return f, nil
}

// CarryOut is that of a [plan.Study].
func (r *simulation) CarryOut(ctx context.Context, p *plan.Program, by labour.Doer) error {
	found, err := r.Answer(ctx, p, by)
	if err != nil {
		return err
	}
	if err := errors.Join(r.keep(p, found), r.o.Put(p, found)); err != nil {
		return err
	}
	return found.Verdict
}

// keep saves the run, if that is wanted.
func (r *simulation) keep(p *plan.Program, found *plan.Finding) error {
	if r.o.save == "" {
		return nil
	}
	run, err := found.Page()
	if err != nil {
		return err
	}
	return p.ToFile(r.o.save, run.Put)
}

// Elect simulates the election, and checks what its source claims of every run.
func Elect(ctx context.Context, p *plan.Program, e *catalogue.Entry, o *Options, s *simulate.Options) (*report.Run, error) {
	checked, err := o.records(e, s.Setup.IDs.Len())
	if err != nil {
		return nil, err
	}
	s.Record, s.Values = s.Record || checked, checked
	s.Recorded = o.Ceiling.Record
	r, err := o.simulated(ctx, p, e, s)
	if broken := new(simulate.Violation); errors.As(err, &broken) {
		return nil, err
	}
	if err != nil {
		return nil, o.Locate(err, e, s.Setup)
	}
	if err := o.checking.run(e, s, r); err != nil {
		return nil, err
	}
	found := &report.Run{Subject: o.Subject(e), Options: s, Result: r, Claims: o.claims}
	found.Start = o.StartWord(found.Start)
	found.Replay = func(lines []string) string { return o.Replay(e, lines) }
	found.Told, err = o.Telling(s.Setup, o.Window())
	return found, err
}

// patience is how long a run that is interrupted may take to end, with what it has found so far. The next step of an algorithm that floods its
// network may take seconds.
const patience = 200 * time.Millisecond

// simulated simulates the election. It returns an error if that goes on after an interrupt, where only this program waits for it.
func (o *Options) simulated(ctx context.Context, p *plan.Program, e *catalogue.Entry, s *simulate.Options) (*simulate.Result, error) {
	var mutex sync.Mutex // guards the rest
	reached, bar := uint64(0), p.Progress()
	s.Progress = func(deliveries uint64) bool {
		mutex.Lock()
		defer mutex.Unlock()
		reached = deliveries
		switch {
		case ctx.Err() != nil:
			return false
		case deliveries < 1_000_000:
			bar.Show("%s", amount.Of(deliveries, "delivery"))
		default:
			bar.Show("%d million deliveries", deliveries/1_000_000)
		}
		return o.Ceiling.Memory == 0 || memory.Used() <= o.Ceiling.Memory
	}
	type ending struct {
		r   *simulate.Result
		err error
		bug any // what it panics with
	}
	ended := make(chan ending, 1)
	go func(s simulate.Options) {
		var last ending
		defer func() {
			if last.bug = recover(); last.bug != nil && p.Getenv("RINGLEADER_DEBUG") == "1" {
				p.Err.Write(debug.Stack())
			}
			ended <- last
		}()
		last.r, last.err = e.Simulate(s)
	}(*s)
	impatient := make(chan struct{})
	if o.Ceiling == (Ceiling{}) { // the lab goes on, and its runs are counted
		defer context.AfterFunc(ctx, func() { time.AfterFunc(patience, func() { close(impatient) }) })()
	}
	select {
	case last := <-ended:
		bar.Done()
		if last.bug != nil {
			panic(last.bug)
		}
		return last.r, last.err
	case <-impatient:
		mutex.Lock()
		defer mutex.Unlock()
		bar.Done()
		return nil, report.Stopped("stopped after more than %s, before the end, and amid a long step", amount.Of(reached, "delivery"))
	}
}

// broken returns the run of an algorithm that broke the contract.
func (o *Options) broken(e *catalogue.Entry, s *simulate.Options, v *simulate.Violation) (*plan.Finding, error) {
	prepared, err := network.Prepare(e.Declaration, s.Setup)
	if err != nil {
		return nil, err
	}
	return &plan.Finding{
		Results: []report.Result{&report.Broken{Subject: o.Subject(e), Prepared: prepared, Violation: v}}, Record: v.Record, Verdict: report.ErrNo,
		Page: func() (plan.SavedRun, error) { return o.saved(e, s, prepared), nil },
	}, nil
}

// stopped is the error of a run that a limit or the caller stopped.
func stopped(ctx context.Context, deliveries uint64) error {
	if ctx.Err() != nil {
		return fmt.Errorf("stopped after %s, before the end", amount.Of(deliveries, "delivery"))
	}
	return fmt.Errorf("stopped after %s, before the end; --limit allows more", amount.Of(deliveries, "delivery"))
}
