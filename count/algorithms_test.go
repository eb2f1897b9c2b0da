package count_test

import (
	"context"
	"errors"
	"fmt"
	"math"
	"math/rand/v2"
	"reflect"
	"strings"
	"testing"

	"ringleader.example/ringleader/algorithms/dolevklawerodeh"
	"ringleader.example/ringleader/algorithms/dolevklawerodehb"
	"ringleader.example/ringleader/algorithms/franklin"
	"ringleader.example/ringleader/algorithms/highamprzytycka"
	"ringleader.example/ringleader/algorithms/hirschbergsinclair"
	"ringleader.example/ringleader/algorithms/lcr"
	"ringleader.example/ringleader/algorithms/lelann"
	"ringleader.example/ringleader/algorithms/minmax"
	"ringleader.example/ringleader/algorithms/peterson"
	"ringleader.example/ringleader/algorithms/petersonalternating"
	"ringleader.example/ringleader/algorithms/ringbully"
	"ringleader.example/ringleader/algorithms/ringbullysimple"
	"ringleader.example/ringleader/count"
	"ringleader.example/ringleader/election"
	"ringleader.example/ringleader/internal/core/property"
	"ringleader.example/ringleader/network"
	"ringleader.example/ringleader/order"
	"ringleader.example/ringleader/outcome"
)

// counted is an algorithm that has a count, with parameter values.
type counted struct {
	*election.Declaration
	exact    func(context.Context, election.Arrangement, func(done, of int)) (*count.Result, error)
	simulate func(t property.TB, ids election.Arrangement, fifo, startFirst bool, next func(int) int) played
}

var all = []counted{
	entry(&ringbullysimple.Algorithm, count.RingBullySimple.Count),
	entry(&ringbully.Algorithm, count.RingBully.Count),
	entry(&lcr.Algorithm, count.LCR.Count),
	entry(&lcr.Algorithm, count.LCR.Count, "flag", "textbook"),
	entry(&lelann.Algorithm, count.LeLann),
	entry(&lelann.Algorithm, count.LeLann, "late", "lost"),
	entry(&hirschbergsinclair.Algorithm, count.HirschbergSinclair.Count),
	entry(&hirschbergsinclair.Algorithm, count.HirschbergSinclair.Count, "announce", "no"),
	entry(&franklin.Algorithm, count.Franklin.Count),
	entry(&dolevklawerodeh.Algorithm, count.DolevKlaweRodeh.Count),
	entry(&dolevklawerodehb.Algorithm, count.DolevKlaweRodehB),
	entry(&peterson.Algorithm, count.Peterson.Count),
	entry(&petersonalternating.Algorithm, count.PetersonAlternating.Count),
	entry(&minmax.Algorithm, count.MinMax.Count),
	entry(&highamprzytycka.Algorithm, count.HighamPrzytycka),
}

func entry[S, M any](a *election.Algorithm[S, M], f count.Func, parameter ...string) counted {
	given := map[string]string{}
	if len(parameter) > 0 {
		given[parameter[0]] = parameter[1]
	}
	set, err := a.Set(given)
	if err != nil {
		panic(err)
	}
	claims := *a.With(set)
	claims.Name = strings.Join(append([]string{a.Name}, parameter...), " ")
	return counted{
		Declaration: &claims,
		exact: func(ctx context.Context, ids election.Arrangement, progress func(done, of int)) (*count.Result, error) {
			return f(ctx, ids, set, progress)
		},
		simulate: func(t property.TB, ids election.Arrangement, fifo, startFirst bool, next func(int) int) played {
			return simulate(t, a, network.Setup{IDs: ids, Parameters: given}, fifo, startFirst, next)
		},
	}
}

func find(t property.TB, name string) counted {
	t.Helper()
	for _, a := range all {
		if a.Name == name {
			return a
		}
	}
	t.Fatalf("no %s", name)
	return counted{}
}

func (a *counted) run(t property.TB, ids election.Arrangement) *count.Result {
	t.Helper()
	r, err := a.exact(context.Background(), ids, nil)
	if err != nil {
		t.Fatal(err)
	}
	return r
}

