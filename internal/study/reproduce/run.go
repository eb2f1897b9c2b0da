package reproduce

import (
	"context"
	"errors"
	"fmt"
	"iter"

	"ringleader.example/ringleader/catalogue"
	"ringleader.example/ringleader/count"
	"ringleader.example/ringleader/election"
	"ringleader.example/ringleader/simulate"
	"ringleader.example/ringleader/verify"
)

// Result is a row with the finding of its check, or the reason why it could not be checked.
type Result struct {
	Row
	Finding
	Err error
}

// Run checks rows one after the other. Rows without a result when ctx ends have its error. The rows find their algorithms
// in the list, by name.
func Run(ctx context.Context, rows []Row, algorithms catalogue.List) iter.Seq[Result] {
	return func(yield func(Result) bool) {
		for _, row := range rows {
			if !yield(check(ctx, row, algorithms)) {
				return
			}
		}
	}
}

// check checks one row.
func check(ctx context.Context, row Row, algorithms catalogue.List) (result Result) {
	result.Row = row
	defer func() {
		switch bug := recover().(type) {
		case nil:
		case failure:
			if errors.Is(bug.err, simulate.ErrBroken) {
				result.Finding = Finding{Verdict: Fails, Why: bug.err.Error()}
			} else {
				result.Err = fmt.Errorf("%s %s: %w", row.Source, row.Where, bug.err)
			}
		default:
			result.Err = fmt.Errorf("%s %s panicked: %v", row.Source, row.Where, bug)
		}
	}()
	b := &Bench{Context: ctx, Algorithms: algorithms}
	b.GoOn()
	result.Finding = row.Check(b)
	result.Reach = b.reach
	if b.GoOn(); !row.Settled {
		result.Verdict = result.Verdict.searched()
	}
	return result
}

// Bench gives a row's check the engines, and the algorithms by name. Its methods return no errors: an error ends the
// check, which keeps rows short.
type Bench struct {
	Context    context.Context
	Algorithms catalogue.List
	reach      Reach // of what it has run until now
}

// failure is an error that ends a check.
type failure struct{ err error }

// Must returns the value; an error ends the check.
func Must[T any](value T, err error) T {
	if err != nil {
		panic(failure{err})
	}
	return value
}

// Variant runs an election of a variant of an algorithm, on a small network.
func Variant[S, M any](a election.Algorithm[S, M], o simulate.Options) *simulate.Result {
	return Must(Must(simulate.OfSmall(&a)).Run(o))
}

// GoOn ends the check if its context is done.
func (b *Bench) GoOn() { Must(0, b.Context.Err()) }

// Reached notes that something was run or counted for n processes, which the methods of Bench do themselves.
func (b *Bench) Reached(n int) { b.reach.Runs = max(b.reach.Runs, n) }

// Algorithm returns the algorithm of that name.
func (b *Bench) Algorithm(name string) *catalogue.Entry { return Must(b.Algorithms.Find(name)) }

// Simulate runs an election. A wrong algorithm need not end, so there is a limit: a run that has not ended after 8n²
// messages, and many more on small networks, is not Complete.
func (b *Bench) Simulate(name string, o simulate.Options) *simulate.Result {
	b.GoOn()
	if n := uint64(o.Setup.IDs.Len()); o.Limit == 0 {
		o.Limit = 8*n*n + 100_000
	}
	o.Values = o.Record
	o.Progress = func(uint64) bool { return b.Context.Err() == nil }
	r := Must(b.Algorithm(name).Simulate(o))
	b.GoOn()
	b.Reached(o.Setup.IDs.Len())
	return r
}

// Verify tries every schedule, up to a million states of one order unless more are asked for.
func (b *Bench) Verify(name string, o verify.Options) *verify.Report {
	b.GoOn()
	o.Progress = func(verify.Progress) bool { return b.Context.Err() == nil }
	if o.MaxStates == 0 {
		o.MaxStates = 1_000_000
	}
	r := Must(b.Algorithm(name).Verify(o))
	b.GoOn()
	if r.Complete {
		n := o.Size
		if n == 0 {
			n = o.Setup.IDs.Len()
		}
		b.reach.Schedules = max(b.reach.Schedules, n)
	}
	return r
}

// EverySchedule tries every schedule, with all overtaking of messages, of all orders of up to most identifiers.
func (b *Bench) EverySchedule(d *Doubt, name string, most int, o verify.Options) (orders, states int) {
	o.Unordered, o.MaxStates = true, 100_000 // of one order; an error can make many more
	for n := 1; n <= most && d.First == ""; n++ {
		o.Size = n
		r := b.Verify(name, o)
		orders, states = orders+r.Orders, states+r.States
		d.Verified(r, "%s, n = %d", name, n)
	}
	return orders, states
}

// EveryOrder checks every schedule of every order of up to most identifiers, with all reductions that apply, and has the fewest and
// the most messages of each size judged.
func (b *Bench) EveryOrder(d *Doubt, name string, most int, o verify.Options, judge func(n uint64, fewest, most *verify.Messages)) (orders int) {
	o.Reduce = verify.AnyReduction
	for n := 1; n <= most && d.First == ""; n++ {
		o.Size = n
		r := b.Verify(name, o)
		orders += r.Orders
		if !d.Verified(r, "%s, n = %d", name, n) {
			break
		}
		if d.Unless(r.MaxMessages != nil, "%s, n = %d: messages without end", name, n); r.MaxMessages != nil {
			judge(uint64(n), r.MinMessages, r.MaxMessages)
		}
	}
	return orders
}

// Count returns the exact cost on a ring, of an algorithm with a closed form and default parameters.
func (b *Bench) Count(name string, ids election.Arrangement) *count.Result {
	e := b.Algorithm(name)
	b.Reached(ids.Len())
	return Must(e.Count(b.Context, ids, Must(e.Set(nil)), nil))
}
