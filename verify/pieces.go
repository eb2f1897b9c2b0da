package verify

import (
	"cmp"
	"context"
	"errors"
	"math/big"
	"sync"

	"ringleader.example/ringleader/internal/core/memory"
	"ringleader.example/ringleader/internal/core/process"
	"ringleader.example/ringleader/program"
	"ringleader.example/ringleader/verify/internal/model"
	"ringleader.example/ringleader/verify/internal/search"
)

// Orders is an exploration whose orders are explored in pieces, in any order and in any process. [Orders.Report] then
// returns the report of [Program].
type Orders struct {
	program   *process.Program
	o         Options
	all       *enumeration
	explorers sync.Pool // of *explorer
}

// Part is what the exploration of a range of orders has found: sums over the orders before the first one that violates a
// property or cannot be explored to its end. Its JSON is read by the same version of this package only.
type Part struct {
	Orders      int                   `json:"orders"`
	States      int                   `json:"states"`
	Transitions int                   `json:"transitions"`
	Finals      int                   `json:"finals"`
	Depth       int                   `json:"depth"`
	Confluent   int                   `json:"confluent,omitempty"`
	Partial     int                   `json:"partial,omitempty"`
	Alike       bool                  `json:"alike,omitempty"`
	Seen        uint32                `json:"seen"`             // the sights, as bits
	Wide        *big.Int              `json:"wide,omitempty"`   // the sum of squares of states that 128 bits tell apart
	Narrow      *big.Int              `json:"narrow,omitempty"` // … that 64 bits do
	Messages    tally                 `json:"messages"`
	Costs       [model.Costs]outliers `json:"costs,omitzero"`   // if the extremes are asked for and known
	Times       timings               `json:"times,omitzero"`   // likewise
	Beyond      bool                  `json:"beyond,omitempty"` // some time is beyond all measure
	Stop        *uint64               `json:"stop,omitempty"`   // the number of the order at which the range ends early
}

// add adds the verdict on the order of a number.
func (p *Part) add(v *search.Verdict, number uint64, o *Options) {
	one := Part{
		Orders: 1, States: v.States, Transitions: v.Transitions, Finals: v.Finals, Depth: v.Depth,
		Confluent: v.Confluent, Partial: v.Partial, Alike: v.Symmetric, Seen: v.Seen, Messages: tallyOf(&v.Extremes),
	}
	states := big.NewInt(int64(v.States))
	if states.Mul(states, states); v.Bits == 64 {
		one.Narrow = states
	} else {
		one.Wide = states
	}
	if v.Extremes.Seen && o.Extremes {
		few, many := v.Extremes.Min, v.Extremes.Max
		for i := range one.Costs {
			one.Costs[i].add(search.TicksOf(few[i]), search.TicksOf(many[i]), number)
		}
	}
	p.Join(&one)
}

// Join adds the part of later orders. After an early end, they do not matter.
func (p *Part) Join(later *Part) {
	if p.Stop != nil {
		return
	}
	p.Orders += later.Orders
	p.States += later.States
	p.Transitions += later.Transitions
	p.Finals += later.Finals
	p.Depth = max(p.Depth, later.Depth)
	p.Confluent += later.Confluent
	p.Partial += later.Partial
	p.Alike = p.Alike || later.Alike
	p.Seen |= later.Seen
	p.Wide, p.Narrow = plus(p.Wide, later.Wide), plus(p.Narrow, later.Narrow)
	p.Messages.merge(&later.Messages)
	for i := range p.Costs {
		p.Costs[i].join(&later.Costs[i])
	}
	for i := range p.Times {
		p.Times[i].join(&later.Times[i])
	}
	p.Beyond, p.Stop = p.Beyond || later.Beyond, later.Stop
	if p.Messages.Unknown { // then there are no extremes of the whole
		p.Costs, p.Times, p.Beyond = [model.Costs]outliers{}, timings{}, false
	}
	if p.Beyond {
		p.Times = timings{}
	}
}

