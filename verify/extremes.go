package verify

import (
	"math/big"

	"ringleader.example/ringleader/election"
	"ringleader.example/ringleader/network"
	"ringleader.example/ringleader/trace"
)

// Extremes are the exact extremes of messages over all orders and all schedules without faults, each with a run that
// attains it.
type Extremes struct{ Total, Election, Announcement Extreme }

// Extreme is the range of one count.
type Extreme struct {
	Min, Max Attained // Max.Unbounded: some run sends messages for ever

	// The means over all orders of the minimum and of the maximum over the schedules of an order. MeanMax is nil if the
	// maximum of some order is unbounded.
	MeanMin, MeanMax *big.Rat
}

// Attained is an extreme count, and the first order with the first of the shortest runs that attain it.
type Attained struct {
	Messages  uint64
	Unbounded bool
	Record    trace.Record // its Header has the order; empty if the count is unbounded
}

// outliers collects the extremes of one count over the orders.
type outliers struct {
	orders        int64
	least, most   uint64
	leastOn       network.Setup
	mostOn        network.Setup
	leasts, mosts big.Int // sums
	unbounded     bool
}

// add adds the extremes of one order.
func (u *outliers) add(few, many uint64, instance network.Setup) {
	if u.orders == 0 || few < u.least {
		u.least, u.leastOn = few, instance
	}
	if u.orders == 0 || many > u.most {
		u.most, u.mostOn = many, instance
	}
	u.orders++
	u.unbounded = u.unbounded || many == endless
	u.leasts.Add(&u.leasts, new(big.Int).SetUint64(few))
	u.mosts.Add(&u.mosts, new(big.Int).SetUint64(many))
}

// extreme returns the result, with runs found by a lane.
func (u *outliers) extreme(l *lane, of string) (e Extreme, err error) {
	if u.least == endless { // no run ends
		e.Min.Unbounded, e.Max.Unbounded = true, true
		return e, nil
	}
	e.MeanMin = new(big.Rat).SetFrac(&u.leasts, big.NewInt(u.orders))
	if e.Min, err = l.attain(u.leastOn, of, false); err != nil || u.unbounded {
		e.Max.Unbounded = true
		return e, err
	}
	e.MeanMax = new(big.Rat).SetFrac(&u.mosts, big.NewInt(u.orders))
	e.Max, err = l.attain(u.mostOn, of, true)
	return e, err
}

// attain finds a run with an extreme count in one order, by a search that keeps the edges.
func (l *lane) attain(instance network.Setup, of string, most bool) (a Attained, err error) {
	if err := l.on(instance); err != nil {
		return a, err
	}
	l.reset(false)
	l.search.explore(-1)
	if !l.complete {
		return a, errRoom
	}
	g := &l.graph
	costs, greatest := g.extremes(g.components(), of)
	better := func(a, b uint64) bool { return a < b }
	if most {
		costs, better = greatest, func(a, b uint64) bool { return a > b }
	}
	var from []uint32
	for root := range uint32(g.roots) {
		if len(from) == 0 || better(costs[root], costs[from[0]]) {
			from = []uint32{root}
		} else if costs[root] == costs[from[0]] {
			from = append(from, root)
		}
	}
	a.Messages = costs[from[0]]
	root, path := g.whole(from, of, costs, l.workers[0].d.Task == election.Once && !l.o.SafetyOnly)
	a.Record = l.workers[0].record(&finding{root: root, path: path}).Record
	return a, nil
}

// whole returns a shortest run whose count is the extreme of its beginning: up to an end, or, of a service, which may
// go round for ever, up to the last message.
func (g *graph) whole(from []uint32, of string, costs []uint64, ends bool) (root int, path []int) {
	goal := func(s uint32) bool {
		if costs[s] != 0 || !ends {
			return costs[s] == 0
		}
		for _, e := range g.from(s) {
			if e.class == due {
				return false
			}
		}
		return true
	}
	for _, s := range from {
		if goal(s) {
			return int(s), nil
		}
	}
	path, begin := g.path(from, func(s uint32, e edge) bool {
		return e.class != byFault && g.costs[e.cost].of(of)+costs[e.to] == costs[s]
	}, goal)
	return int(begin), path
}
