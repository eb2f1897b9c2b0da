package simulate

import (
	"errors"
	"fmt"

	"ringleader.example/ringleader/election"
	"ringleader.example/ringleader/faults"
	"ringleader.example/ringleader/internal/core/loops"
	"ringleader.example/ringleader/internal/core/process"
	"ringleader.example/ringleader/internal/core/random"
	"ringleader.example/ringleader/network"
	"ringleader.example/ringleader/outcome"
	"ringleader.example/ringleader/program"
	"ringleader.example/ringleader/simulate/internal/queues"
	"ringleader.example/ringleader/simulate/internal/steps"
	"ringleader.example/ringleader/trace"
)

// checkedBelow is the number of processes below which every step is checked, so that the author of an algorithm gets
// a clear error. Larger runs that need no clock go through the round engine, which trusts the algorithm and is
// several times faster. Tests check that both do the same.
const checkedBelow = 1 << 12

// run is one run of an algorithm with hidden types.
type run struct {
	steps.Core
	runner  *Runner
	o       Options
	choices *random.Source
	choose  func(uint32) uint32 // one of them
	beyond  bool                // the run ended quiescent, except for timers that would expire after 2¹²⁸ units
	result  *Result
	large   *loops.Run  // set while the loops for large networks run it
	loops   loops.Loops // the loops, for it
}

// Run runs an election.
func Run[S, M any](a election.Algorithm[S, M], o Options) (*Result, error) {
	runner, err := Of(&a)
	if err != nil {
		return nil, err
	}
	return runner.Run(o)
}

// Runner runs elections of one algorithm with hidden types. See [Of].
type Runner struct {
	program *loops.Program
}

// New returns the runner of a program. One of program.Of is without the loops for large networks; see [OfSmall].
func New(p program.Program) *Runner {
	if looped, is := p.(*loops.Program); is {
		return &Runner{looped}
	}
	return &Runner{&loops.Program{Program: process.Opened(p)}}
}

// Of hides the types of an algorithm, so that it is compiled for them once. It returns the error of
// [election.Algorithm.Validate], or names the type that is not plain.
func Of[S, M any](a *election.Algorithm[S, M]) (*Runner, error) {
	looped, err := loops.Of(a)
	if err != nil {
		return nil, err
	}
	return New(looped), nil
}

// OfSmall is [Of] without the loops for large networks, which take most of the compile time. It is for algorithms
// with timers, which these loops never run, and for variants that run on small networks only.
func OfSmall[S, M any](a *election.Algorithm[S, M]) (*Runner, error) {
	small, err := loops.OfSmall(a)
	if err != nil {
		return nil, err
	}
	return New(small), nil
}

// Must returns the runner, and panics on an error. It is for algorithms that are known to be valid.
func Must(runner *Runner, err error) *Runner {
	if err != nil {
		panic(err)
	}
	return runner
}

// Program returns the algorithm, for other engines.
func (g *Runner) Program() program.Program { return g.program }

// Run runs an election.
func (g *Runner) Run(o Options) (*Result, error) { return told(o, g.run) }

func (g *Runner) run(o Options) (result *Result, err error) {
	defer g.refuses(&err)
	if o.Schedule == Burns {
		return g.runBurns(o)
	}
	r, err := g.newRun(o)
	if err != nil {
		return nil, err
	}
	r.attempt(r.start)
	return r.finish(), nil
}

// refuses turns a panic that ends a run into an error. Other panics continue.
func (g *Runner) refuses(err *error) {
	fault := recover()
	if fault == nil {
		return
	}
	e, ok := fault.(error)
	if wrong, is := fault.(process.Fault); is {
		e = &Violation{Property: wrong.Property, Detail: wrong.Detail}
	}
	if !ok || !refusal(e) && !errors.Is(e, ErrBroken) {
		panic(fault)
	}
	*err = fmt.Errorf("simulating %s: %w", g.program.Name, e)
}

