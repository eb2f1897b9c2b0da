package process

import (
	"reflect"

	"ringleader.example/ringleader/election"
	"ringleader.example/ringleader/internal/core/codec"
)

// typed is the store of an algorithm. Only its methods are compiled for each algorithm, so they are short.
type typed[S, M any] struct {
	a        *election.Algorithm[S, M]
	pool     *pool
	states   []S
	messages [][]M // by reference: pages, which never move
	scratch  M     // a message for reading or writing as bytes
	collect  election.Collector[M]
	command  election.Command // of the next event Commanded
}

func (t *typed[S, M]) grow(slots int) {
	if slots <= cap(t.states) {
		t.states = t.states[:slots]
		return
	}
	states := make([]S, slots, max(slots, 2*len(t.states)))
	copy(states, t.states)
	t.states = states
}

func (t *typed[S, M]) born(slot int, l election.Local) { t.states[slot] = t.a.New(l) }

func (t *typed[S, M]) copy(to, from int) { t.states[to] = t.states[from] }

func (t *typed[S, M]) choices(choose func(n uint32) uint32) { t.collect.Choices(choose) }

func (t *typed[S, M]) commands(c election.Command) { t.command = c }

func (t *typed[S, M]) step(slot int, e Event) {
	a, state, out := t.a, &t.states[slot], t.begin()
	switch e.What {
	case Started:
		a.Start(state, out)
	case Recovered:
		a.Recover(state, out)
	case Expired:
		a.Timeout(state, e.Timer, out)
	case Suspected:
		if a.Suspect != nil {
			a.Suspect(state, e.Port, out)
		}
	case Trusted:
		if a.Trust != nil {
			a.Trust(state, e.Port, out)
		}
	case Commanded:
		if a.Command != nil {
			a.Command(state, t.command, out)
		}
	}
	t.end()
}

func (t *typed[S, M]) receive(slot int, port election.Port, kind election.Kind, m Message) {
	t.a.Receive(&t.states[slot], port, kind, t.read(m), t.begin())
	t.end()
}

// begin points the collector at the process of the next step.
func (t *typed[S, M]) begin() *election.Out[M] {
	t.collect.Reset()
	t.collect.At(t.pool.effects.First)
	t.collect.Clock(t.pool.now)
	return t.collect.Out()
}

// end hands over the effects of a step.
func (t *typed[S, M]) end() {
	p, in := t.pool, t.collect.Sent()
	if other := t.collect.Effects(); len(other)+len(p.effects.Other) > 0 {
		p.effects.Other = other
	}
	out := p.room(len(in))
	if p.phases != 0 || !p.small {
		t.hand(in, out)
		return
	}
	for i := range out {
		s, o := &in[i], &out[i]
		o.Link, o.Phase, o.Message = s.Link, -1, Message{codec.Pack(s.M)}
	}
}

// hand hands over messages that have phases or are not small.
func (t *typed[S, M]) hand(in []election.Sent[M], out []Sent) {
	for i := range out {
		s, o := &in[i], &out[i]
		o.Link, o.Phase = s.Link, -1
		if t.pool.small {
			o.Message = Message{codec.Pack(s.M)}
		} else {
			o.Message = t.write(s.M)
		}
		if t.pool.phases>>s.Kind()&1 != 0 {
			o.Phase = int32(t.a.Phase(s.Kind(), s.M))
		}
	}
}

func (t *typed[S, M]) read(m Message) M {
	if t.pool.small {
		return codec.Unpack[M](m.words)
	}
	return *t.at(m)
}

// at returns the address of a message that is not small.
func (t *typed[S, M]) at(m Message) *M {
	reference := m.reference()
	return &t.messages[reference/pageSize][reference%pageSize]
}

// write holds a message once.
func (t *typed[S, M]) write(m M) Message {
	if t.pool.small {
		return Message{codec.Pack(m)}
	}
	if len(t.pool.free) == 0 {
		t.fresh(t.pool.grow())
	}
	held := Message{codec.Pack(t.pool.take())}
	*t.at(held) = m
	return held
}

func (t *typed[S, M]) halt(message, other int) { t.collect.HaltAt(message, other) }

func (t *typed[S, M]) home() string { return reflect.TypeFor[S]().PkgPath() }

func (t *typed[S, M]) function(of What) uintptr {
	a := t.a
	return reflect.ValueOf([...]any{a.Start, a.Recover, a.Receive, a.Timeout, a.Suspect, a.Trust, a.Command}[of]).Pointer()
}

func (t *typed[S, M]) stands(slot int) bool { return t.a.Eligible(&t.states[slot]) }

func (t *typed[S, M]) incarnation(slot int) uint64 { return t.a.Incarnation(&t.states[slot]) }

func (t *typed[S, M]) membership(slot int) election.Membership {
	if t.a.Membership == nil {
		return election.Membership{}
	}
	return t.a.Membership(&t.states[slot])
}

func (t *typed[S, M]) enlarge(slot, members int) { t.a.Enlarge(&t.states[slot], members) }

func (t *typed[S, M]) kept(slot int) any {
	if t.a.Durable == nil {
		return nil
	}
	return t.a.Durable(&t.states[slot])
}

func (t *typed[S, M]) state(slot int) codec.Pointer { return codec.At(&t.states[slot]) }

func (t *typed[S, M]) message(m Message) codec.Pointer {
	if !t.pool.small {
		return codec.At(t.at(m))
	}
	t.scratch = t.read(m)
	return t.blank()
}

func (t *typed[S, M]) blank() codec.Pointer { return codec.At(&t.scratch) }

func (t *typed[S, M]) hold() Message { return t.write(t.scratch) }

func (t *typed[S, M]) double(m Message) Message { return t.write(t.read(m)) }

// fresh makes pages.
func (t *typed[S, M]) fresh(pages int) {
	block := make([]M, pages*pageSize)
	for ; pages > 0; pages-- {
		t.messages = append(t.messages, block[:pageSize:pageSize])
		block = block[pageSize:]
	}
}
