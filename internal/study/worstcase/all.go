package worstcase

import (
	"context"
	"slices"

	"ringleader.example/ringleader/election"
	"ringleader.example/ringleader/internal/study/work"
	"ringleader.example/ringleader/order"
)

// countOrders returns the number of orders of identifiers if these are all different inputs and at most most; otherwise 0.
// If identifiers are only compared and all processes start together, the orders of 1 … n are all inputs. If counts
// depend on no schedule, a rotation of the ring changes nothing.
func (c *climb) countOrders(most int) (all uint64, turned bool) {
	if c.Entry.Identifiers != election.Compared || c.wakes() || c.Entry.Willingness {
		return 0, false
	}
	turned = c.Entry.Counts != election.CountsVary
	all = 1
	for k := 2; k <= c.Size && all <= uint64(most); k++ {
		if k < c.Size || !turned {
			all *= uint64(k)
		}
	}
	if all > uint64(most) {
		return 0, false
	}
	return all, turned
}

// tryOrders runs some orders of identifiers and keeps the first of the most expensive ones. Orders decrease.
func (s *Search) tryOrders(ctx context.Context, p work.Piece) (best Best, err error) {
	ids := make([]uint64, s.Size)
	for q := range ids {
		ids[q] = uint64(s.Size - q)
	}
	moves := ids
	if s.turned {
		moves = ids[1:]
	}
	order.Arrange(moves, p.From)
	c := climb{Options: s.Options}
	for number := p.From; number < p.To && ctx.Err() == nil; number++ {
		input := Input{IDs: slices.Clone(ids)}
		if c.run(&input) && (best.Input == nil || best.Input.Cost.Less(input.Cost)) {
			best.Input = &input
		}
		if c.err != nil {
			return best, c.err
		}
		best.Tries, best.Random = best.Tries+1, c.draws
		s.tried.Add(1)
		order.Next(moves)
	}
	return best, nil
}
