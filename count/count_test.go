package count_test

import (
	"context"
	"errors"
	"fmt"
	"math"
	"math/rand/v2"
	"reflect"
	"slices"
	"strings"
	"testing"

	"pgregory.net/rapid"

	"ringleader.example/ringleader/algorithms/lcr"
	"ringleader.example/ringleader/algorithms/ringbully"
	"ringleader.example/ringleader/count"
	"ringleader.example/ringleader/election"
	"ringleader.example/ringleader/order"
)

func ExampleLCR() {
	ring, err := order.Decreasing(1_000_000)
	if err != nil {
		fmt.Println(err)
		return
	}
	cost, err := count.LCR(context.Background(), ring, election.Parameters{}, nil)
	if err != nil {
		fmt.Println(err)
		return
	}
	fmt.Println(cost.Messages.Election, "election and", cost.Messages.Announcement, "leader messages in", cost.Time.Quiet, "units")
	// Output: 500000500000 election and 1000000 leader messages in 2000000 units
}

// ALGORITHMS.md section 11.
func TestCountsOfKnownRings(t *testing.T) {
	for _, test := range []struct {
		ids                   election.List
		lcr, probes, replies  uint64
		elected, decided, all uint64 // times of ring-bully
	}{
		{election.List{1}, 1, 2, 0, 1, 1, 2},
		{election.List{2, 1}, 3, 8, 2, 4, 5, 6},
		{election.List{3, 2, 1}, 6, 16, 7, 9, 11, 12},
		{election.List{1, 2, 3}, 5, 16, 7, 9, 11, 12},
		{election.List{4, 3, 2, 1}, 10, 20, 8, 10, 13, 14},
		{election.List{5, 4, 3, 2, 1}, 15, 32, 17, 19, 23, 24},
		{election.List{3, 1, 4, 2, 5}, 11, 36, 19, 19, 23, 24},
		{election.List{8, 7, 6, 5, 4, 3, 2, 1}, 36, 44, 20, 22, 29, 30},
		{election.List{1, 2, 3, 4, 5, 6, 7, 8}, 15, 44, 20, 22, 29, 30},
		{election.List{1, 5, 3, 7, 2, 6, 4, 8}, 20, 64, 24, 22, 29, 30},
	} {
		n := uint64(len(test.ids))
		one, two := run(t, count.LCR, test.ids), run(t, count.RingBully, test.ids)
		equal(t, test.ids, "lcr", one.Messages.ByKind, []uint64{test.lcr, n})
		equal(t, test.ids, "lcr, time", times(one), []uint64{2 * n, 2 * n, 2 * n})
		equal(t, test.ids, "ring-bully", two.Messages.ByKind, []uint64{test.probes, test.replies, n})
		equal(t, test.ids, "ring-bully, time", times(two), []uint64{test.elected, test.decided, test.all})
	}
	for n, want := range map[int][]uint64{6: {20, 25, 26}, 10: {40, 49, 50}, 16: {46, 61, 62}} {
		o, _ := order.Random(n, 1)
		equal(t, o, "ring-bully, time", times(run(t, count.RingBully, o)), want)
	}
}

// ALGORITHMS.md section 2.6, and the bounds and means that the algorithms declare.
func TestExtremesAndMeansOverAllOrders(t *testing.T) {
	known := [][4]uint64{{1, 1, 2, 2}, {3, 3, 10, 10}, {5, 6, 23, 23}, {7, 10, 28, 32}, {9, 15, 49, 55}, {11, 21, 54, 68}, {13, 28, 59, 78}, {15, 36, 64, 89}}
	for i, want := range known {
		n := i + 1
		least, most, sum := [2]uint64{math.MaxUint64, math.MaxUint64}, [2]uint64{}, [2]uint64{}
		orders := uint64(0)
		ids := make(election.List, n)
		for p := range ids {
			ids[p] = uint64(n - p)
		}
		permutations(ids[1:], func() { // the greatest stays at 0: rotation changes nothing
			orders++
			for a, f := range []count.Func{count.LCR, count.RingBully} {
				e := run(t, f, ids).Messages.Election
				least[a], most[a], sum[a] = min(least[a], e), max(most[a], e), sum[a]+e
			}
		})
		if got := [4]uint64{least[0], most[0], least[1], most[1]}; got != want {
			t.Errorf("n = %d: extremes of lcr and ring-bully are %d, want %d", n, got, want)
		}
		for a, d := range []*election.Declaration{&lcr.Algorithm.Declaration, &ringbully.Algorithm.Declaration} {
			mean := float64(sum[a]) / float64(orders)
			if declared := d.Bound(election.Average).Mean(uint64(n)); math.Abs(mean-declared) > 1e-9*mean {
				t.Errorf("n = %d: the mean of %s is %v, declared %v", n, d.Name, mean, declared)
			}
		}
		if bound := lcr.Algorithm.Bound(election.Worst).Value(uint64(n)); most[0] != bound {
			t.Errorf("n = %d: lcr's worst is %d, declared %d", n, most[0], bound)
		}
		if bound := ringbully.Algorithm.Bound(election.Worst).Value(uint64(n)); most[1]+uint64(n) > bound {
			t.Errorf("n = %d: ring-bully's worst is %d, declared %d", n, most[1]+uint64(n), bound)
		}
	}
}

