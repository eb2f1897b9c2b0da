package simulate

import (
	"errors"
	"fmt"

	"ringleader.example/ringleader/election"
	"ringleader.example/ringleader/internal/plain"
	"ringleader.example/ringleader/internal/random"
	"ringleader.example/ringleader/trace"
)

// ErrBroken says that an algorithm broke the contract, and how.
var ErrBroken = errors.New("broke the contract")

// checkedBelow is the number of processes below which every step is looked at, so that whoever writes an
// algorithm gets a clear error. Larger runs without a clock's work to do go through the round engine,
// which trusts the algorithm and is several times faster; both do the same, which tests show.
const checkedBelow = 1 << 12

// run is one run of an algorithm.
type run[S, M any] struct {
	a       election.Algorithm[S, M]
	o       Options
	p       *election.Prepared
	net     *election.Network
	plans   plain.Plans[S, M]
	states  []S
	collect *election.Collector[M]
	choices *random.Source
	choose  func(uint32) uint32 // one of them
	luck    *random.Source      // of messages; nil if links make no mistakes
	severed []uint16            // by link: how many cuts there are now; nil if there never is one
	fates   []fate              // of what was sent in the last step, if there is luck or a cut
	drifts  []*Drift            // by process: what is wrong with its clock; nil if all are right
	now     election.Ticks
	dead    []bool           // nil if nobody ever is
	leases  []election.Ticks // when each one ends; nil unless declared
	groups  map[group]bool   // that have been; nil unless declared
	once    bool             // who follows without a term does so for ever
	beyond  bool             // in the end all was quiet, but for timers that would expire after 2¹²⁸ units
	unsent  int              // how many messages of the last step do not leave, since the process crashes amid it
	sent    [16]uint64
	elects  uint16     // which kinds are election messages: bit by kind
	byPhase [32]uint64 // of the first phases; the result has the others
	steps   uint64     // deliveries and timeouts
	result  *Result
	record  *recorder[S, M]
}

// Run runs an election.
func Run[S, M any](a election.Algorithm[S, M], o Options) (result *Result, err error) {
	defer func() {
		if fault := recover(); fault != nil {
			result, err = nil, refused(fault, a.Name)
		}
	}()
	if o.Schedule == Burns {
		return runBurns(a, o)
	}
	r, err := newRun(a, o)
	if err != nil {
		return nil, err
	}
	r.start()
	return r.finish(), nil
}

// refused is the error that ended a run by a panic. Other panics go on.
func refused(fault any, name string) error {
	e, ok := fault.(error)
	if !ok || !errors.Is(e, election.ErrTime) && !errors.Is(e, ErrBroken) && !errors.Is(e, ErrOptions) {
		panic(fault)
	}
	return fmt.Errorf("simulating %s: %w", name, e)
}

func newRun[S, M any](a election.Algorithm[S, M], o Options) (*run[S, M], error) {
	if err := a.Validate(); err != nil {
		return nil, err
	}
	plans, err := plain.ForAlgorithm(&a)
	if err != nil {
		return nil, err
	}
	p, err := a.Prepare(o.Instance)
	if err != nil {
		return nil, err
	}
	if err := o.check(&a.Declaration, p, a.Suspect != nil, a.Command != nil); err != nil {
		return nil, err
	}
	a.Declaration = *p.Declaration()
	if o.SkipPhases {
		a.Phase = nil
	}
	n := p.Size()
	r := &run[S, M]{
		a: a, o: o, p: p, net: p.Network, plans: plans, states: make([]S, n),
		collect: new(election.Collector[M]),
		result: &Result{
			Timing: o.Timing, Delay: o.Delay, Prepared: p, Complete: true,
			Decisions: make([]election.Decision, n), Starters: n - len(o.Faults.Dead), Script: o.Faults,
			Hurt: o.Faults.timed() || len(o.Resigns) > 0 || o.Faults.links() || o.Faults.Unordered && a.FIFO,
		},
	}
	if starters := o.starters(); starters != nil {
		r.result.Starters = len(starters)
	}
	r.result.Bytes = n * (r.plans.StateSize() + 16)
	for q := range r.states {
		r.states[q] = a.New(p.Local(q))
	}
	if len(o.Faults.Dead)+len(o.Faults.Crashes) > 0 {
		r.dead = make([]bool, n)
		for _, q := range o.Faults.Dead {
			r.dead[q] = true
		}
	}
	if len(o.Faults.Cuts) > 0 {
		r.severed = make([]uint16, p.Network.Links())
	}
	if len(o.Faults.Drifts) > 0 {
		r.drifts = make([]*Drift, n)
		for i := range o.Faults.Drifts {
			r.drifts[o.Faults.Drifts[i].Process] = &o.Faults.Drifts[i]
		}
	}
	if a.Leased {
		r.leases = make([]election.Ticks, n)
	}
	if a.Task == election.Groups {
		r.groups = map[group]bool{}
	}
	r.once = a.Task == election.Once && !a.Leased
	for k, kind := range a.Kinds {
		if kind.Class == election.Election {
			r.elects |= 1 << k
		}
	}
	r.choices = random.New(o.Seed, random.Choices)
	r.choose = func(n uint32) uint32 {
		if n == 0 {
			panic(fmt.Errorf("%w: Choose needs at least one value to choose from", ErrBroken))
		}
		return uint32(r.choices.Below(uint64(n)))
	}
	r.collect.Choices(r.choose)
	if o.Faults.links() {
		r.luck = random.New(o.Seed, random.Links)
	}
	if o.Record {
		r.record = newRecorder(r)
		for _, q := range o.Faults.Dead {
			r.note(q, trace.Step{Event: trace.Crash, Port: -1})
		}
	}
	return r, nil
}