func (g *Runner) newRun(o Options) (*run, error) {
	p, err := network.Prepare(g.program.Declaration, o.Setup)
	if err != nil {
		return nil, err
	}
	if err := o.check(g.program.Program, p); err != nil {
		return nil, err
	}
	n, d := p.Size(), p.Declaration()
	r := &run{
		Core: steps.Core{
			Declaration: d, Functions: g.program.Functions, Instance: p, Network: p.Network, Checks: o.Record || o.Check, Limit: o.Limit, Progress: o.Progress,
			Lose: o.Faults.Lose, Duplicate: o.Faults.Duplicate, Decisions: make([]network.Decision, n), Values: o.Values, Recorded: o.Recorded,
		},
		runner: g, o: o,
		result: &Result{
			Outcome: outcome.Outcome{
				Prepared: p, Complete: true, Starters: n - len(o.Faults.Dead),
				Disturbed: o.Faults.Timed() || len(o.Commands) > 0 || o.Faults.Lossy() || o.Faults.Unordered && d.FIFO,
			},
			Timing: o.Timing, Delay: o.Delay, Script: o.Faults,
		},
		choices: random.New(o.Seed, random.Choices),
	}
	r.Outcome, r.result.Decisions, r.Breaks = &r.result.Outcome, r.Decisions, r.broken
	if o.Limit == 0 {
		r.Limit = DefaultLimit(n)
	}
	if starters := o.starters(); starters != nil {
		r.result.Starters = len(starters)
	}
	r.Functions.Phase = r.Functions.Phase && !o.SkipPhases
	switch {
	case d.OneWay:
		r.Degree = 1
	case r.Network.Topology == election.Ring:
		r.Degree = 2
	}
	r.result.Bytes = n * (g.program.Plans.State.Size() + 16)
	r.prepareFaults()
	if d.Leased {
		r.Leases = steps.NewLeases(n)
	}
	if d.Task == election.Groups {
		r.Groups = map[steps.Group]bool{}
	}
	r.choose = func(n uint32) uint32 {
		if n == 0 {
			panic(process.ErrNoChoice)
		}
		r.result.Random = true
		return uint32(r.choices.Below(uint64(n)))
	}
	return r, nil
}

// prepareFaults allocates what the faults of the run need.
func (r *run) prepareFaults() {
	n, f := r.Instance.Size(), &r.o.Faults
	if len(f.Dead)+len(f.Crashes) > 0 {
		r.Dead = make([]bool, n)
		for _, q := range f.Dead {
			r.Dead[q] = true
		}
	}
	if len(f.Cuts) > 0 {
		r.Severed = make([]uint16, r.Network.Links())
	}
	if len(f.Drifts) > 0 {
		r.Drifts = make([]*steps.Drift, n)
		for i := range f.Drifts {
			r.Drifts[f.Drifts[i].Process] = (*steps.Drift)(&f.Drifts[i])
		}
	}
	if f.Lossy() {
		r.Luck = random.New(r.o.Seed, random.Links)
	}
}

// processes makes the processes, for the engines that check every step.
func (r *run) processes() {
	if r.Processes != nil {
		return
	}
	r.Processes = r.runner.program.New(r.Instance, r.Functions.Phase, r.Checks)
	if !r.o.Record {
		r.Processes.Choices(r.choose)
		return
	}
	if r.o.Lines != nil {
		r.Processes.List(r.o.Lines)
	}
	r.Record = &steps.Recorder{Record: trace.Record{Header: r.header()}}
	r.choose = r.Record.Notes(r.choose)
	r.Processes.Choices(r.choose)
	for _, q := range r.o.Faults.Dead {
		r.Note(q, trace.Step{Event: trace.Crash, Port: -1})
	}
}

// header returns the header of a record of the run.
func (r *run) header() trace.Header {
	h := trace.NewHeader(r.Declaration, r.Instance)
	h.Timing = r.o.Timing.String()
	h.Seed, h.Delay, h.Unordered = r.o.Seed, r.o.Delay, r.o.Faults.Unordered
	if r.o.Timing == election.Asynchronous {
		h.Schedule = r.o.Schedule.String()
	}
	h.Clock = r.o.clock()
	return h
}

// start picks the engine.
func (r *run) start() {
	switch schedule := r.o.Schedule; {
	case r.trusted() && r.trust():
		r.adopt()
	case r.o.Timing != election.Asynchronous || schedule == FIFO || schedule == RandomDelay:
		newClocked(r).play()
	default:
		newLinks(r).play()
	}
}

