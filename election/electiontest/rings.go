package electiontest

import (
	"iter"
	"slices"
	"testing"

	"ringleader.example/ringleader/election"
	"ringleader.example/ringleader/faults"
	"ringleader.example/ringleader/network"
	"ringleader.example/ringleader/order"
	"ringleader.example/ringleader/program"
	"ringleader.example/ringleader/simulate"
	"ringleader.example/ringleader/verify"
)

// Rings yields every order of 1 … n that differs on a ring: n stays at position 0. The slice is reused.
func Rings(n int) iter.Seq[[]uint64] {
	return func(yield func([]uint64) bool) {
		ids := make([]uint64, n)
		for p := range ids {
			ids[p] = uint64(n - p)
		}
		var permute func(k int) bool
		permute = func(k int) bool {
			if k >= n {
				return yield(ids)
			}
			for q := k; q < n; q++ {
				ids[k], ids[q] = ids[q], ids[k]
				ok := permute(k + 1)
				ids[k], ids[q] = ids[q], ids[k]
				if !ok {
					return false
				}
			}
			return true
		}
		permute(1)
	}
}

// Schedules yields every way to run an algorithm under which its counts should be the same, each with that many
// seeds. All start first, unless the declared counts do not depend on that.
func Schedules(d *election.Declaration, seeds int) iter.Seq[simulate.Options] {
	return func(yield func(simulate.Options) bool) {
		for _, o := range timings(d) {
			if o.AnyTime && d.Counts != election.CountsFixed {
				continue
			}
			for o.Seed = range uint64(seeds) {
				if !yield(o) {
					return
				}
			}
		}
	}
}

// Random returns a random order of 1 … n.
func Random(t testing.TB, n int, seed uint64) []uint64 {
	t.Helper()
	ring, err := order.Random(n, seed)
	if err != nil {
		t.Fatal(err)
	}
	ids := make([]uint64, n)
	ring.Fill(ids, 0)
	return ids
}

// Run runs an election and accepts any result.
func Run[S, M any](t testing.TB, a election.Algorithm[S, M], o simulate.Options) *simulate.Result {
	t.Helper()
	return run(t, small(t, a), o)
}

func run(t testing.TB, p program.Program, o simulate.Options) *simulate.Result {
	t.Helper()
	r, err := simulate.New(p).Run(o)
	if err != nil {
		t.Fatal(err)
	}
	return r
}

// Elect runs an election that must end with the right leader.
func Elect[S, M any](t testing.TB, a election.Algorithm[S, M], o simulate.Options) *simulate.Result {
	t.Helper()
	return elect(t, small(t, a), o)
}

func elect(t testing.TB, p program.Program, o simulate.Options) *simulate.Result {
	t.Helper()
	r := run(t, p, o)
	if !r.Complete || !r.Right {
		t.Fatalf("leaders at %v, %d of %d decided, complete: %t, %v", r.Leaders, r.Decided, r.Live, r.Complete, r.Faults)
	}
	return r
}

// Counts compares the messages of each kind with the expected ones of a setup under every schedule, each with
// that many seeds. If the declared counts do not depend on the initiators, it also runs each single initiator.
func Counts[S, M any](t testing.TB, a election.Algorithm[S, M], seeds int, i network.Setup, want ...uint64) {
	t.Helper()
	counts(t, small(t, a), seeds, i, want)
}

func counts(t testing.TB, p program.Program, seeds int, i network.Setup, want []uint64) {
	t.Helper()
	d, starters := p.Declared(), [][]int{nil}
	if d.Counts >= election.CountsStartFirst && d.Starts == election.AnyStart {
		starters = nil
		for p := range i.IDs.Len() {
			starters = append(starters, []int{p})
		}
	}
	for o := range Schedules(d, seeds) {
		for _, o.Initiators = range starters {
			o.Setup = i
			r := run(t, p, o)
			if !slices.Equal(r.Messages.ByKind, want) || !r.Right {
				t.Errorf("%v, %s %s, %v start: %v, want %v; leaders %v", i.IDs, o.Timing, o.Schedule, o.Initiators, r.Messages.ByKind, want, r.Leaders)
			}
		}
	}
}