// start picks the engine.
func (r *run[S, M]) start() {
	cores := min(max(1, r.o.Cores), r.p.Size()/checkedBelow)
	switch schedule := r.o.Schedule; {
	case r.trusted() && schedule == FIFO && !r.o.AnyTime:
		if r.a.OneWay && r.a.Timing == election.Asynchronous {
			if newArcs(r, cores, true).play() {
				return
			}
			r.again()
		}
		(&rounds[S, M]{run: r}).play()
	case r.trusted() && schedule == Sweep:
		if !newArcs(r, cores, false).play() {
			r.again()
			newArcs(r, 1, false).play()
		}
	case r.trusted() && schedule == Random && r.net.Topology == election.Ring && !r.o.AnyTime && !r.o.Faults.Unordered:
		newLottery(r).play()
	case r.trusted() && schedule == Tile && !r.o.AnyTime:
		newTiled(r).play()
	case r.o.Timing != election.Asynchronous || schedule == FIFO || schedule == RandomDelay:
		newClocked(r).play()
	default:
		newLinks(r).play()
	}
}

// trusted says whether an engine can run this that does not look at every step.
func (r *run[S, M]) trusted() bool {
	return r.p.Size() >= checkedBelow && r.o.Timing != election.Timed && r.o.Wake == nil && len(r.a.Timers) == 0 && !r.a.Leased &&
		r.record == nil && r.dead == nil && r.o.Until.IsZero() && r.groups == nil && !r.o.Faults.timed() && len(r.o.Resigns) == 0 && r.luck == nil
}

// again begins from the beginning.
func (r *run[S, M]) again() {
	fresh, err := newRun(r.a, r.o)
	if err != nil {
		panic(err) // it was all right before
	}
	*r = *fresh
}