func TestMonotoneOrdersCostWhatTheSourcesSay(t *testing.T) {
	for _, n := range []int{1, 2, 3, 4, 7, 64, 1000, 300_000} {
		rising, _ := order.Increasing(n)
		falling, _ := order.Decreasing(n)
		m := uint64(n)
		equal(t, rising, "lcr", run(t, count.LCR, rising).Messages.ByKind, []uint64{2*m - 1, m})
		equal(t, falling, "lcr", run(t, count.LCR, falling).Messages.ByKind, []uint64{m * (m + 1) / 2, m})
		equal(t, falling, "ring-bully and its mirror image", run(t, count.RingBully, falling).ByPhase, run(t, count.RingBully, rising).ByPhase)
	}
}

func TestBitReversalCosts3nLgNPlus3n(t *testing.T) { // S1 exercise 13.3-2
	for k := range uint64(18) {
		n := uint64(1) << k
		o, _ := order.BitReversal(int(n))
		r := run(t, count.RingBully, o)
		equal(t, o, "ring-bully", r.Messages.ByKind, []uint64{2 * n * (k + 1), n * k, n})
		if r.Messages.Total != 3*n*k+3*n {
			t.Errorf("n = %d: %d messages", n, r.Messages.Total)
		}
	}
}

func TestEveryArrangementOfTheSameRingCostsTheSame(t *testing.T) {
	for _, name := range order.Names {
		for _, n := range []int{1, 2, 3, 8, 256, 4096, 8192, 1 << 15} {
			if name == "bit-reversal" && n == 3 {
				continue
			}
			o, err := order.Parse(name, n, 3)
			if err != nil {
				t.Fatal(err)
			}
			list, huge := make(election.List, n), make(election.List, n)
			for p := range list {
				list[p] = o.At(p)
				huge[p] = math.MaxUint64 - 1000*(uint64(n)-o.At(p)) // the same order, no neighbours
			}
			for _, f := range []count.Func{count.LCR, count.RingBully} {
				want := run(t, f, o)
				for _, same := range []election.Arrangement{list, plain{list}} {
					if got := run(t, f, same); !reflect.DeepEqual(got, want) {
						t.Fatalf("%s of %d: %+v as a %T, %+v as itself", name, n, got, same, want)
					}
				}
				want.Leader = math.MaxUint64
				if got := run(t, f, huge); !reflect.DeepEqual(got, want) {
					t.Fatalf("%s of %d: %+v with huge identifiers, want %+v", name, n, got, want)
				}
			}
		}
	}
}

// plain is dense and has none of the methods that make a pass fast.
type plain struct{ election.List }

func (plain) Dense() bool { return true }

// The oracle walks from every processor, phase by phase, as S1's and S2's words say.
func TestCountsAreThoseOfWalkingEveryIdentifier(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		n := rapid.IntRange(1, 40).Draw(t, "n")
		values := rapid.OneOf(rapid.Uint64(), rapid.Uint64Range(0, 200), rapid.Uint64Range(math.MaxUint64-200, math.MaxUint64))
		ids := election.List(rapid.SliceOfNDistinct(values, n, n, rapid.ID).Draw(t, "ids"))
		hops := func(p, step int) int { // to a greater identifier, or home
			h := 1
			for q := (p + step + n) % n; q != p && ids[q] < ids[p]; q = (q + step + n) % n {
				h++
			}
			return h
		}
		var travelled, probes, replies uint64
		var byPhase []uint64
		for p := range ids {
			right, left := hops(p, 1), hops(p, -1)
			travelled += uint64(right)
			for reach, phase, alive := 1, 0, true; alive; reach, phase = 2*reach, phase+1 {
				if phase == len(byPhase) {
					byPhase = append(byPhase, 0)
				}
				for _, distance := range []int{right, left} {
					probes += uint64(min(reach, distance))
					byPhase[phase] += uint64(min(reach, distance))
					if reach < distance {
						replies += uint64(reach)
						byPhase[phase] += uint64(reach)
					} else {
						alive = false
					}
				}
			}
		}
		one, two := run(t, count.LCR, ids), run(t, count.RingBully, ids)
		equal(t, ids, "lcr", one.Messages.ByKind, []uint64{travelled, uint64(n)})
		equal(t, ids, "ring-bully", two.Messages.ByKind, []uint64{probes, replies, uint64(n)})
		equal(t, ids, "ring-bully, by phase", two.ByPhase, byPhase)
		if one.Leader != slices.Max(ids) || ids[one.Position] != one.Leader {
			t.Fatalf("%d at %d leads", one.Leader, one.Position)
		}
	})
}

