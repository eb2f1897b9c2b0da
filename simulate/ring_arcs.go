package simulate

import (
	"errors"
	"math"
	"reflect"

	"ringleader.example/ringleader/election"
	"ringleader.example/ringleader/outcome"
)

// arcs runs an election on a one-directional ring, arc by arc, and in each arc process by process: all
// that waits for a process is delivered to it, and what it sends meanwhile waits for the next one.
//
// On such a ring a process cannot tell: with links that keep their order, it gets the same messages in
// the same order under every schedule, if those that start do so before anything reaches them. So counts
// and decisions are those of a run in rounds, while what is in use at one time is a process and the
// messages that wait for it. Where a message is says which link it came on; so where the run has a clock,
// the number of the link gives way to the time at which the message arrives in rounds, one unit after the
// one that it answers.
//
// What leaves an arc of L processes within L rounds depends only on what is in it when they begin. So
// arcs need each other only when each has been swept, and can be swept on as many cores.
type arcs[S, M any] struct {
	run   *run
	typed *typed[S, M]
	each  []*arc[S, M]
}

// arc is the processes from position low to below high. It is a run of its own on the same states.
type arc[S, M any] struct {
	run        run
	typed      typed[S, M]
	low, high  int
	starts     []bool // by position; nil: all
	inbox      []election.Sent[M]
	outbox     []election.Sent[M]
	spare      []election.Sent[M]
	deliveries uint64
	limit      uint64 // of deliveries
	look       uint64 // at how many of them to see whether there may be more
	quiet      uint64 // when the last message arrived
	followed   uint64 // when the last process followed
	fault      any    // what a step panicked with
}

// What ends the sweeping of arcs with a clock, which then begins from the beginning with another engine.
var (
	errChooses = errors.New("a process chooses at random, out of turn")
	errLate    = errors.New("a message arrives too late for its time to take the place of its link")
)

// latest is the last time that a message may arrive at.
const latest = 1<<27 - 2

// stamp is what a message that arrives at a time has in place of its link.
func stamp(at uint64) uint32 { return uint32(2 * at) }

// stamped is when a message with that in place of its link arrives.
func stamped(link uint32) uint64 { return uint64(link / 2) }

// newArcs cuts the ring into arcs, with a clock or without.
func newArcs[S, M any](t *typed[S, M], count int, clock bool) *arcs[S, M] {
	r := t.run
	n := r.p.Size()
	a := &arcs[S, M]{run: r, typed: t}
	var starts []bool
	if r.o.Initiators != nil {
		starts = make([]bool, n)
		for _, p := range r.o.Initiators {
			starts[p] = true
		}
		r.result.Bytes += n
	}
	limit := min(r.limit, math.MaxUint64-1)
	if r.o.Limit != 0 {
		count = 1
	}
	for i := range count {
		one := &arc[S, M]{run: *r, typed: *t, low: n * i / count, high: n * (i + 1) / count, starts: starts, limit: limit}
		one.typed.run = &one.run
		one.run.result = &Result{Decisions: r.result.Decisions, Outcome: outcome.Outcome{Complete: true}}
		one.typed.collect = new(election.Collector[M])
		one.typed.collect.Choices(r.choose)
		if clock {
			one.run.result.Time = &Times{}
		}
		if clock || count > 1 {
			one.typed.collect.Choices(func(uint32) uint32 { panic(errChooses) })
		}
		if i > 0 {
			one.run.o.Progress = nil // the first one speaks for all
		}
		a.each = append(a.each, one)
	}
	if clock {
		r.result.Time = &Times{}
	}
	return a
}

func (t *typed[S, M]) arcs(cores int, clock bool) bool { return newArcs(t, cores, clock).play() }

// play sweeps the arcs until all is quiet. It reports false if processes choose at random, and the order in
// which they do matters, or if the run takes too long: then nothing of it is of use.
func (a *arcs[S, M]) play() bool {
	for first := true; first || a.busy(); first = false {
		if !a.lap(first) {
			return false
		}
		a.exchange()
	}
	a.merge()
	return true
}

// busy says whether anything is under way between arcs, and whether it matters.
func (a *arcs[S, M]) busy() bool {
	waiting := false
	for _, one := range a.each {
		if !one.run.result.Complete {
			return false
		}
		waiting = waiting || len(one.inbox) > 0
	}
	return waiting
}

// lap sweeps every arc once, each on a core of its own. Only what they have counted is theirs alone, and
// what lies between low and high; the channel orders all else.
func (a *arcs[S, M]) lap(first bool) bool {
	done := make(chan struct{})
	for _, one := range a.each[1:] {
		go func() {
			one.safely(first)
			done <- struct{}{}
		}()
	}
	a.each[0].safely(first)
	for range a.each[1:] {
		<-done
	}
	for _, one := range a.each {
		if one.fault == errChooses || one.fault == errLate {
			return false
		}
		if one.fault != nil {
			panic(one.fault)
		}
	}
	return true
}

// exchange hands what left each arc to the next.
func (a *arcs[S, M]) exchange() {
	last := a.each[len(a.each)-1]
	for _, one := range a.each {
		one.inbox, last.outbox = last.outbox, one.inbox
		last = one
	}
}

