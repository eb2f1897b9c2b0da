package process

import (
	"bytes"
	"errors"
	"slices"
	"testing"

	"ringleader.example/ringleader/election"
	"ringleader.example/ringleader/internal/core/codec"
	"ringleader.example/ringleader/internal/core/framing"
	"ringleader.example/ringleader/network"
)

// machine is the second process of a ring of three.
func machine(t *testing.T, a election.Algorithm[probe, note]) *Machine {
	t.Helper()
	program, network := hidden(t, a)
	return program.NewMachine(network, 1, func(n uint32) uint32 { return n - 1 }, nil)
}

func (m *Machine) probe() *probe { return m.ps.probe(only) }

func TestAMachineSendsItsMessagesAsFrames(t *testing.T) {
	m := machine(t, starting(func(p *probe, out out) {
		out.Send(1, vote, note{Number: 0x01020304, List: []uint8{5}})
		out.Send(0, news, note{Number: out.Choose(7)})
		out.Lead(3)
	}))
	for range 3 { // the frames of a step overwrite the earlier ones
		effects, err := m.Step(Input{What: Started}, election.Ticks{})
		if err != nil || len(effects.Sent) != 2 || len(effects.Other) != 1 || effects.Other[0].Term != 3 {
			t.Fatalf("%+v, %v", effects, err)
		}
		first, second := effects.Sent[0], effects.Sent[1]
		if first.Port != 1 || first.Kind != vote || first.Phase != 0x01020304 || second.Port != 0 || second.Kind != news || second.Phase != -1 {
			t.Errorf("%+v", effects.Sent)
		}
		// The length counts the kind, a number, the length of a list, and what is in it.
		if want := []byte{10, 0, byte(vote), 4, 3, 2, 1, 1, 0, 0, 0, 5}; !bytes.Equal(first.Frame, want) {
			t.Errorf("% x; want % x", first.Frame, want)
		}
		if want := []byte{9, 0, byte(news), 6, 0, 0, 0, 0, 0, 0, 0}; !bytes.Equal(second.Frame, want) {
			t.Errorf("% x; want % x", second.Frame, want)
		}
	}
	if n := held(m.ps); n != 0 {
		t.Errorf("%d messages are held that have left", n)
	}
	if !m.Phases() {
		t.Error("no phases")
	}
}

func TestAMachineHandlesWhatHappens(t *testing.T) {
	m := machine(t, probing())
	for _, test := range []struct {
		in   Input
		want []uint32
	}{
		{Input{What: Started}, []uint32{1}},
		{Input{What: Received, Port: 1, Kind: news, Message: []byte{9, 0, 0, 0, 1, 0, 0, 0, 8}}, []uint32{2, 1, 1, 9, 8}},
		{Input{What: Expired, Timer: 1}, []uint32{3, 1}},
		{Input{What: Suspected, Port: 1}, []uint32{5, 1}},
		{Input{What: Commanded, Command: election.Command{Order: 2, Member: 3, Number: 4}}, []uint32{7, 2, 3, 4}},
	} {
		m.probe().Log = nil
		if _, err := m.Step(test.in, election.Ticks{}); err != nil || !slices.Equal(m.probe().Log, test.want) {
			t.Errorf("%+v: %v, %v; want %v", test.in, m.probe().Log, err, test.want)
		}
	}
	if m.probe().ID != 2 {
		t.Errorf("it is process %d", m.probe().ID)
	}
	for range 10 { // the received message is released
		if _, err := m.Step(Input{What: Received, Message: make([]byte, 8)}, election.Ticks{}); err != nil {
			t.Fatal(err)
		}
	}
	if n := held(m.ps); n != 0 {
		t.Errorf("%d messages are held that were received", n)
	}
}

func TestAMalformedMessageChangesNothing(t *testing.T) {
	m := machine(t, probing())
	whole := []byte{9, 0, 0, 0, 1, 0, 0, 0, 8}
	for size := range len(whole) {
		if out, err := m.Step(Input{What: Received, Message: whole[:size]}, election.Ticks{}); !errors.Is(err, codec.ErrDecode) || len(out.Sent)+len(out.Other) > 0 {
			t.Errorf("%d bytes of %d: %+v, %v", size, len(whole), out, err)
		}
	}
	if _, err := m.Step(Input{What: Received, Message: append(whole, 0)}, election.Ticks{}); !errors.Is(err, codec.ErrDecode) {
		t.Errorf("a byte too many: %v", err)
	}
	if len(m.probe().Log) > 0 {
		t.Errorf("it noted %v", m.probe().Log)
	}
}

func TestAMachinePanicsIfItsAlgorithmBreaksTheContract(t *testing.T) {
	long := func(elements int) func(*probe, out) {
		return func(_ *probe, out out) { out.Send(0, vote, note{List: make([]uint8, elements)}) }
	}
	const most = framing.MaxMessage - 8 // elements
	for _, test := range []struct {
		start func(*probe, out)
		want  string
	}{
		{func(_ *probe, out out) { out.Send(2, vote, note{}) }, "broke the contract: sends on port 2; its ports are 0 to 1"},
		{func(_ *probe, out out) { out.Send(0, 3, note{}) }, "broke the contract: sends a message of kind 3; 3 are declared"},
		{func(_ *probe, out out) { out.Send(0, 16, note{}) }, "sends a message of kind 16; there are at most 16 kinds"},
		{long(most + 1), "broke the contract: sends a message of 16384 bytes; at most 16383 can be sent"},
	} {
		m := machine(t, starting(test.start))
		err, ok := panics(t, func() { m.Step(Input{What: Started}, election.Ticks{}) }).(error)
		if property, _ := Blame(err); !ok || property != BrokeContract || err.Error() != test.want {
			t.Errorf("%v; want %s", err, test.want)
		}
	}
	if out, err := machine(t, starting(long(most))).Step(Input{What: Started}, election.Ticks{}); err != nil || len(out.Sent[0].Frame) != framing.HeadSize+framing.MaxMessage {
		t.Errorf("a message of %d bytes: %v", len(out.Sent[0].Frame), err)
	}
}

