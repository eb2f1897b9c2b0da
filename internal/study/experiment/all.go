package experiment

import (
	"fmt"
	"slices"

	"ringleader.example/ringleader/election"
	"ringleader.example/ringleader/order"
)

// AllOrders is the name of all orders of a ring, up to rotation. Their mean and extremes are exact.
const AllOrders = "all"

// OrderNames are the names of orders of a study.
var OrderNames = append(slices.Clone(order.Names), AllOrders)

// mostExhausted is the largest ring of which all orders are tried: there are 13! = 6 227 020 800.
const mostExhausted = 14

// exhausted reports whether the runs of a place are all orders.
func (p *place) exhausted() bool { return p.order == AllOrders }

// rotations returns the number of orders up to rotation.
func rotations(n int) uint64 {
	all := uint64(1)
	for k := 2; k < n; k++ {
		all *= uint64(k)
	}
	return all
}

// exhaustible returns an error if the orders of a place cannot all be tried, or do not determine its costs.
func (p *place) exhaustible() error {
	switch {
	case p.n > mostExhausted:
		return fmt.Errorf("%w: a ring of %d has too many orders; all are tried up to n = %d", ErrStudy, p.n, mostExhausted)
	case p.Topology != election.Ring:
		return fmt.Errorf("%w: %s runs on a %s; all orders are those of a ring", ErrStudy, p.Label, p.Topology.Phrase(0))
	case p.Claims.Counts == election.CountsVary:
		return fmt.Errorf("%w: the messages of %s depend on more than the order, so all orders give no exact mean", ErrStudy, p.Label)
	}
	return nil
}

// dense is an arrangement of 1 … n.
type dense []uint64

// arranged returns one of the orders up to rotation: n comes first.
func arranged(n int, number uint64) dense {
	ids := make(dense, n)
	for i := range ids {
		ids[i] = uint64(n - i)
	}
	order.Arrange(ids[1:], number)
	return ids
}

func (d dense) Len() int                    { return len(d) }
func (d dense) At(position int) uint64      { return d[position] }
func (d dense) Dense() bool                 { return true }
func (d dense) Fill(ids []uint64, from int) { copy(ids, d[from:]) }
func (d dense) Position(id uint64) int      { return slices.Index(d, id) }
