package loops

import (
	"errors"
	"math"

	"ringleader.example/ringleader/election"
	"ringleader.example/ringleader/outcome"
)

// Arcs runs an election on a unidirectional ring, arc by arc, and in each arc process by process: all messages that
// wait for a process are delivered to it, and the messages that it sends wait for the next one.
//
// A process on such a ring cannot observe the difference: with FIFO links, it gets the same messages in the same order
// under every schedule, if the initiators start before anything reaches them. So it has the counts and decisions of a
// run in rounds, while the working set is one process and the messages that wait for it. A message has a field for
// its link. If the run has a clock, the field holds the time at which the message would arrive in rounds instead, one
// unit after the message that it answers.
//
// The messages that leave an arc of L processes within L rounds depend only on the arc's contents when those rounds
// begin. So arcs need each other only after each has been swept, and can be swept in parallel.
type Arcs struct {
	run  *Run
	each []*arc
}

// arc is the processes from position low to below high. It is a run of its own on the same decisions.
type arc struct {
	run        Run
	sweeper    sweeper
	low, high  int
	starts     []bool // by position; nil: all
	deliveries uint64
	limit      uint64 // of deliveries
	look       uint64 // the number of deliveries at which Progress is called
	quiet      uint64 // when the last message arrived
	followed   uint64 // when the last process followed
	fault      any    // the value of a step's panic
}

// sweeper sweeps an arc, and knows the types.
type sweeper interface {
	sweep(first bool)     // goes once through the arc; if first, it also starts processes
	waiting() int         // the number of messages that the arc has received
	follow(other sweeper) // takes the messages that left the arc before it
	bytes() int           // of queues
}

// swept is the sweeper of an arc.
type swept[S, M any] struct {
	arc    *arc
	typed  typed[S, M]
	inbox  []election.Sent[M]
	outbox []election.Sent[M]
	spare  []election.Sent[M]
}

// The reasons to end a run by arcs with a clock, which another engine then restarts.
var (
	errChooses = errors.New("a process chooses at random, out of turn")
	errLate    = errors.New("a message arrives too late for its time to take the place of its link")
)

// latest is the last time at which a message may arrive.
const latest = 1<<27 - 2

// stamp returns the value that a message that arrives at a time has in place of its link.
func stamp(at uint64) uint32 { return uint32(2 * at) }

// stamped returns the arrival time of a message with that in place of its link.
func stamped(link uint32) uint64 { return uint64(link / 2) }

// Arcs cuts the ring into arcs, with a clock or without.
func (r ring[S, M]) Arcs(count int, clock bool) *Arcs {
	a := newArcs(r.typed.run, count, clock)
	for _, one := range a.each {
		s := &swept[S, M]{arc: one, typed: *r.typed}
		s.typed.run, s.typed.collect = &one.run, new(election.Collector[M])
		s.typed.collect.Choices(one.run.Choose)
		one.sweeper = s
	}
	return a
}

func newArcs(r *Run, count int, clock bool) *Arcs {
	n := r.size()
	a := &Arcs{run: r}
	var starts []bool
	if r.Initiators != nil {
		starts = make([]bool, n)
		for _, p := range r.Initiators {
			starts[p] = true
		}
		r.Bytes += n
	}
	limit := min(r.Limit, math.MaxUint64-1)
	if r.Limited {
		count = 1
	}
	if clock {
		r.Time = &outcome.Times{}
	}
	for i := range count {
		one := &arc{run: *r, low: n * i / count, high: n * (i + 1) / count, starts: starts, limit: limit}
		one.run.Outcome = &outcome.Outcome{Prepared: r.Outcome.Prepared, Complete: true}
		if clock {
			one.run.Time = &outcome.Times{}
		}
		if clock || count > 1 {
			one.run.Choose = func(uint32) uint32 { panic(errChooses) }
		}
		if i > 0 {
			one.run.Progress = nil // the first one reports for all
		}
		a.each = append(a.each, one)
	}
	return a
}

// Play sweeps the arcs until quiescence. It returns false if processes choose at random, and the order of their
// choices matters, or if the run takes too long: then its results are invalid.
func (a *Arcs) Play() bool {
	for first := true; first || a.Busy(); first = false {
		if !a.lap(first) {
			return false
		}
		a.Exchange()
	}
	a.Merge()
	return true
}

// Busy reports whether a message that matters is in transit between arcs.
func (a *Arcs) Busy() bool {
	waiting := false
	for _, one := range a.each {
		if !one.run.Outcome.Complete {
			return false
		}
		waiting = waiting || one.sweeper.waiting() > 0
	}
	return waiting
}

// Count returns the number of arcs.
func (a *Arcs) Count() int { return len(a.each) }

// Sweep goes once through one of the arcs; if first, it also starts processes.
func (a *Arcs) Sweep(arc int, first bool) { a.each[arc].sweeper.sweep(first) }

