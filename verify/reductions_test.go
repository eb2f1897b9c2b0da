package verify

import (
	"encoding/json"
	"strings"
	"testing"

	"ringleader.example/ringleader/election"
	"ringleader.example/ringleader/internal/core/process"
	"ringleader.example/ringleader/network"
)

// made is an election made from a seed: what a process does with a message depends on its type, by a table. All but what
// breaks it on purpose is right: the process with the largest identifier leads, and the others follow.
type made struct {
	ID    election.ID
	Count uint8
	Last  uint8
	Knows bool
}

type token struct{ Type, Hops uint8 }

// digit returns a number below a limit, one of many that a seed stands for.
func digit(seed uint64, which, below uint64) uint64 {
	z := seed*0x9E3779B97F4A7C15 + which*0xD1B54A32D192ED03
	z = (z ^ z>>30) * 0xBF58476D1CE4E5B9
	z = (z ^ z>>27) * 0x94D049BB133111EB
	return (z ^ z>>31) % below
}

const types = 3

// making returns the election of a seed.
func making(seed uint64, topology election.Topology, anonymous bool) *process.Program {
	of := func(which, below uint64) uint64 { return digit(seed, which, below) }
	chooses := of(255, 3) == 0
	decide := func(p *made, out *election.Out[token]) {
		if p.Knows || anonymous {
			return
		}
		if p.Knows = true; p.ID == 3 {
			out.Lead(0)
		} else {
			out.Follow(3, 0)
		}
	}
	a := election.Algorithm[made, token]{
		Declaration: election.Declaration{
			Name: "made", Topology: topology, FIFO: true, Unoriented: topology == election.Ring && !anonymous, Winner: election.Largest,
			Kinds: []election.MessageKind{{Name: "token"}, {Name: "other", Class: election.Announcement}},
		},
		New: func(l election.Local) made { return made{ID: l.ID} },
		Start: func(p *made, out *election.Out[token]) {
			decide(p, out)
			for port := range uint64(2) {
				if which := 100 + 10*uint64(p.ID) + port; of(which, 3) > 0 {
					out.Send(election.Port(port), 0, token{uint8(of(which+50, types)), 1 + uint8(of(which+80, 2))})
				}
			}
		},
		Receive: func(p *made, port election.Port, _ election.Kind, m token, out *election.Out[token]) {
			decide(p, out)
			t := uint64(m.Type)
			send := func(port election.Port) {
				if m.Hops > 0 {
					out.Send(port, election.Kind(of(200+t, 2)), token{uint8(of(210+t, types)), m.Hops - 1})
				}
			}
			switch of(220+t, 5) {
			case 0:
				send(1 - port)
			case 1:
				send(port)
			case 2:
				if p.Count++; p.Count == uint8(1+of(230+t, 2)) {
					send(0)
					send(1)
				}
			case 3:
				p.Last = m.Type + 1 + 4*uint8(port)
			case 4:
				p.Count += m.Hops
			}
			if chooses && t == 1 && (of(254, 6) == 0 || out.Choose(2) == 1) { // with bad luck for ever, or always
				out.Send(1-port, 0, m)
			}
			if uint64(p.Last) == 4*of(240, 2)+of(241, types)+1 && uint64(p.Count) == of(242, 3) && t == of(243, types) {
				panic("made to")
			}
		},
	}
	if of(250, 2) == 0 {
		a.Suspect = func(p *made, port election.Port, out *election.Out[token]) {
			p.Count++
			if of(251, 2) == 0 {
				out.Send(1-port, 0, token{uint8(of(252, types)), 1})
			}
		}
	}
	if of(256, 2) == 0 {
		a.Starts = election.AllStart
	}
	if of(253, 2) == 0 {
		a.Recover = a.Start
		a.Durable = func(p *made) any { return &p.Knows }
	}
	if anonymous {
		a.Identifiers, a.Winner = election.Anonymous, election.Unspecified
	}
	return process.Must(process.Of(&a))
}

