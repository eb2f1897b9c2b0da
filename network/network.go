// Package network holds the configuration that an algorithm runs on: the links of a ring, tree or complete graph, the
// identifiers by position, and parameters. Engines use it; an algorithm sees only its [election.Local].
//
// This package is v0: its API may change with any version.
package network

import (
	"errors"
	"fmt"
	"math"
	"slices"

	"ringleader.example/ringleader/election"
)

// Network maps links to their ends. Processes are positions 0 .. n-1, clockwise on a ring. The directed links that a
// process sends on have consecutive numbers: First(p) + port.
type Network struct {
	Topology election.Topology
	n        int
	flipped  []bool   // rings: the processes with exchanged ports; nil if there are none
	first    []uint32 // trees: the first link of each process, and one past the last
	peers    []peer   // trees: where each link leads; unknown neighbours: likewise, nil if port k leads to the (k+1)st clockwise
}

type peer struct {
	process uint32
	port    election.Port
}

// The limits of a network.
const (
	MaxRing              = 1 << 27
	MaxComplete          = 1 << 14
	MaxTree              = 1 << 27
	MaxUnknownNeighbours = 1 << 14

	maxDegree = math.MaxUint16 + 1 // the number of values of Port
)

// ErrNetwork reports that a network cannot exist.
var ErrNetwork = errors.New("no such network")

// Check returns an [ErrNetwork] if no network of that shape has n processes.
func Check(t election.Topology, n int) error {
	most := [...]int{MaxRing, MaxComplete, MaxTree, MaxUnknownNeighbours}[t]
	if n < 1 || n > most {
		return fmt.Errorf("%w: a %s has 1 to %d processes, not %d", ErrNetwork, t.Phrase(0), most, n)
	}
	return nil
}

// NewRing returns a ring of n processes; flipped marks those with exchanged ports (nil: none, an oriented ring).
func NewRing(n int, flipped []bool) (*Network, error) {
	if err := Check(election.Ring, n); err != nil {
		return nil, err
	}
	if flipped != nil && len(flipped) != n {
		return nil, fmt.Errorf("%w: %d orientations for a ring of %d", ErrNetwork, len(flipped), n)
	}
	return &Network{Topology: election.Ring, n: n, flipped: flipped}, nil
}

// NewComplete returns a complete graph of n known members. The process at position p is member p+1.
func NewComplete(n int) (*Network, error) {
	if err := Check(election.Complete, n); err != nil {
		return nil, err
	}
	return &Network{Topology: election.Complete, n: n}, nil
}

// NewTree returns a tree of n processes with these n-1 edges between positions.
func NewTree(n int, edges [][2]int) (*Network, error) {
	return newTree(n, edges, func(position int) uint64 { return uint64(position) })
}

// newTree is NewTree with names of processes for errors.
func newTree(n int, edges [][2]int, name func(position int) uint64) (*Network, error) {
	if err := Check(election.Tree, n); err != nil {
		return nil, err
	}
	if len(edges) != n-1 {
		return nil, fmt.Errorf("%w: a tree of %d has %d edges, not %d", ErrNetwork, n, n-1, len(edges))
	}
	w := &Network{Topology: election.Tree, n: n, first: make([]uint32, n+1), peers: make([]peer, 2*len(edges))}
	root := make([]int, n) // union-find: n-1 edges that never close a cycle make a tree
	for p := range root {
		root[p] = p
	}
	find := func(p int) int {
		for root[p] != p {
			root[p] = root[root[p]]
			p = root[p]
		}
		return p
	}
	for k, e := range edges {
		if e[0] < 0 || e[0] >= n || e[1] < 0 || e[1] >= n {
			return nil, fmt.Errorf("%w: edge %d-%d leaves positions 0 to %d", ErrNetwork, e[0], e[1], n-1)
		}
		a, b := find(e[0]), find(e[1])
		if a == b {
			how := "closes a cycle"
			if e[0] == e[1] {
				how = "joins a process to itself"
			} else if before := edges[:k]; slices.Contains(before, e) || slices.Contains(before, [2]int{e[1], e[0]}) {
				how = "is there twice"
			}
			return nil, fmt.Errorf("%w: edge %d-%d %s; the %d edges of a tree of %d join all", ErrNetwork, name(e[0]), name(e[1]), how, n-1, n)
		}
		root[a] = b
		w.first[e[0]+1]++
		w.first[e[1]+1]++
	}
	for p := range n {
		if degree := w.first[p+1]; degree > maxDegree {
			return nil, fmt.Errorf("%w: %d edges meet at process %d, more than %d", ErrNetwork, degree, name(p), maxDegree)
		}
		w.first[p+1] += w.first[p]
	}
	used := make([]election.Port, n)
	for _, e := range edges {
		a, b := e[0], e[1]
		w.peers[w.first[a]+uint32(used[a])] = peer{uint32(b), used[b]}
		w.peers[w.first[b]+uint32(used[b])] = peer{uint32(a), used[a]}
		used[a]++
		used[b]++
	}
	return w, nil
}

