package count_test

import (
	"context"
	"fmt"
	"math"
	"slices"
	"testing"

	"ringleader.example/ringleader/count"
	"ringleader.example/ringleader/election"
	"ringleader.example/ringleader/internal/core/property"
	"ringleader.example/ringleader/order"
)

func ExampleLCR() {
	ring, err := order.Decreasing(1_000_000)
	if err != nil {
		fmt.Println(err)
		return
	}
	cost, err := count.LCR.Count(context.Background(), ring, election.Parameters{}, nil)
	if err != nil {
		fmt.Println(err)
		return
	}
	fmt.Println(cost.Messages.Election, "election and", cost.Messages.Announcement, "leader messages in", cost.Time.Quiet, "units")
	// Output: 500000500000 election and 1000000 leader messages in 2000000 units
}

func TestMonotoneOrdersCostWhatTheSourcesSay(t *testing.T) {
	for _, n := range []int{1, 2, 3, 4, 7, 64, 1000, 300_000} {
		rising, _ := order.Increasing(n)
		falling, _ := order.Decreasing(n)
		m := uint64(n)
		equal(t, rising, "lcr", run(t, count.LCR.Count, rising).Messages.ByKind, []uint64{2*m - 1, m})
		equal(t, falling, "lcr", run(t, count.LCR.Count, falling).Messages.ByKind, []uint64{m * (m + 1) / 2, m})
		equal(t, falling, "ring-bully and its mirror image", run(t, count.RingBully.Count, falling).ByPhase, run(t, count.RingBully.Count, rising).ByPhase)
	}
}

// S1 exercise 13.3-2: the bit-reversal order on n = 2^k costs 3n lg n + 3n messages.
func TestBitReversalCostsAsManyAsDerived(t *testing.T) {
	hirschbergSinclair := find(t, "hirschberg-sinclair")
	for k := range uint64(18) {
		n := uint64(1) << k
		o, _ := order.BitReversal(int(n))
		r := run(t, count.RingBully.Count, o)
		equal(t, o, "ring-bully", r.Messages.ByKind, []uint64{2 * n * (k + 1), n * k, n})
		if r.Messages.Total != 3*n*k+3*n {
			t.Errorf("n = %d: %d messages", n, r.Messages.Total)
		}
		if cost := hirschbergSinclair.run(t, o).Messages.Election; cost != 4*n*k+2*n {
			t.Errorf("n = %d: %d messages of hirschberg-sinclair", n, cost)
		}
	}
}

// The oracle walks from every processor, phase by phase, as in the texts of S1 and S2.
func TestCountsAreThoseOfWalkingEveryIdentifier(t *testing.T) {
	property.Check(t, func(t *property.T) {
		n := property.IntRange(1, 40).Draw(t, "n")
		values := property.OneOf(property.Uint64(), property.Uint64Range(0, 200), property.Uint64Range(math.MaxUint64-200, math.MaxUint64))
		ids := election.List(property.Distinct(values, n, n).Draw(t, "ids"))
		hops := func(p, step int) int { // to a greater identifier, or back to the origin
			h := 1
			for q := (p + step + n) % n; q != p && ids[q] < ids[p]; q = (q + step + n) % n {
				h++
			}
			return h
		}
		var travelled, probes, replies uint64
		var byPhase, entered []uint64
		for p := range ids {
			right, left := hops(p, 1), hops(p, -1)
			travelled += uint64(right)
			for reach, phase, alive := 1, 0, true; alive; reach, phase = 2*reach, phase+1 {
				if phase == len(byPhase) {
					byPhase, entered = append(byPhase, 0), append(entered, 0)
				}
				entered[phase]++
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
		one, two := run(t, count.LCR.Count, ids), run(t, count.RingBully.Count, ids)
		equal(t, ids, "lcr", one.Messages.ByKind, []uint64{travelled, uint64(n)})
		equal(t, ids, "ring-bully", two.Messages.ByKind, []uint64{probes, replies, uint64(n)})
		equal(t, ids, "ring-bully, by phase", two.ByPhase, byPhase)
		equal(t, ids, "ring-bully, that enter each phase", two.Entered, entered)
		if one.Leader != slices.Max(ids) || ids[one.Position] != one.Leader {
			t.Fatalf("%d at %d leads", one.Leader, one.Position)
		}
	})
}

func run(t property.TB, f count.Func, ids election.Arrangement) *count.Result {
	t.Helper()
	r, err := f(context.Background(), ids, election.Parameters{}, nil)
	if err != nil {
		t.Fatal(err)
	}
	return r
}

func times(r *count.Result) []uint64 {
	return []uint64{r.Time.Elected.Uint64(), r.Time.Decided.Uint64(), r.Time.Quiet.Uint64()}
}

func equal(t property.TB, ids election.Arrangement, what string, got, want []uint64) {
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