// Extremes runs an election on every order of 1 … n and returns the least and the most election messages. see, if not
// nil, gets each result.
func Extremes[S, M any](t testing.TB, a election.Algorithm[S, M], n int, see func(ids []uint64, r *simulate.Result)) (least, most uint64) {
	t.Helper()
	return extremes(t, small(t, a), n, see)
}

func extremes(t testing.TB, p program.Program, n int, see func(ids []uint64, r *simulate.Result)) (least, most uint64) {
	t.Helper()
	least = 1 << 63
	for ids := range Rings(n) {
		r := elect(t, p, simulate.Options{Setup: network.On(ids...), Limit: 1_000_000})
		least, most = min(least, r.Messages.Election), max(most, r.Messages.Election)
		if see != nil {
			see(ids, r)
		}
	}
	return least, most
}

// OfSizes returns a function that yields a random setup by seed, with sizes from least to most in turn.
func OfSizes(d *election.Declaration, least, most int) func(seed uint64) network.Setup {
	return func(seed uint64) network.Setup {
		return Setup(d, least+int(seed%uint64(most-least+1)), seed)
	}
}

// Overtaken returns the number of random runs without FIFO that fail. If none does, there is no reason to declare
// FIFO, and the test fails.
func Overtaken[S, M any](t testing.TB, a election.Algorithm[S, M], runs uint64, setup func(seed uint64) network.Setup) (failures int) {
	t.Helper()
	return overtaken(t, small(t, a), runs, setup)
}

func overtaken(t testing.TB, p program.Program, runs uint64, setup func(seed uint64) network.Setup) (failures int) {
	t.Helper()
	for seed := range runs {
		r := run(t, p, simulate.Options{
			Setup: setup(seed), Schedule: simulate.Random, Faults: faults.Script{Unordered: true}, Seed: seed, Limit: 10_000,
		})
		if !r.Complete || !r.Right {
			failures++
		}
	}
	if failures == 0 {
		t.Errorf("no run of %d fails, so why is FIFO declared?", runs)
	}
	t.Logf("%d of %d runs fail", failures, runs)
	return failures
}

// Mutant returns an algorithm with a slip: where does returns true, the process does nothing else with a message. It
// starts before it receives; so a second Start must do nothing, as in algorithms that start on a message.
func Mutant[S, M any](a election.Algorithm[S, M], does func(*S, election.Kind, M, *election.Out[M]) bool) election.Algorithm[S, M] {
	mutant := a
	mutant.Receive = func(p *S, port election.Port, kind election.Kind, m M, out *election.Out[M]) {
		a.Start(p, out)
		if !does(p, kind, m, out) {
			a.Receive(p, port, kind, m, out)
		}
	}
	return mutant
}

// Verify checks every schedule with these parameters, and expects a result: a violation, or a complete check.
func Verify[S, M any](t testing.TB, a election.Algorithm[S, M], o verify.Options, parameters map[string]string) *verify.Report {
	t.Helper()
	return checked(t, small(t, a), o, parameters)
}

func checked(t testing.TB, p program.Program, o verify.Options, parameters map[string]string) *verify.Report {
	t.Helper()
	o.Setup.Parameters = parameters
	report, err := verify.Program(p, o)
	if err != nil {
		t.Fatal(err)
	}
	if report.Violation == nil && !report.Complete {
		t.Fatalf("not finished after %d states", report.States)
	}
	return report
}

// Found fails the test unless a check of every schedule finds that an algorithm violates the property.
func Found[S, M any](t testing.TB, name string, a election.Algorithm[S, M], o verify.Options, property string) {
	t.Helper()
	found(t, name, small(t, a), o, property)
}

func found(t testing.TB, name string, p program.Program, o verify.Options, property string) {
	t.Helper()
	report, err := verify.Program(p, o)
	if err != nil {
		t.Fatal(err)
	}
	if v := report.Violation; v == nil {
		t.Errorf("%s: no violation in %d states, want %s", name, report.States, property)
	} else if v.Property != property {
		t.Errorf("%s: %s (%s), want %s", name, v.Property, v.Detail, property)
	}
}
