package process

import (
	"errors"
	"math/big"
	"slices"

	"ringleader.example/ringleader/election"
)

// bounded returns a declaration whose functions name themselves if they panic or do not return, also the bounds that Adjust sets.
func bounded(d *election.Declaration) *election.Declaration {
	named := *d
	of := d.Name + ": "
	named.Bounds = slices.Clone(d.Bounds)
	for i := range named.Bounds {
		b := &named.Bounds[i]
		name := "the bound " + b.Formula + " of " + b.Of + " messages"
		if value := b.Value; value != nil {
			b.Value = func(n uint64) uint64 {
				defer naming(name, beginning(of+name))
				return value(n)
			}
		}
		if mean := b.Mean; mean != nil {
			b.Mean = func(n uint64) float64 {
				defer naming(name, beginning(of+name))
				return mean(n)
			}
		}
	}
	if adjust := d.Adjust; adjust != nil {
		named.Adjust = func(d *election.Declaration, p election.Parameters) {
			defer naming("Adjust", beginning(of+"Adjust"))
			adjust(d, p)
			*d = *bounded(d)
		}
	}
	if sequence := d.Sequence; sequence != nil {
		named.Sequence = func(p election.Parameters, n uint64, bits uint) ([]*big.Int, error) {
			defer naming("Sequence", beginning(of+"Sequence"))
			numbers, err := sequence(p, n, bits)
			return numbers, plain(err)
		}
	}
	if settles := d.Settles; settles != nil {
		named.Settles = func(n uint64, p election.Parameters) election.Ticks {
			defer naming("Settles", beginning(of+"Settles"))
			return settles(n, p)
		}
	}
	if allow := d.AllowDuplicates; allow != nil {
		named.AllowDuplicates = func(ids election.Arrangement) error {
			defer naming("AllowDuplicates", beginning(of+"AllowDuplicates"))
			return plain(allow(ids))
		}
	}
	return &named
}

// plain returns an error whose text is one line that a terminal shows as it is, whatever an algorithm returns.
func plain(err error) error {
	if err == nil || line(err.Error()) == err.Error() {
		return err
	}
	return errors.New(line(err.Error()))
}

// naming ends a call, and turns a panic into a [Fault] of a function. It is to be deferred.
func naming(function string, c *declared) {
	c.end()
	if fault := recover(); fault != nil {
		panic(blamed(fault, function))
	}
}
