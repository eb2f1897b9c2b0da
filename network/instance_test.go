package network_test

import (
	"errors"
	"fmt"
	"math"
	"slices"
	"testing"

	"ringleader.example/ringleader/election"
	"ringleader.example/ringleader/internal/core/property"
	"ringleader.example/ringleader/network"
)

// upTo is the arrangement 1 … n in order.
type upTo int

func (n upTo) Len() int        { return int(n) }
func (n upTo) At(p int) uint64 { return uint64(p) + 1 }
func (n upTo) Dense() bool     { return true }

var (
	delay = election.Number{Name: "delay", Whole: true, Least: 1, Default: "10"}

	onRing     = election.Declaration{Name: "ring", Topology: election.Ring, KnowsSize: true, Parameters: []election.Parameter{&delay}}
	onComplete = election.Declaration{Name: "complete", Topology: election.Complete, Willingness: true}
	strangers  = election.Declaration{Name: "strangers", Topology: election.UnknownNeighbours, KnowsSize: true}
	onTree     = election.Declaration{Name: "tree", Topology: election.Tree, Willingness: true}
	computing  = election.Declaration{Name: "computing", Topology: election.Ring, Identifiers: election.Computed}
	nameless   = election.Declaration{Name: "nameless", Topology: election.Ring, Identifiers: election.Anonymous, KnowsSize: true}
	turned     = election.Declaration{Name: "turned", Topology: election.Ring, Unoriented: true}
)

// distinct draws different identifiers.
func distinct(t *property.T) []uint64 {
	id := property.OneOf(property.Uint64Range(0, 20), property.Uint64())
	return property.Distinct(id, 1, 12).Draw(t, "ids")
}

func TestComparedIdentifiersAreRanks(t *testing.T) {
	property.Check(t, func(t *property.T) {
		ids := distinct(t)
		p, err := network.Prepare(&onRing, network.On(ids...))
		must(t, p, err)
		if p.Size() != len(ids) || p.Anonymous() {
			t.Fatalf("%d processes, anonymous %v", p.Size(), p.Anonymous())
		}
		for q, real := range ids {
			rank := election.ID(1)
			for _, other := range ids {
				if other < real {
					rank++
				}
			}
			if p.ID(q) != rank || p.Real(q) != real || p.RealOf(rank) != real {
				t.Fatalf("%d at position %d has rank %d, not %d; that is %d", real, q, p.ID(q), rank, p.RealOf(rank))
			}
			if l := p.Local(q); l.ID != rank || l.N != len(ids) || l.Degree != 2 || !l.Willing || l.Parameters.Text("delay") != "10" {
				t.Fatalf("%+v", l)
			}
		}
		if p.RealOf(0) != 0 || p.RealOf(election.ID(len(ids)+1)) != uint64(len(ids)+1) {
			t.Fatalf("no process is %d, an unknown one %d", p.RealOf(0), p.RealOf(election.ID(len(ids)+1)))
		}
	})
}

func TestEqualIdentifiersHaveEqualRanksIfTheyAreAllowed(t *testing.T) {
	i := network.On(30, 10, 30, 20, 10)
	if _, err := network.Prepare(&onRing, i); err == nil || err.Error() != "cannot run ring: identifier 30 occurs twice" {
		t.Error(err)
	}
	i.Duplicates = true
	p, err := network.Prepare(&onRing, i)
	if err != nil {
		t.Fatal(err)
	}
	for q, rank := range []election.ID{3, 1, 3, 2, 1} {
		if p.ID(q) != rank || p.RealOf(rank) != i.IDs.At(q) {
			t.Errorf("position %d has rank %d, not %d; that is %d", q, p.ID(q), rank, p.RealOf(rank))
		}
	}
}

// twins needs two processes with the same identifier.
var twins = election.Declaration{Name: "twins", Topology: election.Ring, AllowDuplicates: func(ids election.Arrangement) error {
	if ids.Len() != 2 || ids.At(0) != ids.At(1) {
		return errors.New("there are no twins")
	}
	return nil
}}

