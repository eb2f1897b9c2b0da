// Package loops runs elections on large networks. Its loops know the types of an algorithm: they keep states and
// messages in rows, and call the algorithm directly. They trust it to keep to the contract. Package simulate calls
// them.
//
// They are compiled for each algorithm. So this package imports little, and code that needs no types is not generic.
package loops

import (
	"reflect"
	"slices"

	"ringleader.example/ringleader/election"
	"ringleader.example/ringleader/internal/core/process"
	"ringleader.example/ringleader/network"
	"ringleader.example/ringleader/outcome"
)

// Program is an algorithm with hidden types, with its loops.
type Program struct {
	*process.Program
	Loops func(*Run) Loops      // nil without loops
	Rings func(Loops) RingLoops // nil without those of asynchronous rings
}

// Of hides the types of an algorithm. It returns the error of [election.Algorithm.Validate], or one that names the type that is not plain.
func Of[S, M any](a *election.Algorithm[S, M]) (*Program, error) {
	program, err := process.Of(a)
	if err != nil || browser {
		return &Program{Program: program}, err
	}
	return &Program{
		program,
		func(r *Run) Loops { return newTyped(r, a) },
		func(l Loops) RingLoops { return ring[S, M]{l.(*typed[S, M])} },
	}, nil
}

// OfRounds is [Of] without the loops of asynchronous rings, for algorithms that are never asynchronous, or on no ring.
func OfRounds[S, M any](a *election.Algorithm[S, M]) (*Program, error) {
	program, err := process.Of(a)
	if err != nil || browser {
		return &Program{Program: program}, err
	}
	return &Program{Program: program, Loops: func(r *Run) Loops { return newTyped(r, a) }}, nil
}

// OfSmall is [Of] without the loops, which take most of the compile time. It is for algorithms with timers, which the
// loops never run, and for variants that run on small networks only.
func OfSmall[S, M any](a *election.Algorithm[S, M]) (*Program, error) {
	program, err := process.Of(a)
	if err != nil {
		return nil, err
	}
	return &Program{Program: program}, nil
}

// Must returns the program of an algorithm that is known to be valid.
func Must(program *Program, err error) *Program {
	if err != nil {
		panic(err)
	}
	return program
}

// Loops plays one run, once, by one of its loops.
type Loops interface {
	Rounds()
	Eligible(p int) bool // whether the process at p may lead now
	State(p int) any     // the state of the process at p
}

// RingLoops plays one run on an asynchronous ring, once, by one of its loops.
type RingLoops interface {
	Arcs(count int, clock bool) *Arcs // of a one-directional ring
	Lottery()
	Tiled(size int) // in tiles of so many processes
}

// ring implements RingLoops.
type ring[S, M any] struct{ typed *typed[S, M] }

// Run is a run of an election: the input of the loops, and the result so far.
type Run struct {
	Declaration *election.Declaration // with the parameters of the run
	Network     *network.Network
	Timing      election.Timing
	Initiators  []int // positions that start, in this order; nil: all
	AnyTime     bool  // a process starts at its turn
	Seed        uint64
	Choose      func(n uint32) uint32        // the source of random choices of processes
	Phases      bool                         // count election messages by phase
	Limit       uint64                       // of deliveries
	Limited     bool                         // the limit was given, so that it is kept closely
	Progress    func(deliveries uint64) bool // called now and then; false ends the run; may be nil

	Outcome    *outcome.Outcome // Prepared is given; the run sets Faults, ByPhase and Complete
	Decisions  []network.Decision
	Time       *outcome.Times // nil without a clock
	Sent       [16]uint64     // by kind
	Deliveries uint64
	Bytes      int // of queues

	now     election.Ticks
	elects  uint16     // which kinds are election messages: bit by kind
	byPhase [32]uint64 // of the first phases; the outcome has the others
	once    bool       // a process that follows without a term does so for ever
}

// begin prepares the run.
func (r *Run) begin() {
	r.once = r.Declaration.Task == election.Once && !r.Declaration.Leased
	for k, kind := range r.Declaration.Kinds {
		if kind.Class == election.Election {
			r.elects |= 1 << k
		}
	}
}

func (r *Run) size() int { return r.Network.Size() }

// initiators yields the positions that start, in order.
func (r *Run) initiators(yield func(int) bool) {
	if r.Initiators != nil {
		slices.Values(r.Initiators)(yield)
		return
	}
	for p := range r.size() {
		if !yield(p) {
			return
		}
	}
}

// oriented reports whether the network is a ring on which link 2p leads to p + 1, and link 2p + 1 to p - 1.
func (r *Run) oriented() bool { return r.Network.Topology == election.Ring && r.Network.Oriented() }

// port returns the port on which a message arrives that was sent on a directed link.
func (r *Run) port(link uint32) int {
	if r.oriented() {
		return 1 - int(link&1)
	}
	_, port := r.Network.End(link)
	return int(port)
}

// byPorts sorts messages by the ports on which they arrive. It returns the old index of each, in the lower 32 bits.
func (r *Run) byPorts(links []uint32) (order []uint64) {
	for i, link := range links {
		order = append(order, uint64(r.port(link))<<32|uint64(i))
	}
	slices.Sort(order)
	return order
}

// looksUp is the number of deliveries between calls of Progress: a queue that grows makes them slow.
const looksUp = 1 << 16

// countDeliveries counts deliveries, many at a time, and checks whether more are allowed.
func (r *Run) countDeliveries(deliveries int) {
	before := r.Deliveries
	r.Deliveries += uint64(deliveries)
	if r.Deliveries > r.Limit || before/looksUp != r.Deliveries/looksUp && r.Progress != nil && !r.Progress(r.Deliveries) {
		r.Outcome.Complete = false
	}
}

// phase counts an election message of a phase.
func (r *Run) phase(phase int) {
	if phase < len(r.byPhase) {
		r.byPhase[phase]++
		return
	}
	r.Outcome.AddPhase(phase, 1)
}

// finish adds the first phases to those beyond them.
func (r *Run) finish() {
	for phase, count := range r.byPhase {
		if count > 0 {
			r.Outcome.AddPhase(phase, count)
		}
	}
	r.byPhase = [32]uint64{}
}

// follows makes the decision that nearly all processes of a large run make, to follow for the first and last time,
// and reports whether the effect is that decision. The caller records the time.
func (r *Run) follows(p int, e *election.Effect) bool {
	d := &r.Decisions[p]
	if e.Op != election.Follow || e.Term != 0 || d.Role != network.Undecided || !r.once {
		return false
	}
	d.Leader, d.Role = e.ID, network.Follower
	return true
}

// decide applies a decision of the process at p.
func (r *Run) decide(p int, e election.Effect) {
	if d := &r.Decisions[p]; r.Outcome.Decide(d, p, e) && r.Time != nil {
		r.Time.Decision(d.Role, r.now)
	}
}

// decisions applies the decisions of some steps of one moment.
func (r *Run) decisions(rare []election.Effect) {
	ring, followed := r.Network.Topology == election.Ring, false
	for i := range rare {
		e := &rare[i]
		p := int(e.Link >> 1)
		if !ring {
			p = r.Network.Owner(e.Link)
		}
		if r.follows(p, e) {
			followed = true
		} else {
			r.decide(p, *e)
		}
	}
	if r.Time != nil && followed {
		r.Time.Decided = outcome.Later(r.Time.Decided, r.now)
	}
}

// sizeOf returns the size of a value in memory. (Generic code without the name reflect compiles in a tenth less time.)
func sizeOf(value any) int { return int(reflect.TypeOf(value).Size()) }
