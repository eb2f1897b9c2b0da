package verify

import (
	"iter"
	"math"
	"slices"

	"ringleader.example/ringleader/election"
	"ringleader.example/ringleader/network"
)

// instances yields all instances to explore: orders of identifiers that differ, times orientations.
func instances(d *election.Declaration, o *Options) iter.Seq[network.Setup] {
	return func(yield func(network.Setup) bool) {
		for ids := range orders(d, o) {
			if o.alike && mirrored(d, o) && reflected(ids) {
				continue
			}
			for flipped := range orientations(o) {
				instance := o.Instance
				instance.IDs, instance.Flipped = ids, flipped
				if !yield(instance) {
					return
				}
			}
		}
	}
}

// orders yields the orders of 1 … Size, or the given one. A rotation of a ring changes nothing, so the largest stays
// at its place. Among known members, or without identifiers, there is one order.
func orders(d *election.Declaration, o *Options) iter.Seq[election.Arrangement] {
	return func(yield func(election.Arrangement) bool) {
		if o.Size == 0 || d.Topology == election.Complete || d.Identifiers == election.Anonymous {
			yield(o.Instance.IDs)
			return
		}
		ids := upTo(o.Size)
		if turns(d, o) {
			copy(ids[1:], ids)
			ids[0] = uint64(o.Size) // no later permutation moves it
		}
		for yield(slices.Clone(ids)) && permute(ids) {
		}
	}
}

// firstInstance returns the first instance.
func firstInstance(d *election.Declaration, o *Options) (instance network.Setup) {
	for instance = range instances(d, o) {
		break
	}
	return instance
}

// turns reports whether one of each order's rotations is enough.
func turns(d *election.Declaration, o *Options) bool {
	ring := d.Topology == election.Ring || o.alike && d.Topology == election.UnknownNeighbours && o.Instance.Ports == nil
	return ring && !o.Rotations && o.Instance.Flipped == nil && o.Instance.Votes == nil && len(o.Instance.Unwilling)+len(o.Initiators) == 0
}

// countInstances returns how many instances there are, or the largest number.
func countInstances(d *election.Declaration, o *Options) int {
	count, n := 1, 1
	if o.Size > 0 && d.Topology != election.Complete && d.Identifiers != election.Anonymous {
		if n = o.Size; turns(d, o) {
			n--
		}
	}
	times := func(by int) {
		if count > math.MaxInt/by {
			count = math.MaxInt
		} else {
			count *= by
		}
	}
	for k := 2; k <= n; k++ {
		if k > 2 || !o.alike || !mirrored(d, o) { // one of two mirror images
			times(k)
		}
	}
	if o.Orientations {
		times(1 << o.Instance.IDs.Len())
	}
	return count
}

// permute makes the next permutation in lexicographic order; false if it was the last.
func permute(list election.List) bool {
	i := len(list) - 2
	for i >= 0 && list[i] > list[i+1] {
		i--
	}
	if i < 0 {
		return false
	}
	j := len(list) - 1
	for list[j] < list[i] {
		j--
	}
	list[i], list[j] = list[j], list[i]
	slices.Reverse(list[i+1:])
	return true
}

func orientations(o *Options) iter.Seq[[]bool] {
	return func(yield func([]bool) bool) {
		if !o.Orientations {
			yield(o.Instance.Flipped)
			return
		}
		n := o.Instance.IDs.Len()
		for set := range 1 << n {
			flipped := make([]bool, n)
			for p := range flipped {
				flipped[p] = set>>p&1 == 1
			}
			if !yield(flipped) {
				return
			}
		}
	}
}
