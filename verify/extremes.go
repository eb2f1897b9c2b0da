package verify

import (
	"math/big"

	"ringleader.example/ringleader/election"
	"ringleader.example/ringleader/network"
	"ringleader.example/ringleader/trace"
)

// Extremes are the exact extremes of messages and of time over all orders and all schedules without faults, each with a run
// that attains it.
type Extremes struct {
	Total, Election, Announcement Extreme

	Time   *Times // the section Time of the package comment defines them; nil if NoTime is set
	NoTime string // why no time is stated
}

// Times are the extremes of the times of a run, in units of delay: of the last moments at which a process became leader, a decision
// changed, and a message arrived.
type Times struct{ Elected, Decided, Quiet Extreme }

// Extreme is the range of one count, or of one time.
type Extreme struct {
	Min, Max Attained // Max.Unbounded: some run has no value of it, or there is a run beyond every value

	// The means over all orders of the minimum and of the maximum over the schedules of an order. MeanMax is nil if the
	// maximum of some order is unbounded.
	MeanMin, MeanMax *big.Rat
}

// Attained is an extreme, and the first order with the first of the shortest runs that attain it.
type Attained struct {
	Value     election.Ticks // messages, or units of delay
	Unbounded bool
	Record    trace.Record // its Header has the order; empty if the value is unbounded
}

// outliers collects the extremes of one quantity over the orders, which have numbers.
type outliers struct {
	Orders    int64          `json:"orders"`
	Least     election.Ticks `json:"least"`
	Most      election.Ticks `json:"most"`
	LeastOn   uint64         `json:"least_on"` // the first order that attains it
	MostOn    uint64         `json:"most_on"`
	Leasts    big.Int        `json:"leasts"` // sums
	Mosts     big.Int        `json:"mosts"`
	Unbounded bool           `json:"unbounded,omitempty"`
}

// add adds the extremes of one order.
func (u *outliers) add(few, many election.Ticks, number uint64) {
	one := outliers{Orders: 1, Least: few, Most: many, LeastOn: number, MostOn: number, Unbounded: many == election.Forever}
	one.Leasts.Set(few.Big())
	one.Mosts.Set(many.Big())
	u.join(&one)
}

// join adds the extremes of later orders.
func (u *outliers) join(v *outliers) {
	if v.Orders == 0 {
		return
	}
	if u.Orders == 0 || v.Least.Less(u.Least) {
		u.Least, u.LeastOn = v.Least, v.LeastOn
	}
	if u.Orders == 0 || u.Most.Less(v.Most) {
		u.Most, u.MostOn = v.Most, v.MostOn
	}
	u.Orders += v.Orders
	u.Unbounded = u.Unbounded || v.Unbounded
	u.Leasts.Add(&u.Leasts, &v.Leasts)
	u.Mosts.Add(&u.Mosts, &v.Mosts)
}

// extreme returns the result, with runs found by a searcher.
func (u *outliers) extreme(l *searcher, all *enumeration, m measure) (e Extreme, err error) {
	if u.Least == election.Forever { // no run ends
		e.Min.Unbounded, e.Max.Unbounded = true, true
		return e, nil
	}
	e.MeanMin = new(big.Rat).SetFrac(&u.Leasts, big.NewInt(u.Orders))
	if e.Min, err = l.attain(all, u.LeastOn, m, false); err != nil || u.Unbounded {
		e.Max.Unbounded = true
		return e, err
	}
	e.MeanMax = new(big.Rat).SetFrac(&u.Mosts, big.NewInt(u.Orders))
	e.Max, err = l.attain(all, u.MostOn, m, true)
	return e, err
}

// graphOf explores an instance, and keeps the edges.
func (l *searcher) graphOf(instance network.Setup) (*graph, error) {
	if err := l.on(instance); err != nil {
		return nil, err
	}
	l.reset(false)
	l.search.explore(-1)
	if !l.complete {
		return nil, errRoom
	}
	return &l.graph, nil
}

// attain finds a run with an extreme quantity in the order of a number.
func (l *searcher) attain(all *enumeration, number uint64, m measure, most bool) (a Attained, err error) {
	instance, _ := all.at(number)
	g, err := l.graphOf(instance)
	if err != nil {
		return a, err
	}
	return l.attainIn(g, m, most)
}

// attainIn is attain in the graph of the order.
func (l *searcher) attainIn(g *graph, m measure, most bool) (a Attained, err error) {
	values, greatest := g.extremes(g.components(), m)
	best, greatestOfAll := g.overall(values, greatest)
	if most {
		values, best = greatest, greatestOfAll
	}
	var from []uint32
	for root := range uint32(g.roots) {
		if values[root] == best {
			from = append(from, root)
		}
	}
	if best == election.Forever {
		return Attained{Unbounded: true}, nil
	}
	a.Value = m.value(best)
	root, path := g.whole(from, m, values, l.workers[0].d.Task == election.Once && !l.o.SafetyOnly)
	a.Record = l.workers[0].record(&finding{root: root, path: path}).Record
	return a, nil
}

// whole returns a shortest run whose quantity is the extreme of its beginning: up to an end, or, of a service, which may
// go round for ever, up to the last event that counts.
func (g *graph) whole(from []uint32, m measure, values []election.Ticks, ends bool) (root int, path []int) {
	goal := func(s uint32) bool {
		if !values[s].IsZero() || !ends {
			return values[s].IsZero()
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
		return e.class != byFault && m.before(g.costs[e.cost], values[e.to]) == values[s]
	}, goal)
	return int(begin), path
}