func TestAMachineIsRestoredFromWhatItKept(t *testing.T) {
	m := machine(t, starting(func(p *probe, _ out) { p.Durable.Votes = []uint32{4} }))
	if _, err := m.Step(Input{What: Started}, election.Ticks{}); err != nil {
		t.Fatal(err)
	}
	again := machine(t, probing())
	if err := again.Restore(m.Durable()); err != nil || !slices.Equal(again.probe().Durable.Votes, []uint32{4}) {
		t.Errorf("%+v, %v", again.probe(), err)
	}
	if m.Eligible() || !machine(t, probing()).Eligible() {
		t.Error("the state does not say whether it stands")
	}
	without := probing()
	without.Phase = nil
	if machine(t, without).Phases() {
		t.Error("phases without a function for them")
	}
}

// named is a process whose messages and persistent state hold an identifier.
type named struct{ Kept struct{ Vote election.ID } }

type mention struct{ Who election.ID }

// offset names process i by the number 1000 + i + its own value.
type offset uint64

func (o offset) Name(id election.ID) uint64 {
	if id == 0 {
		return 0
	}
	return 1000 + uint64(id) + uint64(o)
}

func (o offset) ID(name uint64) (election.ID, error) {
	if name <= 1000+uint64(o) {
		return 0, errors.New("there is none")
	}
	return election.ID(name - 1000 - uint64(o)), nil
}

func TestMachinesMayNumberProcessesDifferently(t *testing.T) {
	a := election.Algorithm[named, mention]{
		Declaration: election.Declaration{
			Name: "named", Topology: election.Complete, Task: election.Service, Survives: election.Crash | election.Recovery,
			Winner: election.Unspecified, Kinds: []election.MessageKind{{Name: "mention"}},
		},
		New:   func(election.Local) named { return named{} },
		Start: func(p *named, out *election.Out[mention]) { p.Kept.Vote = 3; out.Send(1, 0, mention{3}) },
		Receive: func(p *named, _ election.Port, _ election.Kind, m mention, _ *election.Out[mention]) {
			p.Kept.Vote = m.Who
		},
		Recover: func(*named, *election.Out[mention]) {},
		Durable: func(p *named) any { return &p.Kept },
	}
	program, err := Of(&a)
	if err != nil {
		t.Fatal(err)
	}
	made := func(names Names) *Machine {
		prepared, err := network.Prepare(program.Declaration, network.On(1, 2, 3))
		if err != nil {
			t.Fatal(err)
		}
		return program.NewMachine(prepared, 0, nil, names)
	}
	vote := func(m *Machine) election.ID { return m.ps.store.(*typed[named, mention]).states[only].Kept.Vote }
	sender := made(offset(0))
	effects, err := sender.Step(Input{What: Started}, election.Ticks{})
	if err != nil {
		t.Fatal(err)
	}
	frame := effects.Sent[0].Frame[framing.HeadSize:]
	receiver := made(offset(2)) // it has two less before process 1003
	if _, err := receiver.Step(Input{What: Received, Message: frame}, election.Ticks{}); err != nil || vote(receiver) != 1 {
		t.Errorf("process 1003 is %d, %v; want 1", vote(receiver), err)
	}
	again := made(offset(1))
	if err := again.Restore(sender.Durable()); err != nil || vote(again) != 2 {
		t.Errorf("the restored vote is %d, %v; want 2", vote(again), err)
	}
	for what, wrong := range map[string][]byte{
		"a name too few": frame[:len(frame)-8], "a part of a name": frame[:len(frame)-1], "a name too many": append(slices.Clone(frame), frame[4:]...),
	} {
		if _, err := receiver.Step(Input{What: Received, Message: wrong}, election.Ticks{}); !errors.Is(err, codec.ErrDecode) {
			t.Errorf("%s: %v", what, err)
		}
	}
	if _, err := made(offset(5000)).Step(Input{What: Received, Message: frame}, election.Ticks{}); !errors.Is(err, codec.ErrDecode) {
		t.Errorf("a name that cannot be known: %v", err)
	}
	none := made(offset(0))
	if err := none.Restore(made(offset(0)).Durable()); err != nil || vote(none) != 0 {
		t.Errorf("no process is %d, %v", vote(none), err)
	}
}

func TestClocksOfMachinesRun(t *testing.T) {
	m := machine(t, starting(func(p *probe, out out) { p.Until = out.Deadline(election.Units(5)) }))
	if _, err := m.Step(Input{What: Started}, election.Units(10)); err != nil || m.probe().Until.Left(election.Units(12)) != election.Units(3) {
		t.Errorf("%+v, %v", m.probe(), err)
	}
}