// agree expects that the count of an algorithm equals its simulation.
func (a *counted) agree(t property.TB, ids election.Arrangement, o played) {
	t.Helper()
	r := a.run(t, ids)
	equal(t, ids, a.Name+", by kind", r.Messages.ByKind, o.byKind)
	equal(t, ids, a.Name+", by phase", r.ByPhase, o.byPhase)
	if tally := outcome.MessagesOf(a.Declaration, o.byKind); !reflect.DeepEqual(r.Messages, tally) {
		t.Fatalf("%v: %s costs %+v, counted %+v", ids, a.Name, tally, r.Messages)
	}
	if r.Position != o.leader || ids.At(r.Position) != r.Leader {
		t.Fatalf("%v: %s elects position %d, counted %d at %d", ids, a.Name, o.leader, r.Leader, r.Position)
	}
}

func TestCountsAreThoseOf10000SynchronousRuns(t *testing.T) {
	if testing.Short() {
		t.Skip("it only computes, for long under the race detector")
	}
	for _, a := range all {
		for k := range 64 * 13 {
			n := k%64 + 1
			o, _ := order.Random(n, uint64(k))
			simulated := a.simulate(t, o, true, true, nil)
			a.agree(t, o, simulated)
			if r := a.run(t, o); r.Time != nil {
				equal(t, o, a.Name+", time", times(r), []uint64{simulated.elected, simulated.decided, simulated.quiet})
			}
		}
	}
}

func TestCountsAreThoseOfRunsOnNamedOrders(t *testing.T) {
	if testing.Short() {
		t.Skip("it only computes")
	}
	for _, name := range order.Names {
		for _, n := range []int{1, 2, 4, 8, 16, 128, 1024} {
			o, err := order.Parse(name, n, 1)
			if err != nil {
				t.Fatal(err)
			}
			for _, a := range all {
				if n <= 128 || a.Name != "lelann" && a.Name != "lelann late lost" {
					a.agree(t, o, a.simulate(t, o, true, true, nil))
				}
			}
		}
	}
}

func TestCountsAreThoseOfEverySchedule(t *testing.T) {
	for _, a := range all {
		property.Check(t, func(t *property.T) {
			n := property.IntRange(1, 20).Draw(t, "n")
			ids := election.List(property.Distinct(property.Uint64(), n, n).Draw(t, "ids"))
			pick := rand.New(rand.NewPCG(property.Uint64().Draw(t, "seed"), 0)).IntN
			fifo := a.FIFO || property.Bool().Draw(t, "fifo")
			startFirst := a.Counts != election.CountsFixed || property.Bool().Draw(t, "start first")
			a.agree(t, ids, a.simulate(t, ids, fifo, startFirst, pick))
		})
	}
}

// Election messages by kind.
func TestCountsOfKnownRings(t *testing.T) {
	names := []string{
		"ring-bully-simple", "lcr", "lelann", "ring-bully", "hirschberg-sinclair", "franklin",
		"dolev-klawe-rodeh", "peterson", "peterson-alternating", "minmax", "higham-przytycka",
	}
	for _, test := range []struct {
		ids  election.List
		want [][]uint64
	}{
		{election.List{1}, [][]uint64{{1}, {1}, {1}, {2, 0}, {2, 0, 0}, {2}, {1, 0}, {1}, {1}, {1}, {1}}},
		{election.List{2, 1}, [][]uint64{{3}, {3}, {4}, {8, 2}, {8, 2, 2}, {8}, {4, 2}, {5}, {4}, {4}, {4}}},
		{election.List{3, 2, 1}, [][]uint64{{6}, {6}, {9}, {16, 7}, {16, 7, 3}, {12}, {6, 3}, {8}, {6}, {6}, {6}}},
		{election.List{1, 2, 3}, [][]uint64{{5}, {5}, {9}, {16, 7}, {16, 7, 3}, {12}, {6, 3}, {8}, {9}, {9}, {8}}},
		{election.List{4, 3, 2, 1}, [][]uint64{{10}, {10}, {16}, {20, 8}, {20, 8, 4}, {16}, {8, 4}, {11}, {8}, {8}, {8}}},
		{election.List{5, 4, 3, 2, 1}, [][]uint64{{15}, {15}, {25}, {32, 17}, {32, 17, 5}, {20}, {10, 5}, {14}, {10}, {10}, {10}}},
		{election.List{3, 1, 4, 2, 5}, [][]uint64{{11}, {11}, {25}, {36, 19}, {36, 19, 7}, {30}, {15, 10}, {20}, {15}, {15}, {14}}},
		{election.List{8, 7, 6, 5, 4, 3, 2, 1}, [][]uint64{{36}, {36}, {64}, {44, 20}, {44, 20, 8}, {32}, {16, 8}, {23}, {16}, {16}, {16}}},
		{election.List{1, 2, 3, 4, 5, 6, 7, 8}, [][]uint64{{15}, {15}, {64}, {44, 20}, {44, 20, 8}, {32}, {16, 8}, {23}, {24}, {24}, {28}}},
		{election.List{1, 5, 3, 7, 2, 6, 4, 8}, [][]uint64{{20}, {20}, {64}, {64, 24}, {64, 24, 24}, {64}, {32, 24}, {46}, {32}, {32}, {30}}},
	} {
		for i, name := range names {
			a := find(t, name)
			kinds := append(test.want[i], uint64(len(test.ids)))
			if name == "lelann" {
				kinds[1] = 0
			}
			equal(t, test.ids, name, a.run(t, test.ids).Messages.ByKind, kinds)
		}
	}
}

