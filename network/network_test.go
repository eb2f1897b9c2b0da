package network_test

import (
	"errors"
	"strings"
	"testing"

	"ringleader.example/ringleader/election"
	"ringleader.example/ringleader/internal/core/property"
	"ringleader.example/ringleader/network"
)

// wellConnected checks the promises of every network: links are numbered by process and port, and an answer on the
// port on which a message arrived arrives on the port on which that message left.
func wellConnected(t *property.T, w *network.Network) {
	next := uint32(0)
	for p := range w.Size() {
		if w.First(p) != next {
			t.Fatalf("the links of %d begin with %d, not %d", p, w.First(p), next)
		}
		for port := range election.Port(w.Degree(p)) {
			link := next + uint32(port)
			if w.Owner(link) != p {
				t.Fatalf("link %d is of %d, not %d", link, w.Owner(link), p)
			}
			to, arrival := w.End(link)
			if to < 0 || to >= w.Size() || int(arrival) >= w.Degree(to) {
				t.Fatalf("link %d leads to port %d of %d", link, arrival, to)
			}
			back := w.Back(to, arrival)
			if w.Owner(back) != to {
				t.Fatalf("%d answers on link %d, which is of %d", to, back, w.Owner(back))
			}
			if home, on := w.End(back); home != p || on != port {
				t.Fatalf("the answer to port %d of %d arrives on port %d of %d", port, p, on, home)
			}
		}
		next += uint32(w.Degree(p))
	}
	if w.Links() != int(next) {
		t.Fatalf("%d links, not %d", w.Links(), next)
	}
}

func must[T any](t *property.T, value T, err error) T {
	if err != nil {
		t.Fatal(err)
	}
	return value
}

func TestRingsAreRingsHoweverPortsAreCalled(t *testing.T) {
	property.Check(t, func(t *property.T) {
		n := property.IntRange(1, 12).Draw(t, "n")
		flipped := property.SliceOfN(property.Bool(), n, n).Draw(t, "flipped")
		if property.Bool().Draw(t, "oriented") {
			flipped = nil
		}
		w, err := network.NewRing(n, flipped)
		wellConnected(t, must(t, w, err))
		if w.Oriented() != (flipped == nil) {
			t.Fatalf("oriented: %v", w.Oriented())
		}
		for p := range n {
			clockwise, other := uint32(0), uint32(1)
			if flipped != nil && flipped[p] {
				clockwise, other = 1, 0
			}
			if w.Flipped(p) != (clockwise == 1) {
				t.Fatalf("%d flipped: %v", p, w.Flipped(p))
			}
			if to, _ := w.End(w.First(p) + clockwise); to != (p+1)%n {
				t.Fatalf("clockwise of %d is %d", p, to)
			}
			if to, _ := w.End(w.First(p) + other); to != (p+n-1)%n {
				t.Fatalf("counter-clockwise of %d is %d", p, to)
			}
			if to, arrival := w.End(w.First(p)); flipped == nil && (to != (p+1)%n || arrival != 1) {
				t.Fatalf("what leaves %d on port 0 arrives at %d on port %d", p, to, arrival)
			}
		}
	})
}

func TestAmongKnownMembersPortsAreMembers(t *testing.T) {
	property.Check(t, func(t *property.T) {
		n := property.IntRange(1, 20).Draw(t, "n")
		w, err := network.NewComplete(n)
		wellConnected(t, must(t, w, err))
		for p := range n {
			for member := election.ID(1); member <= election.ID(n); member++ {
				to, arrival := w.End(w.First(p) + uint32(election.To(member)))
				if to != int(member)-1 || election.From(arrival) != election.ID(p)+1 {
					t.Fatalf("a message of %d to member %d reaches %d on port %d", p+1, member, to+1, arrival)
				}
			}
		}
	})
}