// trust runs the election on an engine that does not check every step, if the schedule has one.
func (r *run) trust() bool {
	cores := min(max(1, r.o.Cores), r.Instance.Size()/checkedBelow)
	ring := r.runner.program.Rings
	switch schedule := r.o.Schedule; {
	case schedule == FIFO && !r.o.AnyTime:
		if ring != nil && r.Declaration.OneWay && r.Declaration.Timing == election.Asynchronous {
			if ring(r.enlarge()).Arcs(cores, true).Play() {
				return true
			}
			r.restart()
		}
		r.enlarge().Rounds()
	case ring == nil:
		return false
	case schedule == Sweep:
		if !ring(r.enlarge()).Arcs(cores, false).Play() {
			r.restart()
			ring(r.enlarge()).Arcs(1, false).Play()
		}
	case schedule == Random && r.Network.Topology == election.Ring && !r.o.AnyTime && !r.o.Faults.Unordered:
		ring(r.enlarge()).Lottery()
	case schedule == Tile && !r.o.AnyTime:
		ring(r.enlarge()).Tiled(queues.TileSize(r.Instance.Size()))
	default:
		return false
	}
	return true
}

// enlarge hands the run to the loops for large networks.
func (r *run) enlarge() loops.Loops {
	if r.loops != nil {
		return r.loops
	}
	r.large = &loops.Run{
		Declaration: r.Declaration, Network: r.Network, Timing: r.o.Timing, Initiators: r.o.starters(), AnyTime: r.o.AnyTime, Seed: r.o.Seed,
		Choose: r.choose, Phases: r.Functions.Phase, Limit: r.Limit, Limited: r.o.Limit != 0, Progress: r.o.Progress,
		Outcome: &r.result.Outcome, Decisions: r.Decisions,
	}
	r.loops = r.runner.program.Loops(r.large)
	return r.loops
}

// adopt takes over the results of the loops.
func (r *run) adopt() {
	r.Sent, r.Time, r.Deliveries = r.large.Sent, r.large.Time, r.large.Deliveries
	r.result.Bytes += r.large.Bytes
}

// trusted reports whether an engine that does not check every step can run this.
func (r *run) trusted() bool {
	return r.runner.program.Loops != nil && r.Instance.Size() >= checkedBelow && r.o.Timing != election.Timed && r.o.Wake == nil && len(r.Declaration.Timers) == 0 && !r.Declaration.Leased &&
		!r.Checks && r.Dead == nil && r.o.Until.IsZero() && r.Groups == nil && !r.o.Faults.Timed() && len(r.o.Commands) == 0 && r.Luck == nil
}

// restart resets the run to its beginning.
func (r *run) restart() {
	fresh, err := r.runner.newRun(r.o)
	if err != nil {
		panic(err) // it was valid before
	}
	*r = *fresh
	r.Breaks = r.broken
}

// initiators yields the positions that start, in order.
func (r *run) initiators(yield func(int) bool) {
	if starters := r.o.starters(); starters != nil {
		for _, p := range starters {
			if !yield(p) {
				return
			}
		}
		return
	}
	for p := range r.Instance.Size() {
		if !r.IsDead(p) && !yield(p) {
			return
		}
	}
}

func (r *run) finish() *Result {
	if r.Functions.Phase {
		r.FinishPhases()
	}
	r.result.Messages = outcome.MessagesOf(r.Declaration, r.Sent[:])
	r.EndLeases()
	stands := func(p int) bool { return r.Processes.Eligible(r.Slot(p), p) }
	if r.loops != nil {
		stands = r.loops.Eligible
	}
	r.result.Verdict = r.Instance.Judge(r.Decisions, r.Dead, stands)
	if r.beyond && !r.result.Agreed {
		panic(election.ErrTime)
	}
	r.result.Right = r.result.Right && len(r.result.Faults) == 0
	r.result.Decisions, r.result.Time, r.result.Deliveries, r.result.Duplicated = r.Decisions, r.Time, r.Deliveries, r.Duplicated
	if r.Record != nil {
		r.result.Record = &r.Record.Record
	}
	return r.result
}

// Result is the result of a run.
type Result struct {
	outcome.Outcome
	Decisions []network.Decision // by position; of a dead process, its last decision

	Timing election.Timing
	Delay  uint64        // of a timed run
	Script faults.Script // the given faults, and the drawn ones as if given
	Missed []string      // the faults that could not happen: crashes during a step that never came, as lines

	Random     bool           // a step has made a random choice
	Deliveries uint64         // steps that received a message
	Duplicated uint64         // messages that arrived twice; the second arrival is a delivery, but not a sent message
	Open       *Open          // under Burns' adversary; else nil
	Time       *outcome.Times // nil without a clock
	Bytes      int            // of state, decisions and queues
	Record     *trace.Record
}