// NewUnknownNeighbours returns a complete graph of n processes that do not know the process behind a port (KT0). Port
// k of the process at position p leads to position p+1+ports[p][k] modulo n; without ports, to p+1+k.
func NewUnknownNeighbours(n int, ports [][]int) (*Network, error) {
	if err := Check(election.UnknownNeighbours, n); err != nil {
		return nil, err
	}
	w := &Network{Topology: election.UnknownNeighbours, n: n}
	if ports == nil {
		return w, nil
	}
	if len(ports) != n {
		return nil, fmt.Errorf("%w: %d orders of ports for %d processes", ErrNetwork, len(ports), n)
	}
	w.peers = make([]peer, w.Links())
	leads := make([]election.Port, w.Links()) // the inverse of each order: the port that leads to the process at a distance
	for p, order := range ports {
		if len(order) != n-1 {
			return nil, fmt.Errorf("%w: position %d has %d ports, not %d", ErrNetwork, p, n-1, len(order))
		}
		found := make([]bool, n-1)
		for k, distance := range order {
			if distance < 0 || distance > n-2 || found[distance] {
				return nil, fmt.Errorf("%w: the order of the ports of position %d has each of 0 to %d once, and not %d as its entry %d",
					ErrNetwork, p, n-2, distance, k)
			}
			found[distance] = true
			leads[int(w.First(p))+distance] = election.Port(k)
		}
	}
	for p, order := range ports {
		for k, distance := range order {
			q := (p + 1 + distance) % n
			w.peers[int(w.First(p))+k] = peer{uint32(q), leads[int(w.First(q))+n-2-distance]}
		}
	}
	return w, nil
}

// Size returns the number of processes.
func (w *Network) Size() int { return w.n }

// Links returns the number of directed links.
func (w *Network) Links() int {
	switch w.Topology {
	case election.Ring:
		return 2 * w.n
	case election.Complete:
		return w.n * w.n
	case election.UnknownNeighbours:
		return w.n * (w.n - 1)
	}
	return len(w.peers)
}

// Degree returns the number of ports of the process at position p.
func (w *Network) Degree(p int) int {
	switch w.Topology {
	case election.Ring:
		return 2
	case election.Complete:
		return w.n
	case election.UnknownNeighbours:
		return w.n - 1
	}
	return int(w.first[p+1] - w.first[p])
}

// First returns the first of the links that the process at position p sends on.
func (w *Network) First(p int) uint32 {
	switch w.Topology {
	case election.Ring:
		return uint32(2 * p)
	case election.Complete:
		return uint32(w.n * p)
	case election.UnknownNeighbours:
		return uint32((w.n - 1) * p)
	}
	return w.first[p]
}

// Oriented reports whether all processes of a ring agree on the port that leads clockwise.
func (w *Network) Oriented() bool { return w.flipped == nil }

// Flipped reports whether the process at position p of a ring has its clockwise link on port 1.
func (w *Network) Flipped(p int) bool { return w.flipped != nil && w.flipped[p] }

// End returns the process that a link leads to, and the port on which its messages arrive.
func (w *Network) End(link uint32) (process int, port election.Port) {
	switch w.Topology {
	case election.Ring:
		from, port := int(link>>1), election.Port(link&1)
		if w.Flipped(from) {
			port ^= 1
		}
		to := from + 1
		if port == 1 {
			to = from - 1 + w.n
		}
		if to >= w.n {
			to -= w.n
		}
		port ^= 1
		if w.Flipped(to) {
			port ^= 1
		}
		return to, port
	case election.Complete:
		n := uint32(w.n)
		return int(link % n), election.Port(link / n)
	case election.UnknownNeighbours:
		if w.peers == nil {
			ports := w.n - 1
			from, distance := int(link)/ports, int(link)%ports
			return (from + 1 + distance) % w.n, election.Port(ports - 1 - distance)
		}
	}
	e := w.peers[link]
	return int(e.process), e.port
}

// Back returns the link on which the process at position p answers a message that arrived on port.
func (w *Network) Back(p int, port election.Port) uint32 { return w.First(p) + uint32(port) }

// Owner returns the process that sends on a link.
func (w *Network) Owner(link uint32) int {
	switch w.Topology {
	case election.Ring:
		return int(link / 2)
	case election.Complete:
		return int(link) / w.n
	case election.UnknownNeighbours:
		return int(link) / (w.n - 1)
	}
	// The last process whose first link is not after this one, and that has any.
	p, _ := slices.BinarySearchFunc(w.first, link, func(first, link uint32) int {
		if first <= link {
			return -1
		}
		return 1
	})
	return p - 1
}
