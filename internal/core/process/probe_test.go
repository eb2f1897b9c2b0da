package process

import (
	"slices"
	"testing"

	"ringleader.example/ringleader/election"
	"ringleader.example/ringleader/network"
)

// probe is a process that its test controls; durable outlasts its crash.
type probe struct {
	ID      election.ID
	Size    uint32 `election:"constant"`
	Durable durable
	Log     []uint32 // its events
	Until   election.Deadline
}

type durable struct{ Votes []uint32 }

type note struct {
	Number uint32
	List   []uint8
}

type out = *election.Out[note]

const (
	vote   election.Kind = iota // of the election
	news                        // an announcement
	ballot                      // of the election
)

// probing returns an algorithm with every optional function. Each but New notes its call and arguments in the state.
func probing() election.Algorithm[probe, note] {
	return election.Algorithm[probe, note]{
		Declaration: election.Declaration{
			Name: "probing", Topology: election.Ring, Timing: election.Timed, Task: election.Service, FIFO: true, KnowsSize: true,
			Winner: election.Unspecified, Survives: election.Crash | election.Recovery, Timers: []string{"one", "two"},
			Kinds: []election.MessageKind{{Name: "vote"}, {Name: "news", Class: election.Announcement}, {Name: "ballot"}},
		},
		New:   func(l election.Local) probe { return probe{ID: l.ID, Size: uint32(l.N)} },
		Start: func(p *probe, _ out) { p.note(1) },
		Receive: func(p *probe, port election.Port, kind election.Kind, m note, _ out) {
			p.note(2, uint32(port), uint32(kind), m.Number)
			for _, element := range m.List {
				p.note(uint32(element))
			}
		},
		Timeout: func(p *probe, t election.Timer, _ out) { p.note(3, uint32(t)) },
		Recover: func(p *probe, _ out) { p.note(4) },
		Suspect: func(p *probe, port election.Port, _ out) { p.note(5, uint32(port)) },
		Trust:   func(p *probe, port election.Port, _ out) { p.note(6, uint32(port)) },
		Command: func(p *probe, c election.Command, _ out) {
			p.note(7, uint32(c.Order), uint32(c.Member), uint32(c.Number))
		},
		Durable:  func(p *probe) any { return &p.Durable },
		Eligible: func(p *probe) bool { return len(p.Durable.Votes) == 0 },
		Phase:    func(_ election.Kind, m note) int { return int(m.Number) },
	}
}

// note appends to the log, without writing into a shared slice.
func (p *probe) note(what ...uint32) { p.Log = append(slices.Clip(p.Log), what...) }

// hidden hides the types of an algorithm on a ring of three.
func hidden(t *testing.T, a election.Algorithm[probe, note]) (*Program, *network.Instance) {
	t.Helper()
	program, err := Of(&a)
	if err != nil {
		t.Fatal(err)
	}
	network, err := network.Prepare(program.Declaration, network.On(1, 2, 3))
	if err != nil {
		t.Fatal(err)
	}
	return program, network
}

// starting returns the algorithm with this Start.
func starting(start func(*probe, out)) election.Algorithm[probe, note] {
	a := probing()
	a.Start = start
	return a
}

// panics returns the value of a call's panic.
func panics(t *testing.T, call func()) (with any) {
	t.Helper()
	defer func() {
		if with = recover(); with == nil {
			t.Error("no panic")
		}
	}()
	call()
	return nil
}