func TestIdentifiersRepeatWhereThatIsPromisedAndElsewhereIfTheyAreAllowed(t *testing.T) {
	for _, c := range []struct {
		ids   election.Arrangement
		twins bool
	}{
		{election.List{7, 7}, true},
		{election.List{7, 8}, false},
		{upTo(2), false},
		{election.List{7, 7, 7}, false},
	} {
		_, err := network.Prepare(&twins, network.Setup{IDs: c.ids})
		if got := err == nil; got != c.twins || err != nil && err.Error() != "cannot run twins: there are no twins" {
			t.Errorf("%v: %v", c.ids, err)
		}
		if _, err := network.Prepare(&twins, network.Setup{IDs: c.ids, Duplicates: true}); err != nil {
			t.Errorf("%v, allowed: %v", c.ids, err)
		}
	}
}

func TestOnACompleteGraphProcessesAreSorted(t *testing.T) {
	property.Check(t, func(t *property.T) {
		ids := distinct(t)
		given := slices.Clone(ids)
		p, err := network.Prepare(&onComplete, network.On(ids...))
		must(t, p, err)
		if !slices.Equal(ids, given) {
			t.Fatal("what was given was sorted")
		}
		slices.Sort(given)
		for q, real := range given {
			if p.ID(q) != election.ID(q+1) || p.Real(q) != real || p.RealOf(election.ID(q+1)) != real || p.Local(q).N != 0 {
				t.Fatalf("member %d is %d with rank %d", q+1, p.Real(q), p.ID(q))
			}
		}
	})
}

func TestUnknownNeighboursStayWhereTheyAre(t *testing.T) {
	i := network.On(30, 10, 20)
	i.Ports = [][]int{{1, 0}, {0, 1}, {0, 1}}
	p, err := network.Prepare(&strangers, i)
	if err != nil {
		t.Fatal(err)
	}
	for q, rank := range []election.ID{3, 1, 2} {
		if l := p.Local(q); l.ID != rank || l.N != 3 || l.Degree != 2 || p.Real(q) != i.IDs.At(q) || p.Name(q) != fmt.Sprintf("process %d", i.IDs.At(q)) {
			t.Errorf("position %d: %+v, identifier %d", q, l, p.Real(q))
		}
	}
	if to, _ := p.Network.End(p.Network.First(0)); to != 2 {
		t.Errorf("port 0 of position 0 leads to %d, want 2", to)
	}
	if p, err = network.Prepare(&strangers, network.On(7)); err != nil || p.Local(0).Degree != 0 {
		t.Errorf("alone: %v, %v", p, err)
	}
}

func TestADenseArrangementIsItsOwnRanking(t *testing.T) {
	for _, d := range []*election.Declaration{&onRing, &computing, &onComplete} {
		p, err := network.Prepare(d, network.Setup{IDs: upTo(5)})
		if err != nil {
			t.Fatal(err)
		}
		for q := range 5 {
			if id := uint64(q) + 1; uint64(p.ID(q)) != id || p.Real(q) != id || p.RealOf(election.ID(id)) != id {
				t.Errorf("%s: %d, %d, %d at position %d", d.Name, p.ID(q), p.Real(q), p.RealOf(election.ID(id)), q)
			}
		}
	}
	if _, err := network.Prepare(&onRing, network.Setup{IDs: upTo(network.MaxRing)}); err != nil {
		t.Errorf("the largest ring takes no memory, but: %v", err)
	}
}

func TestComputedIdentifiersAreThemselves(t *testing.T) {
	ids := []uint64{7, network.MaxComputed, 1, 70_000}
	p, err := network.Prepare(&computing, network.On(ids...))
	if err != nil {
		t.Fatal(err)
	}
	for q, id := range ids {
		if uint64(p.ID(q)) != id || p.Real(q) != id || p.RealOf(election.ID(id)) != id || p.Local(q).N != 0 {
			t.Errorf("%d at position %d is %d", id, q, p.ID(q))
		}
	}
}

func TestWhereZeroIsAnIdentifierProcessesKnowEachAsOneMore(t *testing.T) {
	d := computing
	d.FromZero = true
	ids := []uint64{7, network.MaxComputed - 1, 0}
	p, err := network.Prepare(&d, network.On(ids...))
	if err != nil {
		t.Fatal(err)
	}
	for q, id := range ids {
		if known := election.ID(id + 1); p.ID(q) != known || p.Real(q) != id || p.RealOf(known) != id || p.RealOf(0) != 0 {
			t.Errorf("%d at position %d is %d, which is %d", id, q, p.ID(q), p.RealOf(known))
		}
	}
	want := "cannot run computing: it uses identifier values, so 4294967295 is too large; at most 4294967294"
	if _, err := network.Prepare(&d, network.On(1, network.MaxComputed)); err == nil || err.Error() != want {
		t.Errorf("%v, want %s", err, want)
	}
}