// lap sweeps every arc once, each on a core of its own. An arc owns its counts and what lies between low and high;
// the channel orders everything else.
func (a *Arcs) lap(first bool) bool {
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

// safely sweeps the arc and keeps a panic, which would end the program if it left a goroutine.
func (a *arc) safely(first bool) {
	defer func() { a.fault = recover() }()
	a.sweeper.sweep(first)
}

// Exchange hands the messages that left each arc to the next arc.
func (a *Arcs) Exchange() {
	last := a.each[len(a.each)-1]
	for _, one := range a.each {
		one.sweeper.follow(last.sweeper)
		last = one
	}
}

func (s *swept[S, M]) waiting() int { return len(s.inbox) }

func (s *swept[S, M]) follow(other sweeper) {
	before := other.(*swept[S, M])
	s.inbox, before.outbox = before.outbox, s.inbox
}

func (s *swept[S, M]) bytes() int {
	return sizeOf(election.Sent[M]{}) * (cap(s.inbox) + cap(s.outbox) + cap(s.spare))
}

// Merge adds up the counts of the arcs.
func (a *Arcs) Merge() {
	for _, one := range a.each {
		for k, count := range one.run.Sent {
			a.run.Sent[k] += count
		}
		one.run.finish()
		for phase, count := range one.run.Outcome.ByPhase {
			a.run.Outcome.AddPhase(phase, count)
		}
		for _, text := range one.run.Outcome.Faults {
			a.run.Outcome.Fault(text)
		}
		if t, of := a.run.Time, one.run.Time; t != nil {
			t.Elected = outcome.Later(t.Elected, of.Elected)
			t.Decided = outcome.Later(outcome.Later(t.Decided, of.Decided), election.Units(one.followed))
			t.Quiet = outcome.Later(t.Quiet, election.Units(one.quiet))
		}
		a.run.Deliveries += one.deliveries
		a.run.Outcome.Complete = a.run.Outcome.Complete && one.run.Outcome.Complete
		a.run.Bytes += one.sweeper.bytes()
	}
}

func (s *swept[S, M]) sweep(first bool) {
	a, in, out, collect := s.arc, s.inbox, s.spare, s.typed.collect
	clock := a.run.Time != nil
	for p := a.low; p < a.high; p++ {
		if !first {
			if len(in) == 1 {
				p, in = s.token(p, in)
			}
			if len(in) == 0 || p == a.high {
				break
			}
		}
		collect.Swap(out)
		starts := first && (a.starts == nil || a.starts[p])
		if starts && !a.run.AnyTime {
			s.begins(p)
		}
		if clock {
			s.timed(p, in)
		} else {
			s.untimed(p, in)
		}
		if len(collect.Effects()) > 0 {
			s.decided(p)
		}
		if starts && a.run.AnyTime {
			s.begins(p)
		}
		if a.run.Phases {
			s.typed.phases(in)
		}
		a.deliveries += uint64(len(in))
		if a.deliveries >= a.look && !a.mayContinue() {
			break
		}
		in, out = collect.Sent(), in
	}
	s.outbox, s.inbox, s.spare = in, out[:0], s.outbox
	if a.deliveries >= a.look {
		a.mayContinue()
	}
}

// begins starts the process at p.
func (s *swept[S, M]) begins(p int) {
	s.typed.collect.At(stamp(1))
	s.typed.a.Start(&s.typed.states[p], s.typed.collect.Out())
	if len(s.typed.collect.Effects()) > 0 {
		s.decided(p)
	}
}

// token follows a message with no other nearby, until it does not continue alone. It returns the place and the messages
// there. In the end a single message goes round with the leader's name, and before that the winner's usually goes
// alone.
func (s *swept[S, M]) token(p int, in []election.Sent[M]) (int, []election.Sent[M]) {
	a, receive, collect, from := s.arc, s.typed.a.Receive, s.typed.collect, p
	phase, elects, clock := s.typed.phase(), a.run.elects, a.run.Time != nil
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
		a.run.Sent[kind]++
		if phase != nil && elects>>kind&1 != 0 {
			a.run.phase(phase(kind, message))
		}
		receive(&s.typed.states[p], 1, kind, message, collect.Out())
		if len(collect.Effects()) > 0 {
			s.decided(p)
		}
		in = collect.Sent()
	}
	a.deliveries += uint64(p - from)
	a.quiet = max(a.quiet, last)
	return p, in
}

// untimed delivers the messages that wait for the process at p.
func (s *swept[S, M]) untimed(p int, in []election.Sent[M]) {
	receive, state, collect, sent := s.typed.a.Receive, &s.typed.states[p], s.typed.collect, &s.arc.run.Sent
	for i := range in {
		m := &in[i]
		kind := m.Link & 15
		sent[kind]++
		receive(state, 1, election.Kind(kind), m.M, collect.Out())
	}
}

// timed is untimed with a clock: messages that a process sends arrive one unit after the message that they answer.
func (s *swept[S, M]) timed(p int, in []election.Sent[M]) {
	if len(in) == 0 {
		return
	}
	last := stamped(in[len(in)-1].On())
	if last > latest {
		panic(errLate)
	}
	s.arc.quiet = max(s.arc.quiet, last)
	receive, state, collect, sent := s.typed.a.Receive, &s.typed.states[p], s.typed.collect, &s.arc.run.Sent
	for i := range in {
		link := in[i].Link
		kind := link & 15
		sent[kind]++
		collect.At(link>>4 + stamp(1))
		receive(state, 1, election.Kind(kind), in[i].M, collect.Out())
	}
}

// decided applies the decisions of steps of the process at p.
func (s *swept[S, M]) decided(p int) {
	s.arc.decided(p, s.typed.collect.Effects())
	s.typed.collect.ResetEffects()
}

// decided applies decisions of the process at p. With a clock, an effect has in place of its link the arrival time of
// an answer, a unit after the step.
func (a *arc) decided(p int, effects []election.Effect) {
	for i := range effects {
		e := &effects[i]
		at := stamped(e.Link) - 1
		if a.run.follows(p, e) {
			a.followed = max(a.followed, at)
			continue
		}
		if a.run.Time != nil {
			a.run.now = election.Units(at)
		}
		a.run.decide(p, *e)
	}
}

// mayContinue reports, when it is time to check, whether more deliveries are allowed.
func (a *arc) mayContinue() bool {
	if a.deliveries > a.limit || a.run.Progress != nil && !a.run.Progress(a.deliveries) {
		a.run.Outcome.Complete = false
	}
	a.look = min(a.limit+1, a.deliveries+looksUp)
	return a.run.Outcome.Complete
}
