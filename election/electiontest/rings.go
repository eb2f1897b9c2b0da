package electiontest

import (
	"iter"

	"ringleader.example/ringleader/election"
	"ringleader.example/ringleader/simulate"
)

// Rings yields every order of 1 … n that differs on a ring: n stays at position 0. The slice is used again.
func Rings(n int) iter.Seq[[]uint64] {
	return func(yield func([]uint64) bool) {
		ids := make([]uint64, n)
		for p := range ids {
			ids[p] = uint64(n - p)
		}
		var permute func(k int) bool
		permute = func(k int) bool {
			if k >= n {
				return yield(ids)
			}
			for q := k; q < n; q++ {
				ids[k], ids[q] = ids[q], ids[k]
				ok := permute(k + 1)
				ids[k], ids[q] = ids[q], ids[k]
				if !ok {
					return false
				}
			}
			return true
		}
		permute(1)
	}
}

// Schedules yields every way to run an algorithm under which its counts should be the same, each with so
// many seeds: all start first, unless the declaration says that even this does not matter.
func Schedules(d *election.Declaration, seeds int) iter.Seq[simulate.Options] {
	return func(yield func(simulate.Options) bool) {
		for _, o := range timings(d) {
			if o.AnyTime && d.Counts != election.CountsFixed {
				continue
			}
			for o.Seed = range uint64(seeds) {
				if !yield(o) {
					return
				}
			}
		}
	}
}