// Election messages of kinds ONE and TWO.
func TestCountsOfDolevKlaweRodehBOnKnownRings(t *testing.T) {
	a := find(t, "dolev-klawe-rodeh-b")
	for _, test := range []struct {
		ids       election.List
		ones, two uint64
	}{
		{election.List{1}, 1, 0},
		{election.List{2, 1}, 3, 1},
		{election.List{3, 2, 1}, 5, 1},
		{election.List{1, 2, 3}, 5, 2},
		{election.List{4, 3, 2, 1}, 7, 1},
		{election.List{5, 4, 3, 2, 1}, 9, 1},
		{election.List{3, 1, 4, 2, 5}, 12, 4},
	} {
		equal(t, test.ids, a.Name, a.run(t, test.ids).Messages.ByKind, []uint64{test.ones, test.two, uint64(len(test.ids))})
	}
}

func TestTimesOfKnownRings(t *testing.T) {
	ringBully, hirschbergSinclair, simple, lcr := find(t, "ring-bully"), find(t, "hirschberg-sinclair"), find(t, "ring-bully-simple"), find(t, "lcr")
	for _, test := range []struct{ n, elected, decided, quiet uint64 }{
		{1, 1, 1, 2},
		{2, 4, 5, 6},
		{3, 9, 11, 12},
		{4, 10, 13, 14},
		{5, 19, 23, 24},
		{6, 20, 25, 26},
		{8, 22, 29, 30},
		{10, 40, 49, 50},
		{16, 46, 61, 62},
	} {
		n := test.n
		o, _ := order.Random(int(n), 1)
		for _, a := range []counted{ringBully, hirschbergSinclair} {
			equal(t, o, a.Name+", time", times(a.run(t, o)), []uint64{test.elected, test.decided, test.quiet})
		}
		equal(t, o, "ring-bully-simple, time", times(simple.run(t, o)), []uint64{n, 2*n - 1, 2 * n})
		equal(t, o, "lcr, time", times(lcr.run(t, o)), []uint64{2 * n, 2 * n, 2 * n})
	}
}