// initiators are the positions that start, in order.
func (r *run[S, M]) initiators(yield func(int) bool) {
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

func (r *run[S, M]) isDead(p int) bool { return r.dead != nil && r.dead[p] }

// looksUp is after how many steps somebody may end the run: often, as a step can take long where states are large.
const looksUp = 1 << 12

// goesOn counts a step and says whether there may be another.
func (r *run[S, M]) goesOn() bool {
	r.steps++
	if r.o.Limit != 0 && r.steps > r.o.Limit ||
		r.o.Progress != nil && r.steps%looksUp == 0 && !r.o.Progress(r.result.Deliveries) {
		r.result.Complete = false
	}
	return r.result.Complete
}

// reckon counts deliveries, many at a time, and sees whether there may be more.
func (r *run[S, M]) reckon(deliveries int) {
	before := r.result.Deliveries
	r.result.Deliveries += uint64(deliveries)
	if r.o.Limit != 0 && r.result.Deliveries > r.o.Limit ||
		before>>20 != r.result.Deliveries>>20 && r.o.Progress != nil && !r.o.Progress(r.result.Deliveries) {
		r.result.Complete = false
	}
}

// begin turns the collector to the process whose step comes.
func (r *run[S, M]) begin(p int) *election.Out[M] {
	r.collect.At(r.net.First(p))
	r.collect.Clock(r.local(p))
	return r.collect.Out()
}

// local is what the clock of the process at p says. Most are right.
func (r *run[S, M]) local(p int) election.Ticks {
	if r.drifts == nil || r.drifts[p] == nil {
		return r.now
	}
	return r.drifts[p].local(r.now)
}

// leaving is what leaves of what the last step sent.
func (r *run[S, M]) leaving() []election.Sent[M] {
	sent := r.collect.Sent()
	return sent[:len(sent)-r.unsent]
}

// check makes sure that the step of the process at p kept to its own ports, kinds and timers, and to the names of
// groups, which count even if it crashes amid the step.
func (r *run[S, M]) check(p int) {
	first, degree := r.net.First(p), uint32(r.net.Degree(p))
	for i := range r.collect.Sent() {
		s := &r.collect.Sent()[i]
		if port := s.On() - first; port >= degree {
			r.broke(p, fmt.Sprintf("sends on port %d of %d", port, degree))
		} else if r.a.OneWay && port > 0 {
			r.broke(p, "sends on port 1, and declares OneWay")
		}
		if int(s.Kind()) >= len(r.a.Kinds) {
			r.broke(p, fmt.Sprintf("sends kind %d of %d", s.Kind(), len(r.a.Kinds)))
		}
	}
	for _, e := range r.collect.Rare() {
		if (e.Op == election.SetTimer || e.Op == election.StopTimer) && int(e.Timer) >= len(r.a.Timers) {
			r.broke(p, fmt.Sprintf("uses timer %d of %d", e.Timer, len(r.a.Timers)))
		}
		if r.groups != nil {
			r.group(p, e)
		}
	}
}

func (r *run[S, M]) broke(p int, how string) {
	panic(fmt.Errorf("%w: %s %s; its state is %s", ErrBroken, r.p.Name(p), how, r.stateText(p)))
}

// count counts a message as sent.
func (r *run[S, M]) count(s *election.Sent[M]) {
	kind := s.Kind()
	r.sent[kind]++
	if r.a.Phase != nil && r.elects>>kind&1 != 0 {
		r.phase(r.a.Phase(kind, s.M))
	}
}

// phase counts an election message of a phase.
func (r *run[S, M]) phase(phase int) {
	if phase < len(r.byPhase) {
		r.byPhase[phase]++
		return
	}
	for len(r.result.ByPhase) <= phase {
		r.result.ByPhase = append(r.result.ByPhase, 0)
	}
	r.result.ByPhase[phase]++
}

// follows makes the decision that nearly all processes of a large run make, to follow for the first and last
// time, and says whether that is what the effect is. When that was is for the caller to keep.
func (r *run[S, M]) follows(p int, e *election.Effect) bool {
	d := &r.result.Decisions[p]
	if e.Op != election.Follow || e.Term != 0 || d.Role != election.Undecided || !r.once {
		return false
	}
	d.Leader, d.Role = e.ID, election.Follower
	return true
}

// decide makes a decision of the process at p.
func (r *run[S, M]) decide(p int, e election.Effect) {
	d := &r.result.Decisions[p]
	before := *d
	if r.leases != nil {
		r.lease(p, e)
	}
	self := election.ID(0)
	if e.Op == election.Lead {
		self = r.p.ID(p)
	}
	if err := d.Apply(r.a.Task, e, self); err != nil {
		r.result.fault(fmt.Sprintf("%s %v", r.p.Name(p), err))
	}
	if *d == before {
		return
	}
	if t := r.result.Time; t != nil {
		t.Decided = later(t.Decided, r.now)
		if d.Role == election.Leader {
			t.Elected = later(t.Elected, r.now)
		}
	}
}

// lease keeps account of who holds a lease, and until when. No two may run at one time.
func (r *run[S, M]) lease(p int, e election.Effect) {
	r.leases[p] = election.Ticks{}
	if e.Op != election.Lead {
		return
	}
	if !e.Deadline {
		r.result.fault(r.p.Name(p) + " leads without a lease, which it declares")
	}
	r.leases[p] = r.now.Add(e.Ticks)
	if r.drifts != nil && r.drifts[p] != nil {
		r.leases[p] = r.drifts[p].real(r.local(p).Add(e.Ticks))
	}
	for q := range r.leases {
		if q != p && r.now.Less(r.leases[q]) && r.now.Less(r.leases[p]) {
			r.result.fault(fmt.Sprintf("%s leads while the lease of %s runs", r.p.Name(p), r.p.Name(q)))
		}
	}
}

// group is the name of a group; see [election.Groups].
type group struct {
	leader election.ID
	term   election.Term
}

// group sees to it that no group is formed twice, and that nobody follows in one that has never been.
func (r *run[S, M]) group(p int, e election.Effect) {
	switch g := (group{e.ID, e.Term}); e.Op {
	case election.Lead:
		g.leader = r.p.ID(p)
		if r.groups[g] {
			r.result.fault(fmt.Sprintf("%s leads in term %d again", r.p.Name(p), g.term))
		}
		r.groups[g] = true
	case election.Follow:
		if !r.groups[g] {
			r.result.fault(fmt.Sprintf("%s follows %d in term %d, in which that has not led", r.p.Name(p), r.p.RealOf(g.leader), g.term))
		}
	}
}

// finishPhases adds the first phases to those beyond them.
func (r *run[S, M]) finishPhases() {
	all := make([]uint64, max(len(r.result.ByPhase), len(r.byPhase)))
	copy(all, r.result.ByPhase)
	for phase, count := range r.byPhase {
		all[phase] += count
	}
	for len(all) > 0 && all[len(all)-1] == 0 {
		all = all[:len(all)-1]
	}
	r.result.ByPhase = all
}

func (r *run[S, M]) finish() *Result {
	if r.a.Phase != nil {
		r.finishPhases()
	}
	r.result.Messages = r.a.Tally(r.sent[:])
	for p, ends := range r.leases {
		if !r.now.Less(ends) { // a lease that has ended is no decision
			r.result.Decisions[p] = election.Decision{}
		}
	}
	stands := r.p.Willing
	if r.a.Stands != nil {
		stands = func(p int) bool { return r.a.Stands(&r.states[p]) }
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
