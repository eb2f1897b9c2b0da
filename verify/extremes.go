package verify

import (
	"math/big"

	"ringleader.example/ringleader/election"
	"ringleader.example/ringleader/trace"
	"ringleader.example/ringleader/verify/internal/search"
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
func (u *outliers) extreme(l *search.Searcher, all *enumeration, m search.Measure) (e Extreme, err error) {
	if u.Least == election.Forever { // no run ends
		e.Min.Unbounded, e.Max.Unbounded = true, true
		return e, nil
	}
	e.MeanMin = new(big.Rat).SetFrac(&u.Leasts, big.NewInt(u.Orders))
	if e.Min, err = attain(l, all, u.LeastOn, m, false); err != nil || u.Unbounded {
		e.Max.Unbounded = true
		return e, err
	}
	e.MeanMax = new(big.Rat).SetFrac(&u.Mosts, big.NewInt(u.Orders))
	e.Max, err = attain(l, all, u.MostOn, m, true)
	return e, err
}

// attain finds a run with an extreme quantity in the order of a number.
func attain(l *search.Searcher, all *enumeration, number uint64, m search.Measure, most bool) (a Attained, err error) {
	setup, _ := all.at(number)
	g, err := l.GraphOf(setup)
	if err != nil {
		return a, err
	}
	return Attained(l.AttainIn(g, m, most)), nil
}
