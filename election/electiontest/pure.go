package electiontest

import (
	"bytes"
	"fmt"
	"reflect"

	"ringleader.example/ringleader/election"
	"ringleader.example/ringleader/internal/codec"
	"ringleader.example/ringleader/internal/random"
)

// Pure is the algorithm with each step tried on two copies of the state first. It panics if they differ
// afterwards, in state or effects, if a step wrote to a slice that is shared, or if it changed a constant field.
func Pure[S, M any](a election.Algorithm[S, M]) election.Algorithm[S, M] {
	plans, err := codec.ForAlgorithm(&a)
	if err != nil {
		panic(err)
	}
	try := func(name string, s *S, out *election.Out[M], step func(*S, *election.Out[M])) {
		now := out.Deadline(election.Ticks{}).Left(election.Ticks{})
		before := plans.State.Append(nil, codec.At(s), now)
		constant := plans.State.AppendPart(nil, codec.At(s), now, codec.Constant)
		var after [2][]byte
		var effects [2]*election.Collector[M]
		for i := range 2 {
			copied, choices := *s, random.New(1, random.Choices)
			c := new(election.Collector[M])
			c.Clock(now)
			c.Choices(func(n uint32) uint32 { return uint32(choices.Below(uint64(n))) })
			step(&copied, c.Out())
			after[i], effects[i] = plans.State.Append(nil, codec.At(&copied), now), c
			if !bytes.Equal(constant, plans.State.AppendPart(nil, codec.At(&copied), now, codec.Constant)) {
				panic(fmt.Sprintf("%s %s: changed a field that is declared constant", a.Name, name))
			}
		}
		switch {
		case !bytes.Equal(after[0], after[1]):
			panic(fmt.Sprintf("%s %s: one step from one state led to two states", a.Name, name))
		case !reflect.DeepEqual(effects[0].Sent(), effects[1].Sent()) || !reflect.DeepEqual(effects[0].Rare(), effects[1].Rare()):
			panic(fmt.Sprintf("%s %s: one step from one state had two effects", a.Name, name))
		case !bytes.Equal(before, plans.State.Append(nil, codec.At(s), now)):
			panic(fmt.Sprintf("%s %s: wrote to a slice that was stored before", a.Name, name))
		}
		step(s, out)
	}
	pure := a
	pure.Start = func(s *S, out *election.Out[M]) { try("Start", s, out, a.Start) }
	pure.Receive = func(s *S, port election.Port, kind election.Kind, m M, out *election.Out[M]) {
		before := plans.Message.Append(nil, codec.At(&m), election.Ticks{})
		try("Receive", s, out, func(s *S, out *election.Out[M]) { a.Receive(s, port, kind, m, out) })
		if !bytes.Equal(before, plans.Message.Append(nil, codec.At(&m), election.Ticks{})) {
			panic(fmt.Sprintf("%s Receive: wrote to a slice of the message", a.Name))
		}
	}
	if a.Timeout != nil {
		pure.Timeout = func(s *S, timer election.Timer, out *election.Out[M]) {
			try("Timeout", s, out, func(s *S, out *election.Out[M]) { a.Timeout(s, timer, out) })
		}
	}
	if a.Recover != nil {
		pure.Recover = func(s *S, out *election.Out[M]) { try("Recover", s, out, a.Recover) }
	}
	onPort := func(name string, f func(*S, election.Port, *election.Out[M])) func(*S, election.Port, *election.Out[M]) {
		if f == nil {
			return nil
		}
		return func(s *S, port election.Port, out *election.Out[M]) {
			try(name, s, out, func(s *S, out *election.Out[M]) { f(s, port, out) })
		}
	}
	pure.Suspect, pure.Trust = onPort("Suspect", a.Suspect), onPort("Trust", a.Trust)
	if a.Command != nil {
		pure.Command = func(s *S, command election.Command, out *election.Out[M]) {
			try("Command", s, out, func(s *S, out *election.Out[M]) { a.Command(s, command, out) })
		}
	}
	return pure
}
