package simulate

import (
	"errors"
	"math"
	"reflect"

	"ringleader.example/ringleader/election"
)

// arcs runs an election on a one-directional ring, arc by arc, and in each arc process by process: all
// that waits for a process is delivered to it, and what it sends meanwhile waits for the next one.
//
// On such a ring a process cannot tell: with links that keep their order, it gets the same messages in
// the same order under every schedule, if those that start do so before anything reaches them. So counts
// and decisions are those of a run in rounds, while what is in use at one time is a process and the
// messages that wait for it. Where the run has a clock, each message carries the time at which it arrives
// in rounds, one unit after the one that it answers.
//
// What leaves an arc of L processes within L rounds depends only on what is in it when they begin. So
// arcs need each other only when each has been swept, and can be swept on as many cores.
type arcs[S, M any] struct {
	*run[S, M]
	each []*arc[S, M]
}

// arc is the processes from position low to below high. It is a run of its own on the same states.
type arc[S, M any] struct {
	run[S, M]
	low, high  int
	starts     []bool // by position; nil: all
	inbox      batch[M]
	outbox     batch[M]
	spare      batch[M]
	deliveries uint64
	limit      uint64 // of deliveries
	look       uint64 // at how many of them to see whether there may be more
	quiet      uint64 // when the last message arrived
	fault      any    // what a step panicked with
}

// batch is messages that wait for one process and, where there is a clock, when each arrives.
type batch[M any] struct {
	sent []election.Sent[M]
	at   []uint64 // as long as sent, or longer
}

// errChooses says that a process chose, out of turn.
var errChooses = errors.New("a process chooses at random")

// newArcs cuts the ring into arcs, with a clock or without.
func newArcs[S, M any](r *run[S, M], count int, clock bool) *arcs[S, M] {
	n := r.p.Size()
	a := &arcs[S, M]{run: r}
	var starts []bool
	if r.o.Initiators != nil {
		starts = make([]bool, n)
		for _, p := range r.o.Initiators {
			starts[p] = true
		}
		r.result.Bytes += n
	}
	limit := uint64(math.MaxUint64 - 1)
	if r.o.Limit != 0 {
		limit, count = r.o.Limit, 1
	}
	for i := range count {
		one := &arc[S, M]{run: *r, low: n * i / count, high: n * (i + 1) / count, starts: starts, limit: limit}
		one.result = &Result{Decisions: r.result.Decisions, Complete: true}
		one.collect = new(election.Collector[M])
		one.collect.Choices(r.choose)
		if clock {
			one.result.Time = &Times{}
		}
		if clock || count > 1 {
			one.collect.Choices(func(uint32) uint32 { panic(errChooses) })
		}
		if i > 0 {
			one.o.Progress = nil // the first one speaks for all
		}
		a.each = append(a.each, one)
	}
	if clock {
		r.result.Time = &Times{}
	}
	return a
}

// play sweeps the arcs until all is quiet. It reports false if processes choose at random, and the order in
// which they do matters: then nothing of the run is of use.
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
		if !one.result.Complete {
			return false
		}
		waiting = waiting || len(one.inbox.sent) > 0
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
		if one.fault == errChooses {
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
		for k, count := range one.sent {
			a.sent[k] += count
		}
		one.finishPhases()
		for phase, count := range one.result.ByPhase {
			for len(a.result.ByPhase) <= phase {
				a.result.ByPhase = append(a.result.ByPhase, 0)
			}
			a.result.ByPhase[phase] += count
		}
		for _, text := range one.result.Faults {
			a.result.fault(text)
		}
		if t, of := a.result.Time, one.result.Time; t != nil {
			*t = Times{later(t.Elected, of.Elected), later(t.Decided, of.Decided), later(t.Quiet, election.Units(one.quiet))}
		}
		a.result.Deliveries += one.deliveries
		a.result.Complete = a.result.Complete && one.result.Complete
		for _, b := range []batch[M]{one.inbox, one.outbox, one.spare} {
			a.result.Bytes += size*cap(b.sent) + 8*cap(b.at)
		}
	}
}

// safely sweeps the arc and keeps a panic, which would end the program if it left a goroutine.
func (a *arc[S, M]) safely(first bool) {
	defer func() { a.fault = recover() }()
	a.sweep(first)
}

