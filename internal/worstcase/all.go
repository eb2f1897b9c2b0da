package worstcase

import (
	"context"
	"slices"

	"ringleader.example/ringleader/election"
)

// orders returns the number of orders of identifiers if these are all different inputs and at most most; otherwise 0.
// If identifiers are only compared and all processes start together, the orders of 1 … n are all inputs. If counts
// depend on no schedule, a rotation of the ring changes nothing.
func (c *climb) orders(most int) (all int, turned bool) {
	if c.Entry.Identifiers != election.Compared || c.wakes() || c.Entry.Willingness {
		return 0, false
	}
	turned = c.Entry.Counts != election.CountsVary
	all = 1
	for k := 2; k <= c.Size && all <= most; k++ {
		if k < c.Size || !turned {
			all *= k
		}
	}
	if all > most {
		return 0, false
	}
	return all, turned
}

// tryAll runs every order of identifiers and keeps the first of the most expensive ones.
func (c *climb) tryAll(ctx context.Context, turned bool, tried func(int) bool) (tries int) {
	ids := make([]uint64, c.Size)
	for p := range ids {
		ids[p] = uint64(c.Size - p)
	}
	from := 0
	if turned {
		from = 1
	}
	for more := true; more && ctx.Err() == nil && c.err == nil; more = next(ids[from:]) {
		input := Input{IDs: slices.Clone(ids)}
		if c.run(&input) && (c.best.IDs == nil || c.best.Cost.Less(input.Cost)) {
			c.best = input
		}
		if tries++; tried != nil && tries%(1<<8) == 0 && !tried(tries) {
			return tries
		}
	}
	return tries
}

// next turns a list into the next one in decreasing order. It reports false after the last.
func next(ids []uint64) bool {
	i := len(ids) - 2
	for i >= 0 && ids[i] < ids[i+1] {
		i--
	}
	if i < 0 {
		return false
	}
	j := len(ids) - 1
	for ids[j] > ids[i] {
		j--
	}
	ids[i], ids[j] = ids[j], ids[i]
	slices.Reverse(ids[i+1:])
	return true
}