// merge puts together what the arcs have counted.
func (a *arcs[S, M]) merge() {
	size := int(reflect.TypeFor[election.Sent[M]]().Size())
	for _, one := range a.each {
		for k, count := range one.run.sent {
			a.run.sent[k] += count
		}
		one.run.finishPhases()
		for phase, count := range one.run.result.ByPhase {
			a.run.result.AddPhase(phase, count)
		}
		for _, text := range one.run.result.Faults {
			a.run.result.Fault(text)
		}
		if t, of := a.run.result.Time, one.run.result.Time; t != nil {
			*t = Times{later(t.Elected, of.Elected), later(later(t.Decided, of.Decided), election.Units(one.followed)), later(t.Quiet, election.Units(one.quiet))}
		}
		a.run.result.Deliveries += one.deliveries
		a.run.result.Complete = a.run.result.Complete && one.run.result.Complete
		a.run.result.Bytes += size * (cap(one.inbox) + cap(one.outbox) + cap(one.spare))
	}
}

// safely sweeps the arc and keeps a panic, which would end the program if it left a goroutine.
func (a *arc[S, M]) safely(first bool) {
	defer func() { a.fault = recover() }()
	a.sweep(first)
}

// sweep goes once through the arc; first also lets processes start.
func (a *arc[S, M]) sweep(first bool) {
	in, out, clock, collect := a.inbox, a.spare, a.run.result.Time != nil, a.typed.collect
	for p := a.low; p < a.high; p++ {
		if !first {
			if len(in) == 1 {
				p, in = a.token(p, in)
			}
			if len(in) == 0 || p == a.high {
				break
			}
		}
		collect.Swap(out)
		starts := first && (a.starts == nil || a.starts[p])
		if starts && !a.run.o.AnyTime {
			a.begins(p)
		}
		if clock {
			a.timed(p, in)
		} else {
			a.untimed(p, in)
		}
		if len(collect.Effects()) > 0 {
			a.decided(p)
		}
		if starts && a.run.o.AnyTime {
			a.begins(p)
		}
		if a.run.has.Phase {
			a.typed.phases(in)
		}
		a.deliveries += uint64(len(in))
		if a.deliveries >= a.look && !a.mayContinue() {
			break
		}
		in, out = collect.Sent(), in
	}
	a.outbox, a.inbox, a.spare = in, out[:0], a.outbox
	if a.deliveries >= a.look {
		a.mayContinue()
	}
}

// begins lets the process at p start.
func (a *arc[S, M]) begins(p int) {
	a.typed.collect.At(stamp(1))
	a.typed.a.Start(&a.typed.states[p], a.typed.collect.Out())
	if len(a.typed.collect.Effects()) > 0 {
		a.decided(p)
	}
}

// token follows a message that nothing else is near, until it does not go on alone, and says how far and
// what there is then: in the end one goes round with the leader's name, and before that a winner's mostly
// goes alone.
func (a *arc[S, M]) token(p int, in []election.Sent[M]) (int, []election.Sent[M]) {
	receive, collect, from := a.typed.a.Receive, a.typed.collect, p
	phase, elects, clock := a.typed.phase(), a.run.elects, a.run.result.Time != nil
	last := uint64(0)
	collect.Swap(in)
	for ; p < a.high && len(in) == 1; p++ {
		link, message := in[0].Link, in[0].M
		kind := election.Kind(link & 15)
		if clock {
			if last = stamped(link >> 4); last > latest {
				panic(errLate)
			}
			collect.At(stamp(last + 1))
		}
		collect.Reset()
		a.run.sent[kind]++
		if phase != nil && elects>>kind&1 != 0 {
			a.run.phase(phase(kind, message))
		}
		receive(&a.typed.states[p], 1, kind, message, collect.Out())
		if len(collect.Effects()) > 0 {
			a.decided(p)
		}
		in = collect.Sent()
	}
	a.deliveries += uint64(p - from)
	a.quiet = max(a.quiet, last)
	return p, in
}

// untimed delivers what waits for the process at p.
func (a *arc[S, M]) untimed(p int, in []election.Sent[M]) {
	receive, state, collect, sent := a.typed.a.Receive, &a.typed.states[p], a.typed.collect, &a.run.sent
	for i := range in {
		m := &in[i]
		kind := m.Link & 15
		sent[kind]++
		receive(state, 1, election.Kind(kind), m.M, collect.Out())
	}
}

// timed is untimed with a clock: what a process sends arrives one unit after what it answers.
func (a *arc[S, M]) timed(p int, in []election.Sent[M]) {
	if len(in) == 0 {
		return
	}
	last := stamped(in[len(in)-1].On())
	if last > latest {
		panic(errLate)
	}
	a.quiet = max(a.quiet, last)
	receive, state, collect, sent := a.typed.a.Receive, &a.typed.states[p], a.typed.collect, &a.run.sent
	for i := range in {
		link := in[i].Link
		kind := link & 15
		sent[kind]++
		collect.At(link>>4 + stamp(1))
		receive(state, 1, election.Kind(kind), in[i].M, collect.Out())
	}
}

// decided makes the decisions of steps of the process at p. With a clock, an effect has in place of its
// link when an answer would arrive, a unit after the step.
func (a *arc[S, M]) decided(p int) {
	for i := range a.typed.collect.Effects() {
		e := &a.typed.collect.Effects()[i]
		at := stamped(e.Link) - 1
		if a.run.follows(p, e) {
			a.followed = max(a.followed, at)
			continue
		}
		if a.run.result.Time != nil {
			a.run.now = election.Units(at)
		}
		a.run.decide(p, *e)
	}
	a.typed.collect.ResetEffects()
}

// mayContinue says, when it is time to look, whether there may be more deliveries.
func (a *arc[S, M]) mayContinue() bool {
	if a.deliveries > a.limit || a.run.o.Progress != nil && !a.run.o.Progress(a.deliveries) {
		a.run.result.Complete = false
	}
	a.look = min(a.limit+1, a.deliveries+1<<20)
	return a.run.result.Complete
}
