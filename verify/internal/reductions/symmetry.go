package reductions

import (
	"bytes"
	"slices"

	"ringleader.example/ringleader/election"
	"ringleader.example/ringleader/verify/internal/model"
)

// Symmetry: of orders that are alike, one is explored, and so it is with configurations of one order. The page on it in the package
// comment has the theorem.

// Unalike returns the premise of symmetry among the configurations of one order that does not hold, or "".
func Unalike(o *model.Options, d *election.Declaration) string {
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

// Isomorphic reports whether processes and links of a network equal those of another one at other positions. On a ring or a complete
// graph all have equally many ports, and the neighbour at a port determines to which of its ports the link leads.
func Isomorphic(a, b *model.Checker, to func(int) int) bool {
	for p := range a.N {
		q := to(p)
		if a.Network.ID(p) != b.Network.ID(q) || !bytes.Equal(a.Values.AppendState(nil, a.Born[p]), b.Values.AppendState(nil, b.Born[q])) ||
			a.Network.Willing(p) != b.Network.Willing(q) {
			return false
		}
		for port := range len(a.Into[p]) {
			peer, _ := a.Network.Network.End(a.Network.Network.First(p) + uint32(port))
			image, _ := b.Network.Network.End(b.Network.Network.First(q) + uint32(port))
			if to(peer) != image {
				return false
			}
		}
	}
	return true
}

// Symmetry tells configurations of a ring apart, but not those that are alike.
type Symmetry struct {
	*model.Checker
	Alike [][]int             // see symmetries
	bares []model.Fingerprint // by number of a process: without its position
}

// Symmetries returns the rotations and reflections of a ring that change nothing but positions: for each, where the
// contents of each place come from. Nil if there are none.
func Symmetries(c *model.Checker) (all [][]int) {
	if c.Declaration.Topology != election.Ring {
		return nil
	}
	for r := range c.N {
		for _, to := range []func(int) int{
			func(p int) int { return (p + r) % c.N },
			func(p int) int { return (r + c.N - p) % c.N },
		} {
			if places := placesBy(c, to); Isomorphic(c, c, to) && !slices.ContainsFunc(all, func(same []int) bool { return slices.Equal(same, places) }) {
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
func placesBy(c *model.Checker, to func(int) int) []int {
	places := make([]int, len(c.Base))
	for p := range c.N {
		places[to(p)] = p
		for port := range len(c.Into[p]) {
			from, image := c.Places[int(c.Network.Network.First(p))+port], c.Places[int(c.Network.Network.First(to(p)))+port]
			if from >= 0 {
				places[image] = from
			}
		}
	}
	places[len(places)-1] = len(places) - 1
	return places
}

// Orbit returns a fingerprint that is the same for all configurations that are alike.
func (c *Symmetry) Orbit(conf model.Configuration) (least model.Fingerprint) {
	for i, from := range c.Alike {
		var f model.Fingerprint
		for place, source := range from {
			content := c.Queues.Prints
			switch {
			case place < c.N:
				f = f.Plus(c.Keys[place].Mix(c.bare(conf[source])))
				continue
			case place == len(from)-1:
				content = c.Globals.Prints
			}
			f = f.Plus(c.Keys[place].Mix(content[conf[source]]))
		}
		if i == 0 || f.Lo < least.Lo || f.Lo == least.Lo && f.Hi < least.Hi {
			least = f
		}
	}
	return least
}

// bare returns the fingerprint of a process without its position.
func (c *Symmetry) bare(number uint32) model.Fingerprint {
	for len(c.bares) <= int(number) {
		p := c.Processes.Values[len(c.bares)]
		p.Position = 0
		c.bares = append(c.bares, c.Processes.Prints[c.Processes.Number(&p, election.Ticks{})])
	}
	return c.bares[number]
}
