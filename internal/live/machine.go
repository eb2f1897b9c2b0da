package live

import (
	"fmt"

	"ringleader.example/ringleader/election"
	"ringleader.example/ringleader/internal/plain"
)

// input is an event for the algorithm.
type input struct {
	what    what
	port    election.Port    // received, suspected, trusted
	kind    election.Kind    // received
	message []byte           // received: encoded
	timer   election.Timer   // expired
	command election.Command // commanded
}

type what uint8

const (
	started what = iota
	recovered
	received
	expired
	suspected
	trusted
	commanded
)

// effects are what a step did, with messages encoded; valid until the next step.
type effects struct {
	kept []byte
	sent []sent
	rare []election.Effect
}

type sent struct {
	port  election.Port
	frame []byte
}

// machine is an algorithm and the state of one process, with their types hidden.
type machine interface {
	// step does what an input asks for, at that time since the start. An error says that the input is
	// malformed, and then nothing was done.
	step(in input, now election.Ticks) (effects, error)
	kept() []byte
	restore(kept []byte) error
}

type process[S, M any] struct {
	algorithm election.Algorithm[S, M]
	plans     plain.Plans[S, M]
	first     uint32 // its first link
	degree    int
	state     S
	collector election.Collector[M]
}

func (p *process[S, M]) step(in input, now election.Ticks) (effects, error) {
	a, out := &p.algorithm, p.collector.Out()
	p.collector.Reset()
	p.collector.Clock(now)
	switch {
	case in.what == started:
		a.Start(&p.state, out)
	case in.what == recovered:
		a.Recover(&p.state, out)
	case in.what == expired:
		a.Timeout(&p.state, in.timer, out)
	case in.what == suspected && a.Suspect != nil:
		a.Suspect(&p.state, in.port, out)
	case in.what == trusted && a.Trust != nil:
		a.Trust(&p.state, in.port, out)
	case in.what == commanded && a.Command != nil:
		a.Command(&p.state, in.command, out)
	case in.what == received:
		var m M
		rest, err := p.plans.DecodeMessage(in.message, &m)
		if err != nil {
			return effects{}, err
		}
		if len(rest) > 0 {
			return effects{}, fmt.Errorf("%w: %d bytes follow it", plain.ErrDecode, len(rest))
		}
		a.Receive(&p.state, in.port, in.kind, m, out)
	}
	e := effects{kept: p.kept(), rare: p.collector.Rare()}
	for i := range p.collector.Sent() {
		s := &p.collector.Sent()[i]
		port := s.On() - p.first
		if port >= uint32(p.degree) {
			panic(fmt.Sprintf("live: %s sent on port %d of %d in state %+v", a.Name, port, p.degree, p.state))
		}
		frame, err := appendFrame(nil, uint8(s.Kind()), func(dst []byte) []byte { return p.plans.AppendMessage(dst, &s.M) })
		if err != nil {
			panic(fmt.Sprintf("live: %s sent %v", a.Name, err))
		}
		e.sent = append(e.sent, sent{election.Port(port), frame})
	}
	return e, nil
}

func (p *process[S, M]) kept() []byte { return p.plans.AppendKept(nil, &p.algorithm, &p.state) }

func (p *process[S, M]) restore(kept []byte) error {
	rest, err := p.plans.DecodeKept(kept, &p.algorithm, &p.state)
	if err == nil && len(rest) > 0 {
		err = fmt.Errorf("%w: %d bytes follow it", plain.ErrDecode, len(rest))
	}
	return err
}
