package verify

import (
	"bytes"
	"slices"

	"ringleader.example/ringleader/election"
)

// Symmetry: of orders that are alike, one is explored, and so it is with configurations of one order. The page on it in the package
// comment has the theorem.

// unalike returns the premise of symmetry among the configurations of one order that does not hold, or "".
func unalike(o *modelOptions, d *election.Declaration) string {
	switch {
	case d.Timing != election.Asynchronous:
		return "time passes"
	case d.Task != election.Once:
		return "decisions are not for ever"
	case o.Cuts > 0:
		return "cuts are numbered"
	case o.Wardens:
		return "proofs of death name processes"
	}
	return ""
}

// isomorphic reports whether processes and links of a network equal those of another one at other positions. On a ring or a complete
// graph all have equally many ports, and the neighbour at a port determines to which of its ports the link leads.
func isomorphic(a, b *checker, to func(int) int) bool {
	for p := range a.n {
		q := to(p)
		if a.network.ID(p) != b.network.ID(q) || !bytes.Equal(a.values.AppendState(nil, a.born[p]), b.values.AppendState(nil, b.born[q])) ||
			a.network.Willing(p) != b.network.Willing(q) {
			return false
		}
		for port := range len(a.into[p]) {
			peer, _ := a.network.Network.End(a.network.Network.First(p) + uint32(port))
			image, _ := b.network.Network.End(b.network.Network.First(q) + uint32(port))
			if to(peer) != image {
				return false
			}
		}
	}
	return true
}

// symmetry tells configurations of a ring apart, but not those that are alike.
type symmetry struct {
	*checker
	alike [][]int       // see symmetries
	bares []fingerprint // by number of a process: without its position
}

// symmetries returns the rotations and reflections of a ring that change nothing but positions: for each, where the
// contents of each place come from. Nil if there are none.
func symmetries(c *checker) (all [][]int) {
	if c.d.Topology != election.Ring {
		return nil
	}
	for r := range c.n {
		for _, to := range []func(int) int{
			func(p int) int { return (p + r) % c.n },
			func(p int) int { return (r + c.n - p) % c.n },
		} {
			if places := placesBy(c, to); isomorphic(c, c, to) && !slices.ContainsFunc(all, func(same []int) bool { return slices.Equal(same, places) }) {
				all = append(all, places) // of two processes, a reflection is a rotation
			}
		}
	}
	if len(all) == 1 { // that which changes nothing
		return nil
	}
	return all
}

// placesBy returns for each place where its contents come from if processes change positions.
func placesBy(c *checker, to func(int) int) []int {
	places := make([]int, len(c.base))
	for p := range c.n {
		places[to(p)] = p
		for port := range len(c.into[p]) {
			from, image := c.places[int(c.network.Network.First(p))+port], c.places[int(c.network.Network.First(to(p)))+port]
			if from >= 0 {
				places[image] = from
			}
		}
	}
	places[len(places)-1] = len(places) - 1
	return places
}

// orbit returns a fingerprint that is the same for all configurations that are alike.
func (c *symmetry) orbit(conf configuration) (least fingerprint) {
	for i, from := range c.alike {
		var f fingerprint
		for place, source := range from {
			content := c.queues.prints
			switch {
			case place < c.n:
				f = f.plus(c.keys[place].mix(c.bare(conf[source])))
				continue
			case place == len(from)-1:
				content = c.globals.prints
			}
			f = f.plus(c.keys[place].mix(content[conf[source]]))
		}
		if i == 0 || f.lo < least.lo || f.lo == least.lo && f.hi < least.hi {
			least = f
		}
	}
	return least
}

// bare returns the fingerprint of a process without its position.
func (c *symmetry) bare(number uint32) fingerprint {
	for len(c.bares) <= int(number) {
		p := c.processes.values[len(c.bares)]
		p.Position = 0
		c.bares = append(c.bares, c.processes.prints[c.processes.number(&p, election.Ticks{})])
	}
	return c.bares[number]
}