// sweep goes once through the arc; first also lets processes start.
func (a *arc[S, M]) sweep(first bool) {
	in, out, clock := a.inbox, a.spare, a.result.Time != nil
	for p := a.low; p < a.high; p++ {
		if !first {
			if len(in.sent) == 1 {
				p = a.token(p, &in)
			}
			if len(in.sent) == 0 || p == a.high {
				break
			}
		}
		a.collect.At(uint32(2 * p))
		a.collect.Swap(out.sent)
		starts := first && (a.starts == nil || a.starts[p])
		if starts && !a.o.AnyTime {
			a.begins(p, &out)
		}
		if clock {
			out.at = a.timed(p, in.sent, in.at, out.at)
		} else {
			a.untimed(p, in.sent)
		}
		if starts && a.o.AnyTime {
			a.begins(p, &out)
		}
		if a.a.Phase != nil {
			a.phases(in.sent)
		}
		a.deliveries += uint64(len(in.sent))
		if a.deliveries >= a.look && !a.goesOn() {
			break
		}
		out.sent = a.collect.Sent()
		in, out = out, in
	}
	a.outbox, a.inbox, a.spare = in, out, a.outbox
	a.inbox.sent = a.inbox.sent[:0]
	if a.deliveries >= a.look {
		a.goesOn()
	}
}

// begins lets the process at p start.
func (a *arc[S, M]) begins(p int, out *batch[M]) {
	a.a.Start(&a.states[p], a.collect.Out())
	if a.result.Time != nil {
		out.at = stamp(out.at, 0, len(a.collect.Sent()), 1)
	}
	if len(a.collect.Rare()) > 0 {
		a.decided(p, 0)
	}
}

// token follows a message that nothing else is near, until it does not go on alone, and says how far: in
// the end one goes round with the leader's name, and before that a winner's mostly goes alone.
func (a *arc[S, M]) token(p int, b *batch[M]) int {
	receive, collect, phase, from := a.a.Receive, a.collect, a.a.Phase != nil, p
	now := uint64(0)
	if a.result.Time != nil {
		now = b.at[0]
	}
	sent := b.sent
	for ; p < a.high && len(sent) == 1; p++ {
		m := sent[0]
		collect.At(uint32(2 * p))
		collect.Swap(sent)
		a.sent[m.Link&15]++
		receive(&a.states[p], 1, m.Kind(), m.M, collect.Out())
		if phase {
			a.phases([]election.Sent[M]{m})
		}
		if len(collect.Rare()) > 0 {
			a.decided(p, now)
		}
		sent = collect.Sent()
		now++
	}
	a.deliveries += uint64(p - from)
	if b.sent = sent; a.result.Time != nil {
		a.quiet = max(a.quiet, now-1)
		b.at = stamp(b.at, 0, len(sent), now)
	}
	return p
}

// untimed delivers what waits for the process at p.
func (a *arc[S, M]) untimed(p int, in []election.Sent[M]) {
	receive, state, out, sent := a.a.Receive, &a.states[p], a.collect.Out(), &a.sent
	for i := range in {
		m := &in[i]
		sent[m.Link&15]++
		receive(state, 1, m.Kind(), m.M, out)
	}
	if len(a.collect.Rare()) > 0 {
		a.decided(p, 0)
	}
}

// timed delivers what waits for the process at p, and notes when its answers arrive.
func (a *arc[S, M]) timed(p int, in []election.Sent[M], inAt, outAt []uint64) []uint64 {
	receive, state, collect, sent := a.a.Receive, &a.states[p], a.collect, &a.sent
	before := len(collect.Sent())
	for i := range in {
		m, now := &in[i], inAt[i]
		sent[m.Link&15]++
		receive(state, 1, m.Kind(), m.M, collect.Out())
		if after := len(collect.Sent()); after > before {
			outAt = stamp(outAt, before, after, now+1)
			before = after
		}
		if len(collect.Rare()) > 0 {
			a.decided(p, now)
		}
	}
	if last := len(in) - 1; last >= 0 {
		a.quiet = max(a.quiet, inAt[last])
	}
	return outAt
}

// stamp says when the messages from before to after arrive.
func stamp(times []uint64, before, after int, at uint64) []uint64 {
	for len(times) < after {
		times = append(times, 0)
		times = times[:cap(times)]
	}
	for i := before; i < after; i++ {
		times[i] = at
	}
	return times
}

// decided makes the decisions of a step of the process at p.
func (a *arc[S, M]) decided(p int, at uint64) {
	a.now = election.Units(at)
	for i := range a.collect.Rare() {
		if e := &a.collect.Rare()[i]; !a.follows(p, e) {
			a.decide(p, *e)
		}
	}
	a.collect.ResetRare()
}

// goesOn says, when it is time to look, whether there may be more deliveries.
func (a *arc[S, M]) goesOn() bool {
	if a.deliveries > a.limit || a.o.Progress != nil && !a.o.Progress(a.deliveries) {
		a.result.Complete = false
	}
	a.look = min(a.limit+1, a.deliveries+1<<20)
	return a.result.Complete
}