// The least and most election messages over all orders of n = 1, 2, …, from exhaustive simulation, and the declared
// bounds.
func TestExtremesAndMeansOverAllOrders(t *testing.T) {
	if testing.Short() {
		t.Skip("it only computes")
	}
	known := map[string][2][]uint64{
		"lcr":                  {{1, 3, 5, 7, 9, 11, 13, 15}, {1, 3, 6, 10, 15, 21, 28, 36}},
		"ring-bully":           {{2, 10, 23, 28, 49, 54, 59, 64}, {2, 10, 23, 32, 55, 68, 78, 89}},
		"hirschberg-sinclair":  {{2, 12, 26, 32, 54, 60, 66, 72}, {2, 12, 26, 40, 62, 80, 96, 112}},
		"peterson":             {{1, 5, 8, 11, 14, 17, 20, 23}, {1, 5, 8, 16, 21, 27, 32, 46}},
		"peterson-alternating": {{1, 4, 6, 8, 10, 12, 14, 16}, {1, 4, 9, 12, 20, 24, 28, 40}},
		"dolev-klawe-rodeh-b":  {{1, 4, 6, 8, 10, 12, 14, 16}, {1, 4, 7, 13, 17, 21, 26, 38}},
		"higham-przytycka":     {{1, 4, 6, 8, 10, 12, 14, 16}, {1, 4, 8, 11, 18, 22, 26, 34}},
	}
	for _, a := range all {
		for n := uint64(1); n <= 8; n++ {
			least, most, sum, orders := uint64(math.MaxUint64), uint64(0), uint64(0), uint64(0)
			ids := make(election.List, n)
			for p := range ids {
				ids[p] = n - uint64(p)
			}
			permutations(ids[1:], func() { // the greatest stays at 0: rotation changes nothing
				messages := a.run(t, ids).Messages
				orders++
				least, most, sum = min(least, messages.Election), max(most, messages.Election), sum+messages.Election
				for _, b := range a.Bounds {
					if b.Of == "time" || b.OneStart {
						continue
					}
					if cost := messages.Of(b.Of); b.Case == election.Worst && cost > b.Value(n) || b.Case == election.Best && cost < b.Value(n) {
						t.Errorf("%v: %s costs %d, against the %s case of %s", ids, a.Name, cost, b.Case, b.Formula)
					}
				}
			})
			if want, ok := known[a.Name]; ok && (least != want[0][n-1] || most != want[1][n-1]) {
				t.Errorf("n = %d: %s costs %d to %d, want %d to %d", n, a.Name, least, most, want[0][n-1], want[1][n-1])
			}
			mean := float64(sum) / float64(orders)
			if b := a.Bound(election.Average); b != nil && math.Abs(mean-b.Mean(n)) > 1e-9*mean {
				t.Errorf("n = %d: the mean of %s is %v, declared %v", n, a.Name, mean, b.Mean(n))
			}
		}
	}
}

// These values are published: a change would break quotations of them.
func TestCostsOfRandomOrdersForEver(t *testing.T) {
	if testing.Short() {
		t.Skip("it only computes")
	}
	for _, test := range []struct {
		n    int
		seed uint64
		want map[string][]uint64
	}{
		{10, 1, map[string][]uint64{"lcr": {39, 10}, "ring-bully": {79, 46, 10}}},
		{4096, 2, map[string][]uint64{"lcr": {36120, 4096}, "ring-bully": {93612, 62054, 4096}}},
		{100_000, 7, map[string][]uint64{"lcr": {1232028, 100_000}, "ring-bully": {3283280, 2268614, 100_000}}},
		{1_000_000, 7, map[string][]uint64{
			"lcr":                  {14356128, 1_000_000},
			"ring-bully":           {37613202, 25748652, 1_000_000},
			"hirschberg-sinclair":  {37613202, 25748652, 9864550, 1_000_000},
			"franklin":             {26_000_000, 1_000_000},
			"dolev-klawe-rodeh":    {13_000_000, 12_000_000, 1_000_000},
			"dolev-klawe-rodeh-b":  {18737857, 3477302, 1_000_000},
			"peterson":             {24585319, 1_000_000},
			"peterson-alternating": {19_000_000, 1_000_000},
			"minmax":               {18_000_000, 1_000_000},
			"higham-przytycka":     {19240887, 1_000_000},
		}},
	} {
		o, _ := order.Random(test.n, test.seed)
		for _, a := range all {
			if want, ok := test.want[a.Name]; ok {
				equal(t, o, a.Name, a.run(t, o).Messages.ByKind, want)
			}
		}
	}
}

