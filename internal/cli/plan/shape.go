package plan

import (
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"ringleader.example/ringleader/catalogue"
	"ringleader.example/ringleader/election"
	"ringleader.example/ringleader/internal/cli/option"
	"ringleader.example/ringleader/internal/core/amount"
	"ringleader.example/ringleader/internal/core/random"
	"ringleader.example/ringleader/network"
)

// shape determines the network, where an algorithm leaves a choice.
type shape struct {
	topology    string
	edges       string
	orientation string
	ports       string
}

// The default orders of ports.
const (
	agreed    = "agreed"
	clockwise = "clockwise"
)

// trees are the trees that can be named: each process but the first is linked to an earlier one.
var trees = []string{"path", "star", "binary", "random-tree"}

func (s *shape) flags(command *cobra.Command) {
	f := command.Flags()
	f.StringVar(&s.topology, "topology", "", "ring, complete, or a tree: "+strings.Join(trees, ", ")+" (default: as the algorithm needs; path)")
	f.StringVar(&s.edges, "edges", "", "the edges of a tree, between identifiers: 1-2,2-3")
	f.StringVar(&s.orientation, "orientation", agreed, "port numbers on a ring: agreed, random, or 0 and 1 by position (1: exchanged)")
	f.StringVar(&s.ports, "ports", clockwise, "with unknown neighbours (KT0), the neighbours at ports 0, 1, …: clockwise (from the next on) or random")
	option.Offer(command, "ports", clockwise, "random")
	option.Offer(command, "topology", append([]string{"ring", "complete"}, trees...)...)
	option.Offer(command, "orientation", agreed, "random")
}

// Form is the form of an algorithm for the network that was named, if it has several.
func (s *shape) Form(e *catalogue.Entry) *catalogue.Entry {
	switch {
	case s.topology == "ring":
		return e.On(election.Ring)
	case s.topology == "complete":
		return e.On(election.Complete)
	case s.edges != "" || slices.Contains(trees, s.topology):
		return e.On(election.Tree)
	}
	return e
}

// fit gives a setup its shape.
func (s *shape) fit(e *catalogue.Entry, i *network.Setup, seed uint64) (err error) {
	if s.topology != "" {
		if _, err := Word("topology", s.topology, append([]string{"ring", "complete"}, trees...)...); err != nil {
			return err
		}
		made := map[election.Topology][]string{election.Ring: {"ring"}, election.Tree: trees}[e.Topology]
		if made == nil {
			made = []string{"complete"}
		}
		if !slices.Contains(made, s.topology) {
			return fmt.Errorf("%s runs on a %s, so --topology is %s, not %q", e.Name, e.Topology.Phrase(0), strings.Join(made, ", "), s.topology)
		}
	}
	for _, f := range []struct {
		flag  string
		given bool
		fits  func(*catalogue.Entry) bool
	}{
		{"edges", s.edges != "", func(e *catalogue.Entry) bool { return e.Topology == election.Tree }},
		{"orientation", s.orientation != agreed, func(e *catalogue.Entry) bool { return e.Unoriented }},
		{"ports", s.ports != clockwise, func(e *catalogue.Entry) bool { return e.Topology == election.UnknownNeighbours }},
	} {
		if f.given && !f.fits(e) {
			on := "a " + e.Topology.Phrase(0)
			if e.Topology == election.Ring && !e.Unoriented {
				on = "an oriented ring"
			}
			return fmt.Errorf("%s runs on %s; --%s is for %s", e.Name, on, f.flag, strings.Join(e.List().Where(f.fits), ", "))
		}
	}
	switch {
	case s.edges != "" && s.topology != "":
		return errors.New("--edges defines the tree; leave out --topology")
	case s.edges != "":
		i.Edges, err = edges(*i, s.edges)
	case e.Topology == election.Tree:
		i.Edges = s.tree(i.IDs.Len(), random.New(seed, random.Network))
	}
	if err == nil {
		i.Flipped, err = s.flipped(i.IDs.Len(), random.New(seed, random.Network))
	}
	if err != nil || s.ports == clockwise {
		return err
	}
	if _, err := Word("ports", s.ports, clockwise, "random"); err != nil {
		return err
	}
	i.Ports = shuffled(i.IDs.Len(), random.New(seed, random.Network))
	return nil
}

// shuffled returns an order of ports for each of n processes with unknown neighbours (KT0).
func shuffled(n int, source *random.Source) [][]int {
	ports := make([][]int, n)
	for p := range ports {
		ports[p] = make([]int, n-1)
		for k := range ports[p] {
			other := int(source.Below(uint64(k + 1)))
			ports[p][k], ports[p][other] = ports[p][other], k
		}
	}
	return ports
}

// tree is the named tree.
func (s *shape) tree(n int, source *random.Source) [][2]int {
	made := make([][2]int, 0, n-1)
	for p := 1; p < n; p++ {
		on := p - 1 // path
		switch s.topology {
		case "star":
			on = 0
		case "binary":
			on = (p - 1) / 2
		case "random-tree":
			on = int(source.Below(uint64(p)))
		}
		made = append(made, [2]int{on, p})
	}
	return made
}

// edges reads edges between identifiers.
func edges(i network.Setup, list string) ([][2]int, error) {
	made := [][2]int{}
	for text := range strings.SplitSeq(list, ",") {
		a, b, found := strings.Cut(text, "-")
		if !found {
			return nil, fmt.Errorf("--edges: %.40q is not ID-ID, such as 1-2", text)
		}
		ends, err := positions(i, a+","+b)
		if err != nil {
			return nil, fmt.Errorf("--edges: %w", err)
		}
		if len(ends) > 2 {
			return nil, fmt.Errorf("--edges: %s is ambiguous, since identifiers repeat; --topology builds trees by position", text)
		}
		made = append(made, [2]int{ends[0], ends[1]})
	}
	return made, nil
}

// flipped reads the processes with exchanged ports.
func (s *shape) flipped(n int, source *random.Source) ([]bool, error) {
	flipped := make([]bool, n)
	switch {
	case s.orientation == agreed:
		return nil, nil
	case s.orientation == "random":
		for p := range flipped {
			flipped[p] = source.Below(2) == 1
		}
	case len(s.orientation) != n || strings.Trim(s.orientation, "01") != "":
		return nil, fmt.Errorf("--orientation is agreed, random, or %s 0 and 1, not %q", amount.Of(n, "digit"), s.orientation)
	default:
		for p := range flipped {
			flipped[p] = s.orientation[p] == '1'
		}
	}
	return flipped, nil
}
