package verify

import (
	"ringleader.example/ringleader/election"
	"ringleader.example/ringleader/internal/core/process"
	"ringleader.example/ringleader/network"
	"ringleader.example/ringleader/verify/internal/model"
	"ringleader.example/ringleader/verify/internal/reductions"
)

// mirrored reports whether orders and orientations come in pairs of mirror images.
func mirrored(d *election.Declaration, o *Options) bool {
	return o.Orientations && o.Size > 2 && turns(d, o)
}

// mirror returns the mirror image of a ring: the process at position p is then at the last position less p.
func mirror(setup network.Setup) network.Setup {
	n := setup.IDs.Len()
	image := setup
	ids, flipped := make(election.List, n), make([]bool, n)
	for p := range n {
		ids[p] = setup.IDs.At(n - 1 - p)
		flipped[p] = setup.Flipped == nil || !setup.Flipped[n-1-p]
	}
	image.IDs, image.Flipped = ids, flipped
	return image
}

// turned returns the order in which the process at position p is at position p - 1.
func turned(setup network.Setup) network.Setup {
	n := setup.IDs.Len()
	image := setup
	ids := make(election.List, n)
	for p := range n {
		ids[p] = setup.IDs.At((p + 1) % n)
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
	setup := firstSetup(d, o)
	a, err := model.NewChecker(program, o.model(), setup)
	if err != nil {
		return false, err
	}
	image, to := turned(setup), func(p int) int { return (p + a.N - 1) % a.N }
	if mirrors {
		image, to = mirror(setup), func(p int) int { return a.N - 1 - p }
	}
	b, err := model.NewChecker(program, o.model(), image)
	if err != nil {
		return false, err
	}
	o.alike = reductions.Isomorphic(a, b, to)
	return o.alike, nil
}

// reflected reports whether the mirror image of an order comes earlier.
func reflected(ids election.Arrangement) bool { return ids.At(1) > ids.At(ids.Len()-1) }
