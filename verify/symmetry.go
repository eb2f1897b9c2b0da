package verify

import (
	"bytes"
	"slices"

	"ringleader.example/ringleader/election"
	"ringleader.example/ringleader/internal/core/process"
	"ringleader.example/ringleader/network"
)

// Symmetry: of orders that are alike, one is explored, and so it is with configurations of one order. The page on it in the package
// comment has the theorem.

// unalike returns the premise of symmetry among the configurations of one order that does not hold, or "".
func (o *Options) unalike(d *election.Declaration) string {
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

// mirrored reports whether orders and orientations come in pairs of mirror images.
func mirrored(d *election.Declaration, o *Options) bool {
	return o.Orientations && o.Size > 2 && turns(d, o)
}

// mirror returns the mirror image of a ring: the process at position p is then at the last position less p.
func mirror(instance network.Setup) network.Setup {
	n := instance.IDs.Len()
	image := instance
	ids, flipped := make(election.List, n), make([]bool, n)
	for p := range n {
		ids[p] = instance.IDs.At(n - 1 - p)
		flipped[p] = instance.Flipped == nil || !instance.Flipped[n-1-p]
	}
	image.IDs, image.Flipped = ids, flipped
	return image
}

// turned returns the order in which the process at position p is at position p - 1.
func turned(instance network.Setup) network.Setup {
	n := instance.IDs.Len()
	image := instance
	ids := make(election.List, n)
	for p := range n {
		ids[p] = instance.IDs.At((p + 1) % n)
	}
	image.IDs = ids
	return image
}

// pairs reports whether orders of the exploration are alike, besides rotations of a ring. Two networks are isomorphic
// if links and new processes are the same; all that follows is then as well, since steps are pure.
func (o *Options) pairs(program *process.Program) (bool, error) {
	d := program.Declaration
	o.alike = true
	orders := d.Identifiers != election.Anonymous
	mirrors := orders && mirrored(d, o)
	rotates := orders && o.Size > 1 && d.Topology == election.UnknownNeighbours && turns(d, o)
	if o.alike = mirrors || rotates; !o.alike {
		return false, nil
	}
	instance := firstInstance(d, o)
	a, err := newChecker(program, o, instance)
	if err != nil {
		return false, err
	}
	image, to := turned(instance), func(p int) int { return (p + a.n - 1) % a.n }
	if mirrors {
		image, to = mirror(instance), func(p int) int { return a.n - 1 - p }
	}
	b, err := newChecker(program, o, image)
	if err != nil {
		return false, err
	}
	o.alike = isomorphic(a, b, to)
	return o.alike, nil
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

// symmetries returns the rotations and reflections of a ring that change nothing but positions: for each, where the
// contents of each place come from. Nil if there are none.
func (c *checker) symmetries() (all [][]int) {
	if c.d.Topology != election.Ring {
		return nil
	}
	for r := range c.n {
		for _, to := range []func(int) int{
			func(p int) int { return (p + r) % c.n },
			func(p int) int { return (r + c.n - p) % c.n },
		} {
			if places := c.placesBy(to); isomorphic(c, c, to) && !slices.ContainsFunc(all, func(same []int) bool { return slices.Equal(same, places) }) {
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
func (c *checker) placesBy(to func(int) int) []int {
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
func (c *checker) orbit(conf configuration) (least fingerprint) {
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
func (c *checker) bare(number uint32) fingerprint {
	for len(c.bares) <= int(number) {
		p := c.processes.values[len(c.bares)]
		p.Position = 0
		c.bares = append(c.bares, c.processes.prints[c.processes.number(&p, election.Ticks{})])
	}
	return c.bares[number]
}

// identity returns the fingerprint by which a configuration is known.
func (c *checker) identity(conf configuration) fingerprint {
	if c.alike != nil {
		return c.orbit(conf)
	}
	return c.print(conf)
}

// reflected reports whether the mirror image of an order comes earlier.
func reflected(ids election.Arrangement) bool { return ids.At(1) > ids.At(ids.Len()-1) }