func TestAnonymousProcessesHaveNoIdentifiers(t *testing.T) {
	p, err := network.Prepare(&nameless, network.On(5, 5, 5))
	if err != nil || !p.Anonymous() {
		t.Fatal(err)
	}
	for q := range 3 {
		if p.ID(q) != 0 || p.Real(q) != 0 || p.Name(q) != fmt.Sprintf("the process at position %d", q) || p.Local(q).ID != 0 || p.Local(q).N != 3 {
			t.Errorf("position %d: %+v", q, p.Local(q))
		}
	}
}

func TestWhereAllAreUnwillingOneMustStartByItself(t *testing.T) {
	i := network.On(30, 20, 10)
	i.Unwilling = []int{0, 1, 2}
	p, err := network.Prepare(&onComplete, i)
	if err != nil {
		t.Fatal(err)
	}
	if err := p.CheckStart([]int{1}, []int{2}, true); err != nil {
		t.Errorf("one starts: %v", err)
	}
	const want = "no process is willing to lead; at least one must be"
	if err := p.CheckStart(p.Initiators(nil), nil, false); err == nil || err.Error() != want {
		t.Errorf("none starts: %v, want %s", err, want)
	}
	if p, err = network.Prepare(&onComplete, network.On(2, 1)); err != nil {
		t.Fatal(err)
	}
	if err := p.CheckStart([]int{}, nil, false); err == nil || err.Error() != "no process starts; at least one must" {
		t.Errorf("none starts of two that are willing: %v", err)
	}
}

func TestUnwillingProcessesKnowThatTheyAre(t *testing.T) {
	i := network.On(40, 30, 20, 10)
	i.Unwilling = []int{3, 0, 3}
	for _, d := range []*election.Declaration{&onTree, &onComplete} {
		i := i
		if d.Topology == election.Tree {
			i.Edges = [][2]int{{0, 1}, {1, 2}, {1, 3}}
		}
		p, err := network.Prepare(d, i)
		if err != nil {
			t.Fatal(err)
		}
		for q, willing := range []bool{false, true, true, false} {
			if p.Local(q).Willing != willing {
				t.Errorf("%s: position %d is willing: %v", d.Name, q, !willing)
			}
		}
		if d.Topology == election.Tree && (p.Local(1).Degree != 3 || p.Local(3).Degree != 1 || len(p.Edges()) != 3) {
			t.Errorf("degrees %d and %d of %v", p.Local(1).Degree, p.Local(3).Degree, p.Edges())
		}
	}
	if !slices.Equal(i.Unwilling, []int{3, 0, 3}) {
		t.Error("what was given was sorted")
	}
}