// Elections of many kinds, and what is wrong with them: each reduction finds what the whole search finds.
func TestReductionsFindWhatTheSearchFindsInElectionsMadeAtRandom(t *testing.T) {
	if testing.Short() {
		t.Skip("it only computes")
	}
	seeds, enough := uint64(16), 20
	if *long {
		seeds, enough = 80, 100
	}
	applied, wrong := map[Reduction]int{}, 0
	for seed := range seeds {
		for i, o := range []Options{
			{Size: 3},
			{Size: 3, Starts: AnyTime},
			{Size: 3, Starts: Each},
			{Size: 3, Orientations: true},
			{Size: 3, Crashes: 1},
			{Size: 3, Crashes: 1, Starts: Each, SafetyOnly: true},
			{Size: 3, Crashes: 1, Recoveries: 1, SafetyOnly: true},
			{Size: 3, Initiators: []int{0}, Setup: network.On(3, 1, 2), Crashes: 2, SafetyOnly: true},
			{Size: 2, Losses: 2, Starts: AnyTime, SafetyOnly: true},
			{Size: 3, Duplicates: 1, Starts: Each, SafetyOnly: true},
			{Size: 2, Losses: 1, Duplicates: 1},
			{Setup: network.Setup{IDs: make(election.List, 3)}, SafetyOnly: true},
			{Setup: network.Setup{IDs: make(election.List, 3)}, SafetyOnly: true, Losses: 1},
			{Setup: network.Setup{IDs: make(election.List, 2)}, SafetyOnly: true, Starts: AnyTime},
		} {
			topology, anonymous := election.Ring, o.Setup.IDs != nil && o.Size == 0
			if seed%2 == 1 && i < 3 {
				topology = election.UnknownNeighbours
			}
			program := making(seed, topology, anonymous)
			o.MaxStates = 4000
			if o.Recoveries > 0 && !program.Functions.Recover {
				continue
			}
			whole, err := Program(program, o)
			if err != nil {
				t.Fatal(err)
			}
			if !whole.Complete {
				continue
			}
			if whole.Violation != nil {
				wrong++
			}
			reducing(t, program, o, whole, applied)
		}
	}
	if applied[Confluence] < enough || applied[PartialOrder] < enough || applied[Symmetry] < enough || wrong < enough {
		t.Errorf("%v, and %d are wrong: too few to show anything", applied, wrong)
	}
}

// reducing compares each reduction of an exploration with the whole search, and counts those that apply.
func reducing(t *testing.T, program *process.Program, o Options, whole *Report, applied map[Reduction]int) {
	t.Helper()
	for _, reduce := range []Reduction{AnyReduction, Confluence, PartialOrder, Symmetry} {
		o.Reduce, o.MaxStates = reduce, 10_000
		r, err := Program(program, o)
		if err != nil || !r.Complete && whole.Complete {
			continue // a premise does not hold; or the violation is deeper in the smaller graph
		}
		if r.Violation == nil && (r.Confluent+r.Partial > 0 || r.Symmetry) {
			applied[reduce]++
		}
		if got, want := essence(t, r), essence(t, whole); got != want {
			t.Fatalf("%+v: %s; the whole search finds %s", o, got, want)
		}
	}
}

// essence is what a reduction must not change.
func essence(t *testing.T, r *Report) string {
	t.Helper()
	text, err := json.Marshal([]any{r.Complete, r.MaxMessages, r.MinMessages, r.Coverage, r.Violation})
	if err != nil {
		t.Fatal(err)
	}
	return string(text)
}

// forwarding is an election on a ring or a complete graph in which the process with the largest identifier leads at once. Then
// each sends some messages out of every port, which hop on so many times.
func forwarding(topology election.Topology, tokens int, hops uint8) election.Algorithm[made, token] {
	return election.Algorithm[made, token]{
		Declaration: election.Declaration{
			Name: "forwarding", Topology: topology, FIFO: true, Winner: election.Largest, Decides: election.LeaderOnly, KnowsSize: true,
			Kinds: []election.MessageKind{{Name: "token"}},
		},
		New: func(l election.Local) made { return made{ID: l.ID, Last: uint8(l.N)} },
		Start: func(p *made, out *election.Out[token]) {
			if uint8(p.ID) == p.Last {
				out.Lead(0)
			}
			for range tokens {
				out.Send(0, 0, token{uint8(p.ID), hops})
			}
		},
		Receive: func(p *made, port election.Port, _ election.Kind, m token, out *election.Out[token]) {
			p.Count ^= 1 << (m.Type % 8)
			if m.Hops > 0 {
				out.Send(1-port, 0, token{m.Type, m.Hops - 1})
			}
		},
	}
}

