package process

import (
	"ringleader.example/ringleader/election"
	"ringleader.example/ringleader/internal/codec"
)

// typed is the store of an algorithm. Its methods are all that is compiled for each algorithm, so they are short.
type typed[S, M any] struct {
	a        *election.Algorithm[S, M]
	states   []S
	messages [][]M // by reference: pages, which never move
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

func (t *typed[S, M]) step(p *pool, slot int, first uint32, e Event, now election.Ticks) []election.Effect {
	a, state, out := t.a, &t.states[slot], t.collect.Out()
	t.collect.Reset()
	t.collect.At(first)
	t.collect.Clock(now)
	switch e.What {
	case Started:
		a.Start(state, out)
	case Recovered:
		a.Recover(state, out)
	case Received:
		a.Receive(state, e.Port, e.Kind, *t.at(e.Message), out)
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
	sent := t.collect.Sent()
	for i := range sent {
		s := &sent[i]
		m, phase := p.hold(t), int32(-1)
		*t.at(m) = s.M
		if p.phases>>s.Kind()&1 != 0 {
			phase = int32(a.Phase(s.Kind(), s.M))
		}
		p.sent = append(p.sent, Sent{s.Link, m, phase})
	}
	return t.collect.Effects()
}

func (t *typed[S, M]) stands(slot int) bool { return t.a.Eligible(&t.states[slot]) }

func (t *typed[S, M]) incarnation(slot int) uint64 { return t.a.Incarnation(&t.states[slot]) }

func (t *typed[S, M]) kept(slot int) any {
	if t.a.Durable == nil {
		return nil
	}
	return t.a.Durable(&t.states[slot])
}

func (t *typed[S, M]) state(slot int) codec.Pointer { return codec.At(&t.states[slot]) }

func (t *typed[S, M]) message(m Message) codec.Pointer { return codec.At(t.at(m)) }

func (t *typed[S, M]) fresh(pages int) {
	block := make([]M, pages*pageSize)
	for ; pages > 0; pages-- {
		t.messages = append(t.messages, block[:pageSize:pageSize])
		block = block[pageSize:]
	}
}

func (t *typed[S, M]) at(m Message) *M { return &t.messages[m/pageSize][m%pageSize] }