func TestRandomOrdersCostTheDeclaredMean(t *testing.T) {
	if testing.Short() {
		t.Skip("it only computes, for long under the race detector")
	}
	for _, a := range all {
		b := a.Bound(election.Average)
		if b == nil || strings.Contains(a.Name, " ") { // with other parameters it costs the same
			continue
		}
		for _, test := range []struct{ n, seeds int }{{3, 4000}, {10, 4000}, {100, 1000}, {5000, 200}, {8192, 200}, {100_000, 10}} {
			sum, squares := 0.0, 0.0
			declared := b.Mean(uint64(test.n))
			for seed := range uint64(test.seeds) {
				o, _ := order.Random(test.n, seed)
				x := float64(a.run(t, o).Messages.Election) - declared
				sum, squares = sum+x, squares+x*x
			}
			seeds := float64(test.seeds)
			spread := math.Sqrt(squares) / seeds // of the mean
			if off := sum / seeds; math.Abs(off) > 3.5*spread {
				t.Errorf("n = %d: the mean of %s over %v seeds is %.3f off the declared %.3f, more than 3.5 times %.3f",
					test.n, a.Name, seeds, off, declared, spread)
			}
		}
	}
}

func TestEveryArrangementOfTheSameRingCostsTheSame(t *testing.T) {
	if testing.Short() {
		t.Skip("it only computes")
	}
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
				huge[p] = large(n, o.At(p))
			}
			for _, a := range all {
				want := a.run(t, o)
				for _, same := range []election.Arrangement{list, plain{list}} {
					if got := a.run(t, same); !reflect.DeepEqual(got, want) {
						t.Fatalf("%s, %s of %d: %+v as a %T, %+v as itself", a.Name, name, n, got, same, want)
					}
				}
				want.Leader = large(n, want.Leader)
				if got := a.run(t, huge); !reflect.DeepEqual(got, want) {
					t.Fatalf("%s, %s of %d: %+v with huge identifiers, want %+v", a.Name, name, n, got, want)
				}
			}
		}
	}
}

// large returns a replacement for an identifier of 1 … n: the same order, no adjacent values, up to the largest
// uint64.
func large(n int, id uint64) uint64 { return math.MaxUint64 - 1000*(uint64(n)-id) }

// plain is dense and has none of the methods that make a pass fast.
type plain struct{ election.List }

func (plain) Dense() bool { return true }

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
		for _, a := range all {
			r, err := a.exact(context.Background(), test.ids, nil)
			if !errors.Is(err, count.ErrRing) || r != nil || !strings.Contains(err.Error(), test.says) {
				t.Errorf("%s, %v: %+v, %v", a.Name, test.ids, r, err)
			}
		}
	}
}

type endless struct{ election.List }

func (endless) Len() int { return math.MaxInt } // too many where an int has 64 bits

func TestWhatDependsOnTheScheduleCannotBeCounted(t *testing.T) {
	early := entry(&hirschbergsinclair.Algorithm, count.HirschbergSinclair.Count, "withdraw", "early")
	r, err := early.exact(context.Background(), election.List{1, 2, 3}, nil)
	if !errors.Is(err, count.ErrRing) || r != nil || !strings.Contains(err.Error(), "withdraw=early") {
		t.Errorf("%+v, %v", r, err)
	}
}

func TestACountCanBeWatchedAndStopped(t *testing.T) {
	const n = 200_000 // more than one part
	o, _ := order.Random(n, 1)
	for _, a := range all {
		if strings.HasPrefix(a.Name, "lelann") { // reads nothing
			continue
		}
		last := 0
		r, err := a.exact(context.Background(), o, func(done, of int) {
			if done <= last || of != n {
				t.Fatalf("%s: %d of %d after %d", a.Name, done, of, last)
			}
			last = done
		})
		if err != nil || r == nil || last != n {
			t.Fatalf("%s: %v at %d", a.Name, err, last)
		}
		ctx, stop := context.WithCancel(context.Background())
		r, err = a.exact(ctx, o, func(done, _ int) {
			if last = done; done > n/2 {
				stop()
			}
		})
		if !errors.Is(err, context.Canceled) || r != nil || last <= n/2 || last == n {
			t.Fatalf("%s: %v at %d", a.Name, err, last)
		}
	}
}

func BenchmarkRandomOrder(b *testing.B) {
	for _, n := range []int{1 << 16, 1 << 20, 1 << 24} {
		o, _ := order.Random(n, 1)
		for _, a := range all {
			b.Run(fmt.Sprintf("%s/n=%d", strings.ReplaceAll(a.Name, " ", "="), n), func(b *testing.B) {
				for b.Loop() {
					a.run(b, o)
				}
				b.ReportMetric(float64(b.Elapsed().Nanoseconds())/float64(b.N)/float64(n), "ns/processor")
			})
		}
	}
}