func TestAmongUnknownNeighboursEachPortLeadsToAnotherProcess(t *testing.T) {
	property.Check(t, func(t *property.T) {
		n := property.IntRange(1, 12).Draw(t, "n")
		clockwise := property.Bool().Draw(t, "clockwise")
		var ports [][]int
		for range n {
			order := count(n - 1)
			if !clockwise {
				order = property.Permutation(order).Draw(t, "order")
			}
			ports = append(ports, order)
		}
		given := ports
		if clockwise && property.Bool().Draw(t, "by default") {
			given = nil
		}
		w, err := network.NewUnknownNeighbours(n, given)
		wellConnected(t, must(t, w, err))
		for p := range n {
			if w.Degree(p) != n-1 {
				t.Fatalf("%d has %d ports", p, w.Degree(p))
			}
			for port, distance := range ports[p] {
				if to, _ := w.End(w.First(p) + uint32(port)); to != (p+1+distance)%n {
					t.Fatalf("port %d of %d leads to %d", port, p, to)
				}
			}
		}
	})
}

// drawTree draws the edges of a tree, in any order and direction, and with any numbers on its processes.
func drawTree(t *property.T, n int) [][2]int {
	var edges [][2]int
	number := property.Permutation(count(n)).Draw(t, "numbers")
	for p := 1; p < n; p++ {
		e := [2]int{number[p], number[property.IntRange(0, p-1).Draw(t, "parent")]}
		if property.Bool().Draw(t, "turned") {
			e[0], e[1] = e[1], e[0]
		}
		edges = append(edges, e)
	}
	if n < 3 {
		return edges
	}
	return property.Permutation(edges).Draw(t, "edges")
}

func count(n int) (numbers []int) {
	for i := range n {
		numbers = append(numbers, i)
	}
	return numbers
}

func TestPortsOfATreeAreInTheOrderOfItsEdges(t *testing.T) {
	property.Check(t, func(t *property.T) {
		n := property.IntRange(1, 20).Draw(t, "n")
		edges := drawTree(t, n)
		w, err := network.NewTree(n, edges)
		wellConnected(t, must(t, w, err))
		used := make([]uint32, n)
		for _, e := range edges {
			for i, p := range e {
				if to, _ := w.End(w.First(p) + used[p]); to != e[1-i] {
					t.Fatalf("port %d of %d leads to %d, not %d", used[p], p, to, e[1-i])
				}
			}
			used[e[0]]++
			used[e[1]]++
		}
	})
}

func TestWhatIsNoTreeIsRefused(t *testing.T) {
	property.Check(t, func(t *property.T) {
		n := property.IntRange(3, 12).Draw(t, "n")
		edges := drawTree(t, n)
		i := property.IntRange(0, n-2).Draw(t, "edge")
		switch property.IntRange(0, 4).Draw(t, "fault") {
		case 0: // not connected, with one edge twice
			edges[i] = edges[(i+1)%(n-1)]
		case 1: // the same, reversed
			e := edges[(i+1)%(n-1)]
			edges[i] = [2]int{e[1], e[0]}
		case 2: // a loop
			edges[i][0] = edges[i][1]
		case 3: // an edge to nowhere
			edges[i][property.IntRange(0, 1).Draw(t, "end")] = property.SampledFrom([]int{-1, n, 1<<31 - 1}).Draw(t, "nowhere")
		case 4: // one edge too many, or one too few
			edges = append(edges, edges[i])[:property.SampledFrom([]int{n - 2, n}).Draw(t, "length")]
		}
		if _, err := network.NewTree(n, edges); !errors.Is(err, network.ErrNetwork) {
			t.Fatalf("%v: %v", edges, err)
		}
	})
}

