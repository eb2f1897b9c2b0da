package count

import (
	"cmp"
	"math"
	"slices"
	"testing"

	"ringleader.example/ringleader/election"
	"ringleader.example/ringleader/internal/core/property"
	"ringleader.example/ringleader/order"
)

func TestThePassNeedsLittleMemoryOnEveryNamedOrder(t *testing.T) {
	const n = 1 << 18
	for _, name := range order.Names {
		o, err := order.Parse(name, n, 1)
		if err != nil {
			t.Fatal(err)
		}
		leader := o.Position(n)
		s, back := newScan(n, n, func([]distances) {}), nextGreater{top: run{ID: n, Length: 1}}
		highest := 0
		for i := range n {
			s.next([]uint64{o.At((leader + 1 + i) % n)})
			back.distance(o.At((leader + 2*n - 1 - i) % n))
			highest = max(highest, len(s.stack), len(back.stack))
		}
		if highest > 60 {
			t.Errorf("%s: the stack is %d high", name, highest)
		}
		if len(s.stack) != 1 || s.top.ID != n {
			t.Errorf("%s: the leader pops all but %d", name, len(s.stack))
		}
	}
}

func TestPartsNeedLittleMemoryOnEveryNamedOrder(t *testing.T) {
	const n, parts = 1 << 18, 5
	for _, name := range order.Names {
		o, err := order.Parse(name, n, 1)
		if err != nil {
			t.Fatal(err)
		}
		s := markedScan(n/parts, n, func([]distances) {})
		highest := 0
		for p := n / parts; p < 2*n/parts; p++ {
			s.next([]uint64{o.At(p)})
			highest = max(highest, len(s.stack)+len(s.records))
		}
		if highest > 60 {
			t.Errorf("%s: the stack and the records have %d entries", name, highest)
		}
	}
}

func TestEveryProcessorIsSurveyedOnce(t *testing.T) {
	for _, n := range []int{1, 2, 1023, 1024, 1025, 8192, 20_000} {
		o, err := order.Random(n, 1)
		if err != nil {
			t.Fatal(err)
		}
		seen := 0
		r, err := surveyed(o, func(_ *Range, batch []distances) { seen += len(batch) }, func(*Range, uint64, *Result) {})
		if err != nil {
			t.Fatal(err)
		}
		if _, err := r.Result(joined(t, r, 1)); err != nil || seen != n {
			t.Errorf("%d of %d, %v", seen, n, err)
		}
	}
}

func TestPartsFindTheDistancesOfTheWhole(t *testing.T) {
	property.Check(t, func(t *property.T) {
		n := property.IntRange(1, 60).Draw(t, "n")
		parts := property.IntRange(1, min(n, maxParts)).Draw(t, "parts")
		values := property.OneOf(property.Uint64Range(0, 80), property.Uint64Range(math.MaxUint64-80, math.MaxUint64))
		ids := election.List(property.Distinct(values, n, n).Draw(t, "ids"))
		for _, how := range []string{"as drawn", "rising", "falling"} {
			switch how {
			case "rising":
				slices.Sort(ids)
			case "falling":
				slices.Reverse(ids)
			}
			whole, cut := found(t, ids, 1), found(t, ids, parts)
			if len(whole) != n || !slices.Equal(cut, whole) {
				t.Fatalf("%v in %d parts: %v, not %v", ids, parts, cut, whole)
			}
		}
	})
}

// found returns all distances, in a fixed order.
func found(t *property.T, ids election.List, parts int) []distances {
	var all []distances
	r, err := surveyed(ids, func(_ *Range, batch []distances) { all = append(all, batch...) }, func(*Range, uint64, *Result) {})
	if err != nil {
		t.Fatal(err)
	}
	if _, err := r.Result(joined(t, r, parts)); err != nil {
		t.Fatal(err)
	}
	slices.SortFunc(all, func(a, b distances) int {
		return cmp.Or(cmp.Compare(a.clockwise, b.clockwise), cmp.Compare(a.counter, b.counter))
	})
	return all
}
