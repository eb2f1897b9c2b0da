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
	now     election.Ticks
	dead    []bool           // nil if nobody ever is
	leases  []election.Ticks // when each one ends; nil unless declared
	sent    [16]uint64
	steps   uint64 // deliveries and timeouts
	result  *Result
	record  *recorder[S, M]
}

// Run runs an election.
func Run[S, M any](a election.Algorithm[S, M], o Options) (result *Result, err error) {
	r, err := newRun(a, o)
	if err != nil {
		return nil, err
	}
	defer func() {
		if fault := recover(); fault != nil {
			e, ok := fault.(error)
			if !ok || !errors.Is(e, election.ErrTime) && !errors.Is(e, ErrBroken) {
				panic(fault)
			}
			result, err = nil, fmt.Errorf("simulating %s: %w", a.Name, e)
		}
	}()
	r.start()
	return r.finish(), nil
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
	n := p.Size()
	r := &run[S, M]{
		a: a, o: o, p: p, net: p.Network, plans: plans, states: make([]S, n),
		collect: new(election.Collector[M]),
		result: &Result{
			Timing: o.Timing, Delay: o.Delay, Prepared: p, Complete: true,
			Decisions: make([]election.Decision, n), Starters: n - len(o.Dead),
			Hurt: len(o.Crashes)+len(o.Recoveries)+len(o.Suspicions)+len(o.Resigns) > 0,
		},
	}
	if o.Initiators != nil {
		r.result.Starters = len(o.Initiators)
	}
	r.result.Bytes = n * (r.plans.StateSize() + 16)
	for q := range r.states {
		r.states[q] = a.New(p.Local(q))
	}
	if len(o.Dead)+len(o.Crashes) > 0 {
		r.dead = make([]bool, n)
		for _, q := range o.Dead {
			r.dead[q] = true
		}
	}
	if a.Leased {
		r.leases = make([]election.Ticks, n)
	}
	choices := random.New(o.Seed, random.Choices)
	r.collect.Choices(func(n uint32) uint32 {
		if n == 0 {
			panic(fmt.Errorf("%w: Choose needs at least one value to choose from", ErrBroken))
		}
		return uint32(choices.Below(uint64(n)))
	})
	if o.Record {
		r.record = newRecorder(r)
		for _, q := range o.Dead {
			r.note(q, trace.Step{Event: trace.Crash, Port: -1})
		}
	}
	return r, nil
}

// start picks the engine.
func (r *run[S, M]) start() {
	clocked := r.o.Timing != election.Asynchronous
	plainRounds := r.o.Timing != election.Timed && r.o.Schedule == FIFO && !r.o.AnyTime &&
		len(r.a.Timers) == 0 && r.dead == nil && len(r.o.Suspicions) == 0 && r.record == nil
	switch {
	case plainRounds && r.p.Size() >= checkedBelow:
		r.rounds()
	case clocked || r.o.Schedule == FIFO:
		newClocked(r).play()
	default:
		newLinks(r).play()
	}
}

// initiators are the positions that start, in order.
func (r *run[S, M]) initiators(yield func(int) bool) {
	if r.o.Initiators != nil {
		for _, p := range r.o.Initiators {
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

// goesOn counts a step and says whether there may be another.
func (r *run[S, M]) goesOn() bool {
	r.steps++
	if r.o.Limit != 0 && r.steps > r.o.Limit ||
		r.o.Progress != nil && r.steps&(1<<20-1) == 0 && !r.o.Progress(r.result.Deliveries) {
		r.result.Complete = false
	}
	return r.result.Complete
}

// begin turns the collector to the process whose step comes.
func (r *run[S, M]) begin(p int) *election.Out[M] {
	r.collect.At(r.net.First(p))
	r.collect.Clock(r.now)
	return r.collect.Out()
}

// check makes sure that the step of the process at p kept to its own ports, kinds and timers.
func (r *run[S, M]) check(p int) {
	first, degree := r.net.First(p), uint32(r.net.Degree(p))
	for i := range r.collect.Sent() {
		s := &r.collect.Sent()[i]
		if port := s.On() - first; port >= degree {
			r.broke(p, fmt.Sprintf("sends on port %d of %d", port, degree))
		}
		if int(s.Kind()) >= len(r.a.Kinds) {
			r.broke(p, fmt.Sprintf("sends kind %d of %d", s.Kind(), len(r.a.Kinds)))
		}
	}
	for _, e := range r.collect.Rare() {
		if (e.Op == election.SetTimer || e.Op == election.StopTimer) && int(e.Timer) >= len(r.a.Timers) {
			r.broke(p, fmt.Sprintf("uses timer %d of %d", e.Timer, len(r.a.Timers)))
		}
	}
}

func (r *run[S, M]) broke(p int, how string) {
	panic(fmt.Errorf("%w: %s %s; its state is %s", ErrBroken, r.name(p), how, r.stateText(p)))
}

// count counts a message as sent.
func (r *run[S, M]) count(s *election.Sent[M]) {
	kind := s.Kind()
	r.sent[kind]++
	if r.a.Phase != nil && r.a.Kinds[kind].Class == election.Election {
		r.phase(r.a.Phase(kind, s.M))
	}
}

func (r *run[S, M]) phase(phase int) {
	for len(r.result.ByPhase) <= phase {
		r.result.ByPhase = append(r.result.ByPhase, 0)
	}
	r.result.ByPhase[phase]++
}

// decide makes a decision of the process at p.
func (r *run[S, M]) decide(p int, e election.Effect) {
	d := &r.result.Decisions[p]
	before := *d
	if r.leases != nil {
		r.lease(p, e)
	}
	if err := d.Apply(r.a.Task, e, r.p.ID(p)); err != nil {
		r.result.fault(fmt.Sprintf("%s %v", r.name(p), err))
	}
	if *d == before {
		return
	}
	if t := r.result.Time; t != nil {
		t.Decided = r.now
		if d.Role == election.Leader {
			t.Elected = r.now
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
		r.result.fault(r.name(p) + " leads without a lease, which it declares")
	}
	r.leases[p] = r.now.Add(e.Ticks)
	for q := range r.leases {
		if q != p && r.now.Less(r.leases[q]) && r.now.Less(r.leases[p]) {
			r.result.fault(fmt.Sprintf("%s leads while the lease of %s runs", r.name(p), r.name(q)))
		}
	}
}

// name is what people call the process at p.
func (r *run[S, M]) name(p int) string {
	if r.p.Anonymous() {
		return fmt.Sprintf("the process at position %d", p)
	}
	return fmt.Sprintf("process %d", r.p.Real(p))
}

func (r *run[S, M]) finish() *Result {
	if r.a.Phase != nil && r.result.ByPhase == nil {
		r.result.ByPhase = []uint64{}
	}
	r.result.Messages = r.a.Tally(r.sent[:])
	for p, ends := range r.leases {
		if !r.now.Less(ends) { // a lease that has ended is no decision
			r.result.Decisions[p] = election.Decision{}
		}
	}
	r.result.judge(&r.a.Declaration, r.dead)
	if r.record != nil {
		r.result.Record = &r.record.Record
	}
	return r.result
}
