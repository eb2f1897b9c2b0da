package simulate

import (
	"errors"
	"fmt"

	"ringleader.example/ringleader/election"
	"ringleader.example/ringleader/internal/core/loops"
	"ringleader.example/ringleader/internal/core/process"
	"ringleader.example/ringleader/internal/core/random"
	"ringleader.example/ringleader/network"
	"ringleader.example/ringleader/outcome"
	"ringleader.example/ringleader/program"
	"ringleader.example/ringleader/trace"
)

// checkedBelow is the number of processes below which every step is checked, so that the author of an algorithm gets
// a clear error. Larger runs that need no clock go through the round engine, which trusts the algorithm and is
// several times faster. Tests check that both do the same.
const checkedBelow = 1 << 12

// run is one run of an algorithm with hidden types.
type run struct {
	runner  *Runner
	d       *election.Declaration // with the parameters of the run
	has     election.Functions
	o       Options
	p       *network.Instance
	net     *network.Network
	ps      *process.Processes // nil while an engine for large networks runs, because it has its own states and messages
	slots   []int              // by position: the slot of the state; nil: its own position
	step    *process.Effects   // of the last step
	acting  acting             // … the process and event of that step, if steps are checked
	checks  bool               // each step is made twice, and the two are compared
	limit   uint64             // of deliveries and timeouts
	choices *random.Source
	choose  func(uint32) uint32 // one of them
	luck    *random.Source      // of messages; nil if links neither lose nor duplicate
	severed []uint16            // by link: the number of cuts now; nil if the run has no cut
	fates   []fate              // of the last step's messages, if links lose or duplicate messages
	drifts  []*drift            // by process: the drift of its clock; nil if all are right
	lazy    *lazyClocks         // of a session in lazy time; else nil
	now     election.Ticks
	dead    []bool         // nil if no process ever is
	degree  uint32         // the number of ports on which each process of a ring may send; 0 elsewhere
	leases  *leases        // nil unless declared
	groups  map[group]bool // groups formed so far; nil unless declared
	beyond  bool           // the run ended quiescent, except for timers that would expire after 2¹²⁸ units
	unsent  int            // the number of messages of the last step that do not leave, because the process crashes amid it
	sent    [16]uint64
	byPhase [32]uint64 // of the first phases; the result holds the others
	steps   uint64     // deliveries and timeouts
	look    uint64     // the number of the step at which Progress may end the run
	result  *Result
	record  *recorder
	large   *loops.Run  // set while the loops for large networks run it
	loops   loops.Loops // the loops, for it
	watcher *mirror     // sees each step; nil in most runs
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
	if unborn, is := fault.(process.Unborn); is {
		e = &Violation{Property: process.Panicked, Detail: string(unborn)}
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
		runner: g, d: d, has: g.program.Functions, o: o, p: p, net: p.Network,
		result: &Result{
			Outcome: outcome.Outcome{
				Prepared: p, Complete: true, Starters: n - len(o.Faults.Dead),
				Disturbed: o.Faults.Timed() || len(o.Commands) > 0 || o.Faults.Lossy() || o.Faults.Unordered && d.FIFO,
			},
			Timing: o.Timing, Delay: o.Delay, Decisions: make([]network.Decision, n), Script: o.Faults,
		},
		choices: random.New(o.Seed, random.Choices), checks: o.Record || o.Check, limit: o.Limit,
	}
	if o.Limit == 0 {
		r.limit = DefaultLimit(n)
	}
	if starters := o.starters(); starters != nil {
		r.result.Starters = len(starters)
	}
	r.has.Phase = r.has.Phase && !o.SkipPhases
	switch {
	case d.OneWay:
		r.degree = 1
	case r.net.Topology == election.Ring:
		r.degree = 2
	}
	r.result.Bytes = n * (g.program.Plans.State.Size() + 16)
	r.prepareFaults()
	if d.Leased {
		r.leases = newLeases(n)
	}
	if d.Task == election.Groups {
		r.groups = map[group]bool{}
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
	n, f := r.p.Size(), &r.o.Faults
	if len(f.Dead)+len(f.Crashes) > 0 {
		r.dead = make([]bool, n)
		for _, q := range f.Dead {
			r.dead[q] = true
		}
	}
	if len(f.Cuts) > 0 {
		r.severed = make([]uint16, r.net.Links())
	}
	if len(f.Drifts) > 0 {
		r.drifts = make([]*drift, n)
		for i := range f.Drifts {
			r.drifts[f.Drifts[i].Process] = (*drift)(&f.Drifts[i])
		}
	}
	if f.Lossy() {
		r.luck = random.New(r.o.Seed, random.Links)
	}
}

// processes makes the processes, for the engines that check every step.
func (r *run) processes() {
	if r.ps != nil {
		return
	}
	r.ps = r.runner.program.New(r.p, r.has.Phase)
	if !r.o.Record {
		r.ps.Choices(r.choose)
		return
	}
	if r.o.Lines != nil {
		r.ps.List(r.o.Lines)
	}
	r.record = newRecorder(r)
	r.choose = r.record.notes(r.choose)
	r.ps.Choices(r.choose)
	for _, q := range r.o.Faults.Dead {
		r.note(q, trace.Step{Event: trace.Crash, Port: -1})
	}
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
	cores := min(max(1, r.o.Cores), r.p.Size()/checkedBelow)
	switch schedule := r.o.Schedule; {
	case schedule == FIFO && !r.o.AnyTime:
		if r.d.OneWay && r.d.Timing == election.Asynchronous {
			if r.enlarge().Arcs(cores, true).Play() {
				return true
			}
			r.restart()
		}
		r.enlarge().Rounds()
	case schedule == Sweep:
		if !r.enlarge().Arcs(cores, false).Play() {
			r.restart()
			r.enlarge().Arcs(1, false).Play()
		}
	case schedule == Random && r.net.Topology == election.Ring && !r.o.AnyTime && !r.o.Faults.Unordered:
		r.enlarge().Lottery()
	case schedule == Tile && !r.o.AnyTime:
		r.enlarge().Tiled(tileSize(r.p.Size()))
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
		Declaration: r.d, Network: r.net, Timing: r.o.Timing, Initiators: r.o.starters(), AnyTime: r.o.AnyTime, Seed: r.o.Seed,
		Choose: r.choose, Phases: r.has.Phase, Limit: r.limit, Limited: r.o.Limit != 0, Progress: r.o.Progress,
		Outcome: &r.result.Outcome, Decisions: r.result.Decisions,
	}
	r.loops = r.runner.program.Loops(r.large)
	return r.loops
}

// adopt takes over the results of the loops.
func (r *run) adopt() {
	r.sent, r.result.Time, r.result.Deliveries = r.large.Sent, r.large.Time, r.large.Deliveries
	r.result.Bytes += r.large.Bytes
}

// trusted reports whether an engine that does not check every step can run this.
func (r *run) trusted() bool {
	return r.runner.program.Loops != nil && r.p.Size() >= checkedBelow && r.o.Timing != election.Timed && r.o.Wake == nil && len(r.d.Timers) == 0 && !r.d.Leased &&
		!r.checks && r.dead == nil && r.o.Until.IsZero() && r.groups == nil && !r.o.Faults.Timed() && len(r.o.Commands) == 0 && r.luck == nil
}

// restart resets the run to its beginning.
func (r *run) restart() {
	fresh, err := r.runner.newRun(r.o)
	if err != nil {
		panic(err) // it was valid before
	}
	*r = *fresh
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
	for p := range r.p.Size() {
		if !r.isDead(p) && !yield(p) {
			return
		}
	}
}

func (r *run) isDead(p int) bool { return r.dead != nil && r.dead[p] }

// looksUp is the number of steps between calls of Progress, which may end the run. It is small, because a step can
// take long with large states.
const looksUp = 1 << 12

// mayContinue counts a step and reports whether there may be another.
func (r *run) mayContinue() bool {
	r.steps++
	if r.steps >= r.look {
		r.lookUp()
	}
	return r.result.Complete
}

// lookUp ends the run if it is over its limit or Progress ends it, and sets the step of the next look.
func (r *run) lookUp() {
	if r.look = (r.steps/looksUp + 1) * looksUp; r.limit < r.look {
		r.look = r.limit + 1
	}
	if r.steps > r.limit ||
		r.o.Progress != nil && r.steps%looksUp == 0 && !r.o.Progress(r.result.Deliveries) {
		r.result.Complete = false
	}
}

// count counts a message as sent.
func (r *run) count(s *process.Sent) {
	r.sent[s.Kind()]++
	if s.Phase >= 0 {
		r.phase(int(s.Phase))
	}
}

// phase counts an election message of a phase.
func (r *run) phase(phase int) {
	if phase < len(r.byPhase) {
		r.byPhase[phase]++
		return
	}
	r.result.AddPhase(phase, 1)
}

// decide applies a decision of the process at p.
func (r *run) decide(p int, e election.Effect) {
	if r.leases != nil {
		r.lease(p, e)
	}
	if d := &r.result.Decisions[p]; r.result.Decide(d, p, e) && r.result.Time != nil {
		r.result.Time.Decision(d.Role, r.now)
	}
}

// group is the name of a group; see [election.Groups].
type group struct {
	leader election.ID
	term   election.Term
}

// group checks that no group is formed twice, and that no process follows in a group that was never formed.
func (r *run) group(p int, e election.Effect) {
	switch g := (group{e.ID, e.Term}); e.Op {
	case election.Lead:
		g.leader = r.p.ID(p)
		if r.groups[g] {
			r.result.Fault(fmt.Sprintf("%s leads in term %d again", r.p.Name(p), g.term))
		}
		r.groups[g] = true
	case election.Follow:
		if !r.groups[g] {
			r.result.Fault(fmt.Sprintf("%s follows %d in term %d, in which that has not led", r.p.Name(p), r.p.RealOf(g.leader), g.term))
		}
	}
}

// finishPhases adds the first phases to those beyond them.
func (r *run) finishPhases() {
	all := make([]uint64, max(len(r.result.ByPhase), len(r.byPhase)))
	copy(all, r.result.ByPhase)
	for phase, count := range r.byPhase {
		all[phase] += count
	}
	for len(all) > 0 && all[len(all)-1] == 0 {
		all = all[:len(all)-1]
	}
	r.result.ByPhase = all
	if r.record != nil {
		r.result.Entered = r.record.entered(len(all))
	}
}

func (r *run) finish() *Result {
	if r.has.Phase {
		r.finishPhases()
	}
	r.result.Messages = outcome.MessagesOf(r.d, r.sent[:])
	r.endLeases()
	stands := func(p int) bool { return r.ps.Eligible(r.slot(p), p) }
	if r.loops != nil {
		stands = r.loops.Eligible
	}
	r.result.Verdict = r.p.Judge(r.result.Decisions, r.dead, stands)
	if r.beyond && !r.result.Agreed {
		panic(election.ErrTime)
	}
	r.result.Right = r.result.Right && len(r.result.Faults) == 0
	if r.record != nil {
		r.result.Record = &r.record.Record
	}
	return r.result
}