func TestWhatIsNoNetworkIsRefusedWithTheReason(t *testing.T) {
	star := func(n int) (edges [][2]int) {
		for p := 1; p < n; p++ {
			edges = append(edges, [2]int{0, p})
		}
		return edges
	}
	for _, test := range []struct {
		make func() (*network.Network, error)
		want string
	}{
		{func() (*network.Network, error) { return network.NewRing(0, nil) }, "a ring has 1 to 134217728 processes, not 0"},
		{func() (*network.Network, error) { return network.NewRing(1<<27+1, nil) }, "a ring has 1 to 134217728 processes, not 134217729"},
		{func() (*network.Network, error) { return network.NewRing(1<<27, nil) }, ""},
		{func() (*network.Network, error) { return network.NewRing(3, make([]bool, 2)) }, "2 orientations for a ring of 3"},
		{func() (*network.Network, error) { return network.NewComplete(0) }, "a complete graph has 1 to 16384 processes, not 0"},
		{func() (*network.Network, error) { return network.NewComplete(1<<14 + 1) }, "a complete graph has 1 to 16384 processes, not 16385"},
		{func() (*network.Network, error) { return network.NewComplete(1 << 14) }, ""},
		{func() (*network.Network, error) { return network.NewUnknownNeighbours(0, nil) }, "a complete graph, unknown neighbours (KT0) has 1 to 16384 processes, not 0"},
		{func() (*network.Network, error) { return network.NewUnknownNeighbours(1<<14+1, nil) }, "a complete graph, unknown neighbours (KT0) has 1 to 16384 processes, not 16385"},
		{func() (*network.Network, error) { return network.NewUnknownNeighbours(1<<14, nil) }, ""},
		{func() (*network.Network, error) { return network.NewUnknownNeighbours(2, [][]int{{0}}) }, "1 orders of ports for 2 processes"},
		{func() (*network.Network, error) { return network.NewUnknownNeighbours(2, [][]int{{0}, {}}) }, "position 1 has 1 ports, not 0"},
		{func() (*network.Network, error) { return network.NewUnknownNeighbours(1, [][]int{{0}}) }, "position 0 has 0 ports, not 1"},
		{
			func() (*network.Network, error) {
				return network.NewUnknownNeighbours(3, [][]int{{0, 1}, {1, 1}, {1, 0}})
			},
			"the order of the ports of position 1 has each of 0 to 1 once, and not 1 as its entry 1",
		},
		{
			func() (*network.Network, error) {
				return network.NewUnknownNeighbours(3, [][]int{{0, 1}, {1, 0}, {-1, 0}})
			},
			"the order of the ports of position 2 has each of 0 to 1 once, and not -1 as its entry 0",
		},
		{
			func() (*network.Network, error) {
				return network.NewUnknownNeighbours(3, [][]int{{0, 2}, {1, 0}, {1, 0}})
			},
			"the order of the ports of position 0 has each of 0 to 1 once, and not 2 as its entry 1",
		},
		{func() (*network.Network, error) { return network.NewTree(-1, nil) }, "a tree has 1 to 134217728 processes, not -1"},
		{func() (*network.Network, error) { return network.NewTree(3, star(3)[:1]) }, "a tree of 3 has 2 edges, not 1"},
		{func() (*network.Network, error) { return network.NewTree(3, [][2]int{{0, 1}, {1, 3}}) }, "edge 1-3 leaves positions 0 to 2"},
		{
			func() (*network.Network, error) { return network.NewTree(3, [][2]int{{0, 1}, {1, 0}}) },
			"edge 1-0 is there twice; the 2 edges of a tree of 3 join all",
		},
		{
			func() (*network.Network, error) { return network.NewTree(3, [][2]int{{0, 1}, {2, 2}}) },
			"edge 2-2 joins a process to itself; the 2 edges of a tree of 3 join all",
		},
		{
			func() (*network.Network, error) { return network.NewTree(4, [][2]int{{0, 1}, {1, 2}, {2, 0}}) },
			"edge 2-0 closes a cycle; the 3 edges of a tree of 4 join all",
		},
		{func() (*network.Network, error) { return network.NewTree(65538, star(65538)) }, "65537 edges meet at process 0, more than 65536"},
	} {
		_, err := test.make()
		switch {
		case test.want == "" && err != nil:
			t.Error(err)
		case test.want != "" && (!errors.Is(err, network.ErrNetwork) || err.Error() != "no such network: "+test.want):
			t.Errorf("%v; want %s", err, test.want)
		}
	}

	w, err := network.NewTree(65537, star(65537)) // the largest star
	if err != nil {
		t.Fatal(err)
	}
	if p, port := w.End(w.First(65536)); p != 0 || port != 65535 {
		t.Errorf("its last leaf leads to port %d of %d", port, p)
	}
	if p, port := w.End(w.First(0) + 65535); p != 65536 || port != 0 {
		t.Errorf("its last port leads to port %d of %d", port, p)
	}
}

func TestTopologiesHaveNames(t *testing.T) {
	names := []string{election.Ring.String(), election.Complete.String(), election.Tree.String(), election.UnknownNeighbours.String()}
	if got := strings.Join(names, ", "); got != "ring, complete graph, tree, complete graph of strangers" {
		t.Error(got)
	}
}