// Beyond the limits of what one process receives, and of its points, an order is left to the search.
func TestConfluenceGivesUpAtItsLimits(t *testing.T) {
	for hops, want := range map[uint8]int{62: 1, 64: 0} { // one token makes so many hops and one more, and one process receives half
		a := forwarding(election.Ring, 0, 0)
		a.Start = func(p *made, out *election.Out[token]) {
			if p.ID == 2 {
				out.Lead(0)
				out.Send(0, 0, token{1, 2 * hops})
				out.Send(0, 0, token{2, 0})
			}
		}
		if r, err := Run(a, Options{Size: 2, Reduce: Confluence}); err != nil || r.Violation != nil || r.Confluent != want {
			t.Errorf("%d hops: %+v, %v", hops, r, err)
		}
	}
	for _, towards := range []election.Port{0, 1} { // the first process sends 35 messages to each of two; or receives as many from them
		a := forwarding(election.Ring, 0, 0)
		a.Start = func(p *made, out *election.Out[token]) {
			if p.ID == 3 {
				out.Lead(0)
			}
			for port := range election.Port(2) {
				for range 35 {
					if (p.ID == 3) == (towards == 0) && (towards == 0 || election.ID(port) == 2-p.ID) {
						out.Send(port, 0, token{Type: 1})
					}
				}
			}
		}
		if r, err := Run(a, Options{Setup: network.On(3, 1, 2), Reduce: Confluence, MaxStates: 3000}); err != nil || r.Confluent != 0 {
			t.Errorf("70 messages, %d: %+v, %v", towards, r, err)
		}
	}
	star := forwarding(election.Tree, 1, 0)
	i := network.Setup{IDs: election.List{1}}
	for leaf := range 18 {
		i.IDs, i.Edges = append(i.IDs.(election.List), uint64(leaf)+2), append(i.Edges, [2]int{0, leaf + 1})
	}
	r, err := Run(star, Options{Setup: i, Reduce: Confluence, MaxStates: 100})
	if err != nil || r.Confluent > 0 || r.Complete {
		t.Errorf("%+v, %v", r, err)
	}
}

// An algorithm whose new processes differ by more than what they are told breaks the contract, and no symmetry is found in it.
func TestNoSymmetryIsFoundWhereNewProcessesDiffer(t *testing.T) {
	numbered := func(program func(func(election.Local) made) *process.Program, o Options) (*Report, error) {
		born := 0
		return Program(program(func(l election.Local) made {
			born++
			return made{ID: l.ID, Last: 200 + uint8(born%3)}
		}), o)
	}
	plain := func(l election.Local) made { return made{ID: l.ID, Last: 200} }
	for _, test := range []struct {
		name string
		o    Options
		on   election.Topology
	}{
		{"orders among unknown neighbours", Options{Size: 3}, election.UnknownNeighbours},
		{"mirror images", Options{Size: 3, Orientations: true}, election.Ring},
		{"configurations", Options{Setup: network.Setup{IDs: make(election.List, 3)}}, election.Ring},
	} {
		program := func(born func(election.Local) made) *process.Program {
			a := forwarding(test.on, 1, 1)
			a.New = born
			if a.Unoriented = test.o.Orientations; test.o.Size == 0 {
				a.Identifiers, a.Winner = election.Anonymous, election.Unspecified
			}
			return process.Must(process.Of(&a))
		}
		test.o.Reduce, test.o.SafetyOnly = Symmetry, true
		if r, err := Program(program(plain), test.o); err != nil || !r.Symmetry {
			t.Errorf("%s: %+v, %v", test.name, r, err)
		}
		if r, err := numbered(program, test.o); err != nil || r.Violation == nil || r.Violation.Property != BrokeContract || !strings.HasPrefix(r.Violation.Detail, "New of ") {
			t.Errorf("%s, where new processes differ: %+v, %v", test.name, r, err)
		}
	}
}
