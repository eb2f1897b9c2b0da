package electiontest

import (
	"bytes"
	"fmt"
	"reflect"

	"ringleader.example/ringleader/election"
	"ringleader.example/ringleader/internal/core/codec"
	"ringleader.example/ringleader/internal/core/process"
	"ringleader.example/ringleader/internal/core/random"
)

// strangers is the number of processes of the election a step of which Pure makes between two equal ones.
const strangers = 24

// Pure returns the algorithm with each step first run on two copies of the state, and a step of another election between, with more
// identifiers. It panics if the copies differ afterwards, in state or effects, if a step wrote to a shared slice or behind one, or if it changed a constant field.
func Pure[S, M any](a election.Algorithm[S, M]) election.Algorithm[S, M] {
	plans, err := codec.ForAlgorithm(&a)
	if err != nil {
		panic(err)
	}
	other := process.Must(process.Of(&a)).Stranger(strangers)
	var guard codec.Guard // of lists that are stored, whose copies each step gets
	var before, constant, text []byte
	var after [2][]byte
	try := func(name string, s *S, out *election.Out[M], step func(*S, *election.Out[M])) {
		now := out.Deadline(election.Ticks{}).Left(election.Ticks{})
		before = plans.State.Append(before[:0], codec.At(s), now)
		constant = plans.State.AppendPart(constant[:0], codec.At(s), now, codec.Constant)
		var effects [2]*election.Collector[M]
		for i := range 2 {
			copied, choices := *s, random.New(1, random.Choices)
			guard.Clear()
			guard.Add(plans.State, codec.At(&copied))
			c := new(election.Collector[M])
			c.Clock(now)
			c.Choices(func(n uint32) uint32 { return uint32(choices.Below(uint64(n))) })
			step(&copied, c.Out())
			other.Step()
			written(a.Name, name, &guard, "stored before")
			after[i], effects[i] = plans.State.Append(after[i][:0], codec.At(&copied), now), c
			if text = plans.State.AppendPart(text[:0], codec.At(&copied), now, codec.Constant); !bytes.Equal(constant, text) {
				panic(fmt.Sprintf("%s %s: changed a field that is declared constant", a.Name, name))
			}
		}
		text = plans.State.Append(text[:0], codec.At(s), now)
		switch {
		case !bytes.Equal(after[0], after[1]):
			panic(fmt.Sprintf("%s %s: one step from one state led to two states", a.Name, name))
		case !reflect.DeepEqual(effects[0].Sent(), effects[1].Sent()) || !reflect.DeepEqual(effects[0].Effects(), effects[1].Effects()):
			panic(fmt.Sprintf("%s %s: one step from one state had two effects", a.Name, name))
		case !bytes.Equal(before, text): // through a slice that it got from elsewhere
			panic(fmt.Sprintf("%s %s: wrote to a slice that was stored before", a.Name, name))
		}
		step(s, out)
	}
	pure := around(a, try)
	receive := pure.Receive
	pure.Receive = func(s *S, port election.Port, kind election.Kind, m M, out *election.Out[M]) {
		var guard codec.Guard
		guard.Add(plans.Message, codec.At(&m))
		receive(s, port, kind, m, out)
		written(a.Name, "Receive", &guard, "received")
	}
	return pure
}

// written panics if a step wrote into a guarded slice, or into the room behind one.
func written(algorithm, step string, guard *codec.Guard, which string) {
	switch element, beyond := guard.Written(); {
	case element:
		panic(fmt.Sprintf("%s %s: wrote to a slice that was %s", algorithm, step, which))
	case beyond:
		panic(fmt.Sprintf("%s %s: appended to a slice x that was %s; it must append to x[:len(x):len(x)]", algorithm, step, which))
	}
}

// around returns the algorithm with do called around each step, with the step's name.
func around[S, M any](a election.Algorithm[S, M], do func(name string, s *S, out *election.Out[M], step func(*S, *election.Out[M]))) election.Algorithm[S, M] {
	around := a
	plain := func(name string, f func(*S, *election.Out[M])) func(*S, *election.Out[M]) {
		if f == nil {
			return nil
		}
		return func(s *S, out *election.Out[M]) { do(name, s, out, f) }
	}
	onPort := func(name string, f func(*S, election.Port, *election.Out[M])) func(*S, election.Port, *election.Out[M]) {
		if f == nil {
			return nil
		}
		return func(s *S, port election.Port, out *election.Out[M]) {
			do(name, s, out, func(s *S, out *election.Out[M]) { f(s, port, out) })
		}
	}
	around.Start, around.Recover = plain("Start", a.Start), plain("Recover", a.Recover)
	around.Suspect, around.Trust = onPort("Suspect", a.Suspect), onPort("Trust", a.Trust)
	around.Receive = func(s *S, port election.Port, kind election.Kind, m M, out *election.Out[M]) {
		do("Receive", s, out, func(s *S, out *election.Out[M]) { a.Receive(s, port, kind, m, out) })
	}
	if a.Timeout != nil {
		around.Timeout = func(s *S, timer election.Timer, out *election.Out[M]) {
			do("Timeout", s, out, func(s *S, out *election.Out[M]) { a.Timeout(s, timer, out) })
		}
	}
	if a.Command != nil {
		around.Command = func(s *S, command election.Command, out *election.Out[M]) {
			do("Command", s, out, func(s *S, out *election.Out[M]) { a.Command(s, command, out) })
		}
	}
	return around
}
