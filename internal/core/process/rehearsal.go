package process

import (
	"bytes"
	"errors"
	"slices"
	"sync"

	"ringleader.example/ringleader/election"
	"ringleader.example/ringleader/internal/core/codec"
	"ringleader.example/ringleader/network"
)

// rehearsals are those of a program, by the number of processes.
type rehearsals struct {
	mutex sync.Mutex
	by    map[int]*rehearsal
}

// rehearsal is an election before all others, whose calls are noted. Each call is made again when others have followed: later ones of the same election,
// then those of strangers, and at last those of all that is checked. What is left behind in a package variable changes what it does then.
// A single step that is made twice at once does not show this, since what others leave is there both times.
type rehearsal struct {
	ps      *Processes
	scratch int
	born    []election.Local // what New gets, by position
	calls   []call
	most    int // calls
	waiting []Sent
	timers  []armed // that run, in the order in which they were set
	fault   any     // what a call that is made again after others has shown
	doubt   any     // what one that is made again at once has shown: the check of the same step shows it as well, with the run up to it
}

// call is a noted call: of New, or a step.
type call struct {
	position       int
	step           bool
	event          Event // its message is invalid
	given, message []byte
	made           []choice
	done           []byte
	other          []election.Effect
}

type armed struct {
	position int
	timer    election.Timer
}

const (
	mostRehearsed = 1 << 8  // processes
	mostCalls     = 192     // beyond one for each process
	mostChoices   = 1 << 10 // of a step
	mostInRound   = 48      // calls of a round in which one process starts after the other
	rounds        = 3       // of that kind
	strangeSteps  = 96
)

// later is what a step does that depends on what other calls have left behind.
const later = "does something else when the same step is made again after others; a step depends on its arguments and Choose only"

// Rehearse plays an election on the network, once for each number of processes, and makes its steps again. It panics with a [Fault] if one does
// something else then.
func (p *Program) Rehearse(on *network.Instance) {
	n := on.Size()
	if n > mostRehearsed {
		return
	}
	p.rehearsals.mutex.Lock()
	defer p.rehearsals.mutex.Unlock()
	if r := p.rehearsals.by[n]; r != nil {
		r.told()
		return
	}
	if p.rehearsals.by == nil {
		p.rehearsals.by = map[int]*rehearsal{}
	}
	r := p.newRehearsal(on)
	p.rehearsals.by[n] = r
	r.play()
	r.again()
	for _, stranger := range []*Stranger{p.Stranger(n + 1), p.peers(on)} {
		stranger.watch()
		for range strangeSteps + n {
			stranger.Step()
		}
	}
	r.again()
}

// Recall makes the steps of the rehearsal among so many processes again, if there was one. It panics as [Program.Rehearse] does.
func (p *Program) Recall(processes int) {
	p.rehearsals.mutex.Lock()
	defer p.rehearsals.mutex.Unlock()
	if r := p.rehearsals.by[processes]; r != nil {
		r.told()
		if r.again(); r.doubt != nil {
			panic(r.doubt)
		}
	}
}

// told panics with what was found before.
func (r *rehearsal) told() {
	if r.fault != nil {
		panic(r.fault)
	}
}

func (p *Program) newRehearsal(on *network.Instance) *rehearsal {
	n := on.Size()
	r := &rehearsal{ps: p.empty(on, false), most: mostCalls + n}
	r.ps.Grow(n)
	r.ps.check(false)
	r.scratch = r.ps.checker.slot
	r.ps.Choices(luck())
	for q := range n {
		r.born = append(r.born, on.Local(q))
	}
	return r
}

// play plays rounds in which the processes start one after the other, when no message is under way, and one in which all start at once.
func (r *rehearsal) play() {
	n := r.ps.network.Size()
	if r.ps.Program.Starts != election.Together {
		for first := range min(n, rounds) {
			r.round(first, true, min(r.most, len(r.calls)+mostInRound))
		}
	}
	r.round(0, false, r.most)
}

// errRound ends a round, at a step that is judged where it is checked, with the run up to it.
var errRound = errors.New("the round ends")

func (r *rehearsal) round(first int, apart bool, most int) {
	defer func() {
		if fault := recover(); fault != nil && fault != errRound {
			panic(fault)
		}
	}()
	n := r.ps.network.Size()
	r.waiting, r.timers = nil, nil
	for q := range n {
		r.bear(q)
	}
	for i := range n {
		if len(r.calls) >= most {
			return
		}
		q := (first + i) % n
		r.note(q, Event{What: Started})
		for apart && len(r.calls) < most && r.goOn() {
		}
	}
	for len(r.calls) < most && r.goOn() {
	}
}

// bear makes a process, and notes it the first time.
func (r *rehearsal) bear(q int) {
	r.newborn(q, q)
	if len(r.calls) <= q {
		r.calls = append(r.calls, call{position: q, done: r.ps.AppendState(nil, q, election.Ticks{}, codec.Whole)})
	}
}

func (r *rehearsal) newborn(slot, position int) {
	defer r.under(position, "New", Event{})()
	defer func() {
		if recover() != nil {
			panic(errRound)
		}
	}()
	r.ps.store.born(slot, r.born[position])
}

// under tells [Watch] what begins. The result ends it.
func (r *rehearsal) under(position int, function string, e Event) (end func()) {
	u := &r.ps.checker.underWay
	u.position, u.function, u.event = position, function, e
	u.begin()
	return u.end
}