func TestCountsAreThoseOfEverySchedule(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		n := rapid.IntRange(1, 20).Draw(t, "n")
		ids := election.List(rapid.SliceOfNDistinct(rapid.Uint64(), n, n, rapid.ID).Draw(t, "ids"))
		seed, fifo := rapid.Uint64().Draw(t, "seed"), rapid.Bool().Draw(t, "fifo")
		pick := rand.New(rand.NewPCG(seed, 0)).IntN
		flag := rapid.SampledFrom([]string{"literal", "textbook"}).Draw(t, "flag")

		one := run(t, count.LCR, ids)
		compare(t, ids, one, &lcr.Algorithm.Declaration, simulate(t, &lcr.Algorithm,
			election.Instance{IDs: ids, Parameters: map[string]string{"flag": flag}}, fifo, true, pick))

		two := run(t, count.RingBully, ids) // also if they start while others run already
		startFirst := rapid.Bool().Draw(t, "start first")
		compare(t, ids, two, &ringbully.Algorithm.Declaration, simulate(t, &ringbully.Algorithm,
			election.Instance{IDs: ids}, fifo, startFirst, pick))
	})
}

func TestTimesAreThoseOfASynchronousRun(t *testing.T) {
	for n := 1; n <= 40; n++ {
		for seed := range uint64(5) {
			o, _ := order.Random(n, seed)
			one := simulate(t, &lcr.Algorithm, election.Instance{IDs: o}, true, true, nil)
			two := simulate(t, &ringbully.Algorithm, election.Instance{IDs: o}, true, true, nil)
			equal(t, o, "lcr, time", times(run(t, count.LCR, o)), []uint64{one.elected, one.decided, one.quiet})
			equal(t, o, "ring-bully, time", times(run(t, count.RingBully, o)), []uint64{two.elected, two.decided, two.quiet})
		}
	}
}

func compare(t rapid.TB, ids election.List, r *count.Result, d *election.Declaration, o outcome) {
	t.Helper()
	equal(t, ids, d.Name+", by kind", r.Messages.ByKind, o.byKind)
	equal(t, ids, d.Name+", by phase", r.ByPhase, o.byPhase)
	tally := d.Tally(o.byKind)
	equal(t, ids, d.Name+", by class", classes(r.Messages), classes(tally))
	if r.Position != o.leader {
		t.Fatalf("%v: %s elects position %d, counted %d", ids, d.Name, o.leader, r.Position)
	}
}

func classes(m election.Messages) []uint64 {
	return []uint64{m.Total, m.Election, m.Announcement, m.Overhead}
}

// A change of these breaks what people have quoted.
func TestCostsOfRandomOrdersForEver(t *testing.T) {
	for _, test := range []struct {
		n, seed              int
		lcr, probes, replies uint64
	}{
		{10, 1, 39, 79, 46},
		{4096, 2, 36120, 93612, 62054},
		{100_000, 7, 1232028, 3283280, 2268614},
		{1_000_000, 7, 14356128, 37613202, 25748652},
	} {
		o, _ := order.Random(test.n, uint64(test.seed))
		one, two := run(t, count.LCR, o), run(t, count.RingBully, o)
		equal(t, o, "lcr", one.Messages.ByKind, []uint64{test.lcr, uint64(test.n)})
		equal(t, o, "ring-bully", two.Messages.ByKind, []uint64{test.probes, test.replies, uint64(test.n)})
	}
}