// plus returns a sum; nil is 0.
func plus(a, b *big.Int) *big.Int {
	switch {
	case a == nil:
		return b
	case b == nil:
		return a
	}
	return new(big.Int).Add(a, b)
}

// report sets the sums of a report.
func (p *Part) report(r *Report) {
	r.Orders, r.States, r.Transitions, r.Finals, r.Depth = p.Orders, p.States, p.Transitions, p.Finals, p.Depth
	r.Confluent, r.Partial, r.Symmetry = p.Confluent, p.Partial, p.Alike
	r.Bits = 128
	miss := new(big.Float)
	if p.Wide != nil {
		miss.SetMantExp(new(big.Float).SetInt(p.Wide), -129)
	}
	if p.Narrow != nil {
		r.Bits = 64
		narrow := new(big.Float).SetInt(p.Narrow)
		miss.Add(miss.SetPrec(256), narrow.SetMantExp(narrow, -65))
	}
	r.Miss, _ = miss.Float64()
}

// NewOrders returns an exploration in pieces, or what is wrong with the options. Wardens number the proofs of death of a
// whole exploration, so it takes none.
func NewOrders(a program.Program, o Options) (*Orders, error) {
	program := process.Opened(a)
	x := &Orders{program: program, o: o}
	if err := x.o.check(program.Declaration, program.Functions); err != nil {
		return nil, err
	}
	if _, err := faulty(func() error { return x.o.reduce(program) }); err != nil { // Report judges a process that cannot be made
		return nil, err
	}
	x.all = enumerate(program.Declaration, &x.o)
	x.explorers.New = func() any { return x.explorer() }
	return x, nil
}

// Len returns the number of orders. Orders of which a reduction leaves out one of two mirror images are counted, too.
func (x *Orders) Len() uint64 { return x.all.len() }

// explorer explores one order after the other.
type explorer struct {
	ctx      context.Context
	searcher *search.Searcher
	times    *search.Searcher // nil: no times are searched
}

func (x *Orders) explorer() *explorer {
	e := &explorer{}
	o := x.o
	o.Progress = func(Progress) bool { return e.ctx.Err() == nil }
	e.searcher = search.NewSearcher(x.program, o.search(), nil, 1)
	if o.Extremes && o.untimed(x.program.Declaration) == "" {
		e.times = search.NewSearcher(x.program, o.timed().search(), nil, 1)
	}
	return e
}

// Explore explores a range of orders, up to the first one that violates a property or cannot be explored to its end.
func (x *Orders) Explore(ctx context.Context, from, to uint64) (*Part, error) {
	e := x.explorers.Get().(*explorer)
	e.ctx = ctx
	e.searcher.Monitor = search.NewMonitor(e.searcher.Options, int(to-from))
	if e.times != nil {
		e.times.Monitor = search.NewMonitor(e.times.Options, int(to-from))
	}
	defer memory.Limited(e.searcher.Monitor.Enough())()
	part := &Part{}
	for number := from; number < to && part.Stop == nil; number++ {
		err := x.explore(e, number, part)
		if ctx.Err() != nil {
			return nil, ctx.Err()
		}
		if err != nil {
			return nil, err
		}
	}
	x.explorers.Put(e)
	return part, nil
}

// explore adds the order of a number to a part.
func (x *Orders) explore(e *explorer, number uint64, part *Part) error {
	setup, ok := x.all.at(number)
	if !ok {
		return nil
	}
	var v search.Verdict
	wrong, err := faulty(func() (err error) {
		v, err = e.searcher.Explore(setup, -1)
		return err
	})
	if e.searcher.Monitor.Done(&e.searcher.Search); err != nil {
		return err
	}
	if wrong != nil || v.Found != nil || !v.Complete {
		part.Stop = &number
		return nil
	}
	one := &Part{}
	one.add(&v, number, &x.o)
	if e.times != nil && !part.Messages.Unknown && !part.Beyond && !one.Messages.Unknown {
		if one.Beyond, err = one.Times.add(e.times, setup, number); err != nil {
			return err
		}
	}
	part.Join(one)
	return nil
}