// goOn receives the oldest message, or lets the oldest timer expire. It reports whether there was one.
func (r *rehearsal) goOn() bool {
	switch {
	case len(r.waiting) > 0:
		m := r.waiting[0]
		r.waiting = r.waiting[1:]
		to, port := r.ps.network.Network.End(m.On())
		r.note(to, Event{What: Received, Port: port, Kind: m.Kind(), Message: m.Message})
		r.ps.Release(m.Message)
	case len(r.timers) > 0:
		t := r.timers[0]
		r.timers = r.timers[1:]
		r.note(t.position, Event{What: Expired, Timer: t.timer})
	default:
		return false
	}
	return true
}

// note makes a step, notes it, and posts what it sends.
func (r *rehearsal) note(q int, e Event) {
	ps, c := r.ps, &r.ps.checker
	n := call{position: q, step: true, event: e, given: ps.AppendState(nil, q, election.Ticks{}, codec.Whole)}
	if e.What == Received {
		n.message = ps.AppendMessage(nil, e.Message)
	}
	c.made = c.made[:0]
	ps.store.choices(func(among uint32) uint32 {
		if len(c.made) == mostChoices {
			panic(errRound) // it may choose for ever; engines say so where they check the step
		}
		return c.record(among)
	})
	effects, fault := r.tried(q, &n, e)
	if fault == errRound {
		panic(errRound)
	}
	n.made = slices.Clone(c.made)
	sent, other := slices.Clone(effects.Sent), n.other
	var now call
	same, panicked := r.same(&n, &now, e)
	switch {
	case fault != nil && !panicked:
		property, how := Blame(fault)
		panic(Fault{property, ps.Breach(q, e, how+"; made again, the same step does not")})
	case fault == nil && !same && r.doubt == nil:
		r.doubt = Fault{BrokeContract, ps.Breach(q, e, ErrImpure.Error())}
	}
	if !same {
		panic(errRound)
	}
	r.calls = append(r.calls, n)
	for i := range sent {
		if s := &sent[i]; int(s.On()-ps.network.Network.First(q)) >= ps.network.Network.Degree(q) || int(s.Kind()) >= len(ps.Program.Kinds) {
			panic(errRound)
		}
	}
	r.waiting = append(r.waiting, sent...)
	for _, o := range other {
		if o.Op != election.SetTimer && o.Op != election.StopTimer || int(o.Timer) >= len(ps.Program.Timers) {
			continue
		}
		t := armed{q, o.Timer}
		r.timers = slices.DeleteFunc(r.timers, func(other armed) bool { return other == t })
		if o.Op == election.SetTimer && o.Ticks != election.Forever {
			r.timers = append(r.timers, t)
		}
	}
}

// tried makes a step, and returns its panic.
func (r *rehearsal) tried(slot int, n *call, e Event) (effects *Effects, fault any) {
	effects = &Effects{}
	defer func() { fault = recover() }()
	return r.make(slot, n, e), nil
}

// make makes a step of the process whose state is in a slot, and sets the result.
func (r *rehearsal) make(slot int, n *call, e Event) *Effects {
	defer r.under(n.position, "", e)()
	effects := r.ps.Step(slot, n.position, e, election.Ticks{})
	n.done = r.ps.done(n.done[:0], slot, effects, election.Ticks{})
	n.other = append(n.other[:0], effects.Other...)
	return effects
}

// again makes all calls again.
func (r *rehearsal) again() {
	defer func() {
		if r.fault = recover(); r.fault != nil {
			panic(r.fault)
		}
	}()
	var now call // its room is used again
	for i := range r.calls {
		before := &r.calls[i]
		if !before.step {
			r.bornAgain(before)
			continue
		}
		e := before.event
		if e.What == Received {
			var err error
			if e.Message, err = r.ps.Decode(before.message); err != nil {
				panic(err) // it was encoded
			}
		}
		if same, _ := r.same(before, &now, e); !same {
			panic(Fault{BrokeContract, r.ps.Breach(before.position, e, later)})
		}
		if e.What == Received {
			r.ps.Release(e.Message)
		}
	}
}

// same makes a step again, and reports whether it does the same and whether it panics.
func (r *rehearsal) same(before, now *call, e Event) (same, panicked bool) {
	ps, c := r.ps, &r.ps.checker
	if err := ps.DecodeState(before.given, r.scratch, codec.Whole); err != nil {
		panic(err) // it was encoded
	}
	c.made, c.next = append(c.made[:0], before.made...), 0
	ps.store.choices(c.repeat)
	now.position = before.position
	effects, fault := r.tried(r.scratch, now, e)
	if fault != nil {
		return false, true
	}
	for _, s := range effects.Sent {
		ps.Release(s.Message)
	}
	return c.next == len(c.made) && bytes.Equal(before.done, now.done) && slices.Equal(before.other, now.other), false
}

// bornAgain makes a process again.
func (r *rehearsal) bornAgain(before *call) {
	defer r.ps.left("New", before.position)
	r.under(before.position, "New", Event{}) // left ends it
	r.ps.store.born(r.scratch, r.born[before.position])
	if !bytes.Equal(before.done, r.ps.AppendState(nil, r.scratch, election.Ticks{}, codec.Whole)) {
		panic(errNewborn)
	}
}
