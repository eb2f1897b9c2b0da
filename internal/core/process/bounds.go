package process

import (
	"slices"

	"ringleader.example/ringleader/election"
)

// bounded returns a declaration whose bounds name themselves if they panic, also those that Adjust sets.
func bounded(d *election.Declaration) *election.Declaration {
	named := *d
	named.Bounds = slices.Clone(d.Bounds)
	for i := range named.Bounds {
		b := &named.Bounds[i]
		name := "the bound " + b.Formula + " of " + b.Of + " messages"
		if value := b.Value; value != nil {
			b.Value = func(n uint64) uint64 {
				defer naming(name)
				return value(n)
			}
		}
		if mean := b.Mean; mean != nil {
			b.Mean = func(n uint64) float64 {
				defer naming(name)
				return mean(n)
			}
		}
	}
	if adjust := d.Adjust; adjust != nil {
		named.Adjust = func(d *election.Declaration, p election.Parameters) {
			adjust(d, p)
			*d = *bounded(d)
		}
	}
	return &named
}

// naming turns a panic into a [Fault] of a function. It is to be deferred.
func naming(function string) {
	if fault := recover(); fault != nil {
		panic(blamed(fault, function))
	}
}
