package live

import (
	"bytes"
	"errors"
	"testing"

	"ringleader.example/ringleader/election"
	"ringleader.example/ringleader/internal/core/codec"
	"ringleader.example/ringleader/internal/core/process"
	"ringleader.example/ringleader/network"
)

// A message from the network changes nothing unless it is one.
func FuzzMessage(f *testing.F) {
	plans, err := codec.ForAlgorithm(&ballots)
	if err != nil {
		f.Fatal(err)
	}
	instance, err := network.Prepare(&ballots.Declaration, network.On(1, 2, 3))
	if err != nil {
		f.Fatal(err)
	}
	program, err := process.Of(&ballots)
	if err != nil {
		f.Fatal(err)
	}
	f.Add(plans.Message.Append(nil, codec.At(&slip{Vote: 3, Path: []uint16{1, 2}}), election.Ticks{}))
	f.Add([]byte{0, 0, 0, 0, 0xff, 0xff, 0, 0})
	f.Fuzz(func(t *testing.T, b []byte) {
		p := program.NewMachine(instance, 0, nil, nil)
		before := p.Durable()
		e, err := p.Step(process.Input{What: process.Received, Port: 1, Message: b}, election.Ticks{})
		changed := !bytes.Equal(p.Durable(), before)
		switch {
		case err != nil && !errors.Is(err, codec.ErrDecode):
			t.Errorf("an error of another kind: %v", err)
		case err != nil && (len(e.Sent) > 0 || changed):
			t.Error("a malformed message did something")
		case err == nil && (len(e.Sent) != 1 || !changed):
			t.Error("a message did nothing")
		}
	})
}