func TestWhatDoesNotFitIsRefusedWithTheReason(t *testing.T) {
	with := func(ids []uint64, change func(*network.Setup)) network.Setup {
		i := network.On(ids...)
		change(&i)
		return i
	}
	three := []uint64{1, 2, 3}
	together := onComplete
	together.Starts = election.Together
	for _, test := range []struct {
		d    *election.Declaration
		i    network.Setup
		want string
	}{
		{&onRing, network.Setup{}, "cannot run ring: there are no processes; at least 1 is needed"},
		{&onRing, network.On(), "cannot run ring: there are no processes; at least 1 is needed"},
		{&onTree, network.On(), "cannot run tree: there are no processes; at least 1 is needed"},
		{
			&onRing,
			network.Setup{IDs: upTo(network.MaxRing + 1)},
			"cannot run ring: no such network: a ring has 1 to 134217728 processes, not 134217729",
		},
		{
			&onComplete,
			network.Setup{IDs: upTo(network.MaxComplete + 1)},
			"cannot run complete: no such network: a complete graph has 1 to 16384 processes, not 16385",
		},
		{&onTree, network.On(1, 2), "cannot run tree: no such network: a tree of 2 has 1 edges, not 0"},
		{&onRing, with(three, func(i *network.Setup) { i.Edges = [][2]int{{0, 1}} }), "cannot run ring: it runs on a ring, so it takes no edges"},
		{
			&onComplete, with(three, func(i *network.Setup) { i.Edges = [][2]int{} }),
			"cannot run complete: it runs on a complete graph, so it takes no edges",
		},
		{
			&strangers, with(three, func(i *network.Setup) { i.Ports = [][]int{{0, 1}} }),
			"cannot run strangers: no such network: 1 orders of ports for 3 processes",
		},
		{
			&strangers, with(three, func(i *network.Setup) { i.Edges = [][2]int{{0, 1}} }),
			"cannot run strangers: it runs on a complete graph, unknown neighbours (KT0), so it takes no edges",
		},
		{
			&strangers, with(three, func(i *network.Setup) { i.Flipped = make([]bool, 3) }),
			"cannot run strangers: it runs on a complete graph, unknown neighbours (KT0), so it takes no exchanged ports",
		},
		{&strangers, network.On(1, 2, 1), "cannot run strangers: identifier 1 occurs twice"},
		{
			&onComplete, with(three, func(i *network.Setup) { i.Ports = [][]int{{0, 1}, {0, 1}, {0, 1}} }),
			"cannot run complete: it runs on a complete graph, so it takes no orders of ports",
		},
		{
			&onTree, with(three, func(i *network.Setup) { i.IDs, i.Edges = election.List{7, 5, 9}, [][2]int{{1, 0}, {0, 1}} }),
			"cannot run tree: no such network: edge 7-5 is there twice; the 2 edges of a tree of 3 join all",
		},
		{&onRing, with(three, func(i *network.Setup) { i.Flipped = make([]bool, 3) }), "cannot run ring: it needs an oriented ring"},
		{
			&turned, with(three, func(i *network.Setup) { i.Flipped = make([]bool, 2) }),
			"cannot run turned: no such network: 2 orientations for a ring of 3",
		},
		{&turned, with(three, func(i *network.Setup) { i.Flipped = make([]bool, 3) }), ""},
		{
			&onComplete, with(three, func(i *network.Setup) { i.Flipped = make([]bool, 3) }),
			"cannot run complete: it runs on a complete graph, so it takes no exchanged ports",
		},
		{&onRing, with(three, func(i *network.Setup) { i.Unwilling = []int{1} }), "cannot run ring: it does not support unwilling processes"},
		{&onComplete, with(three, func(i *network.Setup) { i.Unwilling = []int{3} }), "cannot run complete: there is no position 3"},
		{&onComplete, with(three, func(i *network.Setup) { i.Unwilling = []int{1, -1} }), "cannot run complete: there is no position -1"},
		{
			&together, with(three, func(i *network.Setup) { i.Unwilling = []int{2, 1, 0, 1} }),
			"cannot run complete: no process is willing to lead; at least one must be",
		},
		{&onComplete, with(three, func(i *network.Setup) { i.Unwilling = []int{2, 1, 0, 1} }), ""},
		{&onComplete, with([]uint64{1, 2, 1}, func(i *network.Setup) { i.Duplicates = true }), "cannot run complete: identifier 1 occurs twice"},
		{&computing, network.On(9, 8, 9), "cannot run computing: identifier 9 occurs twice"},
		{&computing, network.On(1, 1<<32), "cannot run computing: it uses identifier values, so 4294967296 is too large; at most 4294967295"},
		{&computing, network.On(1, 0), "cannot run computing: it uses identifier values, where 0 means no process; identifiers start at 1"},
		{&onRing, network.On(math.MaxUint64, 0), ""},
		{
			&onRing, with(three, func(i *network.Setup) { i.Parameters = map[string]string{"delay": "0"} }),
			"cannot run ring: parameter delay is at least 1, not 0",
		},
		{
			&computing, with(three, func(i *network.Setup) { i.Parameters = map[string]string{"delay": "0"} }),
			"cannot run computing: computing has no parameters, so no delay",
		},
	} {
		_, err := network.Prepare(test.d, test.i)
		switch {
		case test.want == "" && err != nil:
			t.Error(err)
		case test.want != "" && (!errors.Is(err, network.ErrSetup) || err.Error() != test.want):
			t.Errorf("%v\nwant %s", err, test.want)
		}
	}
}