// Report returns the report on all orders. If the exploration has ended early, Report goes on from there, since what is
// searched for in an order depends on the violations in those before it.
func (x *Orders) Report(all *Part) (*Report, error) {
	o := x.o
	return guarded(x.program, &o, func() (*Report, error) {
		e := newExploration(x.program, &o)
		e.sum, e.timed, e.next = *all, all.Stop == nil, x.all.len()
		if all.Stop != nil {
			e.next, e.sum.Stop = *all.Stop, nil
		}
		return e.whole()
	})
}

// whole explores what is left. If orders that are alike were left out, all are explored for the shortest violation.
func (x *exploration) whole() (*Report, error) {
	report, err := x.run()
	if err != nil || report.Violation == nil || !x.o.alike {
		return report, err
	}
	of := report.Violation
	x.o.alike = false // among all orders there may be a shorter one
	if report, err = newExploration(x.program, x.o).run(); err == nil {
		report.Violation = cmp.Or(report.Violation, of)
	}
	return report, err
}

// faulty does something, and returns which function of the algorithm failed that is no step; nil if none did.
func faulty(do func() error) (wrong *process.Fault, err error) {
	err = func() (err error) {
		defer model.Halted(&err)
		return do()
	}()
	if f := new(process.Fault); errors.As(err, f) {
		return f, nil
	}
	return nil, err
}

// guarded returns the report of an exploration, also if a function of the algorithm fails that is no step. A verdict on steps that depend on what
// others have left behind is none: those of the rehearsal are made again at the end.
func guarded(program *process.Program, o *Options, explore func() (*Report, error)) (report *Report, err error) {
	wrong, err := faulty(func() error {
		if report, err = explore(); err == nil && (report.Violation == nil || report.Violation.Property != BrokeContract && report.Violation.Property != Panicked) {
			program.Recall(o.Setup.IDs.Len())
		}
		return err
	})
	if wrong != nil {
		return &Report{Violation: &Violation{Property: wrong.Property, Detail: wrong.Detail, Record: o.nothing(program.Declaration)}}, nil
	}
	return report, err
}

// tally collects extremes over all orders.
type tally struct {
	Seen      bool     `json:"seen"`
	Unknown   bool     `json:"unknown,omitempty"` // the extremes of some search are not known
	Max       Messages `json:"max"`
	Min       Messages `json:"min"`
	Unbounded bool     `json:"unbounded,omitempty"`
}

func (t *tally) messages() (most, least *Messages) {
	if t.Unknown {
		return nil, nil
	}
	if !t.Unbounded {
		most = &t.Max
	}
	return most, &t.Min
}

// merge adds the extremes of another order.
func (t *tally) merge(u *tally) {
	t.Unknown = t.Unknown || u.Unknown
	if !u.Seen {
		return
	}
	if !t.Seen {
		t.Seen, t.Min = true, u.Min
	}
	t.Min.each(&u.Min, func(a, b uint64) uint64 { return min(a, b) })
	t.Max.each(&u.Max, func(a, b uint64) uint64 { return max(a, b) })
	t.Unbounded = t.Unbounded || u.Unbounded
}

// each joins each number with that of others.
func (m *Messages) each(others *Messages, join func(a, b uint64) uint64) {
	m.Total = join(m.Total, others.Total)
	m.Election = join(m.Election, others.Election)
	m.Announcement = join(m.Announcement, others.Announcement)
}

// tallyOf returns the extremes of one order.
func tallyOf(r *search.Ranges) tally {
	of := func(counts [model.Costs]uint64) Messages { return Messages{counts[0], counts[1], counts[2]} }
	return tally{Seen: r.Seen, Unknown: r.Unknown, Unbounded: r.Unbounded, Min: of(r.Min), Max: of(r.Max)}
}