func TestRandomOrdersCostTheDeclaredMean(t *testing.T) {
	for _, test := range []struct{ n, seeds int }{{3, 4000}, {10, 4000}, {100, 1000}, {5000, 200}, {8192, 200}, {100_000, 10}} {
		for a, f := range []count.Func{count.LCR, count.RingBully} {
			d := []*election.Declaration{&lcr.Algorithm.Declaration, &ringbully.Algorithm.Declaration}[a]
			sum, squares := 0.0, 0.0
			declared := d.Bound(election.Average).Mean(uint64(test.n))
			for seed := range uint64(test.seeds) {
				o, _ := order.Random(test.n, seed)
				x := float64(run(t, f, o).Messages.Election) - declared
				sum, squares = sum+x, squares+x*x
			}
			seeds := float64(test.seeds)
			spread := math.Sqrt(squares) / seeds // of the mean
			if off := sum / seeds; math.Abs(off) > 3.5*spread {
				t.Errorf("n = %d: the mean of %s over %v seeds is %.3f off the declared %.3f, more than 3.5 times %.3f",
					test.n, d.Name, seeds, off, declared, spread)
			}
		}
	}
}

func TestRingsThatCannotBeCounted(t *testing.T) {
	for _, test := range []struct {
		ids  election.Arrangement
		says string
	}{
		{election.List{}, "1 to 4294967295"},
		{endless{}, "1 to 4294967295"},
		{election.List{5, 3, 5, 1}, "identifier 5 occurs twice"},
		{election.List{5, 3, 1, 3}, "identifier 3 occurs twice"},
		{election.List{0, 0}, "identifier 0 occurs twice"},
	} {
		for _, f := range []count.Func{count.LCR, count.RingBully} {
			r, err := f(context.Background(), test.ids, election.Parameters{}, nil)
			if !errors.Is(err, count.ErrRing) || r != nil || !strings.Contains(err.Error(), test.says) {
				t.Errorf("%v: %+v, %v", test.ids, r, err)
			}
		}
	}
}

type endless struct{ election.List }

func (endless) Len() int { return 1 << 32 }

func TestACountCanBeWatchedAndStopped(t *testing.T) {
	const n = 100_000
	o, _ := order.Random(n, 1)
	last := 0
	r, err := count.LCR(context.Background(), o, election.Parameters{}, func(done, of int) {
		if done <= last || of != n {
			t.Fatalf("%d of %d after %d", done, of, last)
		}
		last = done
	})
	if err != nil || r == nil || last != n {
		t.Fatalf("%v at %d", err, last)
	}
	ctx, stop := context.WithCancel(context.Background())
	r, err = count.RingBully(ctx, o, election.Parameters{}, func(done, _ int) {
		if last = done; done > n/2 {
			stop()
		}
	})
	if !errors.Is(err, context.Canceled) || r != nil || last <= n/2 || last == n {
		t.Fatalf("%v at %d", err, last)
	}
}

func run(t rapid.TB, f count.Func, ids election.Arrangement) *count.Result {
	t.Helper()
	r, err := f(context.Background(), ids, election.Parameters{}, nil)
	if err != nil {
		t.Fatal(err)
	}
	return r
}

func times(r *count.Result) []uint64 {
	return []uint64{r.Time.Elected.Lo, r.Time.Decided.Lo, r.Time.Quiet.Lo}
}

func equal(t rapid.TB, ids election.Arrangement, what string, got, want []uint64) {
	t.Helper()
	if !slices.Equal(got, want) {
		if o, ok := ids.(*order.Order); ok {
			what = fmt.Sprintf("%s order of %d, %s", o.Name(), o.Len(), what)
		} else {
			what = fmt.Sprintf("%d, %s", ids, what)
		}
		t.Fatalf("%s: %d, want %d", what, got, want)
	}
}

// permutations calls visit with the identifiers in every order.
func permutations(ids election.List, visit func()) {
	if len(ids) < 2 {
		visit()
		return
	}
	for i := range ids {
		ids[0], ids[i] = ids[i], ids[0]
		permutations(ids[1:], visit)
		ids[0], ids[i] = ids[i], ids[0]
	}
}

func BenchmarkRandomOrder(b *testing.B) {
	const n = 1 << 20
	o, _ := order.Random(n, 1)
	for name, f := range map[string]count.Func{"lcr": count.LCR, "ring-bully": count.RingBully} {
		b.Run(name, func(b *testing.B) {
			for b.Loop() {
				run(b, f, o)
			}
			b.ReportMetric(float64(b.Elapsed().Nanoseconds())/float64(b.N)/n, "ns/processor")
		})
	}
}
