package property

import (
	"slices"
	"strings"
	"testing"
)

func TestTheSmallestCaseIsFound(t *testing.T) {
	rises := func(t *T) {
		if n := SliceOfN(Uint64Range(0, 1000), 0, 9).Draw(t, "numbers"); !slices.IsSorted(n) {
			t.Fatal("they fall")
		}
	}
	c := shrunk(rises, []uint64{5, 3, 700, 900, 20, 400})
	if want := "numbers: [1 0]"; !slices.Equal(c.drawn, []string{want}) || !slices.Equal(c.said, []string{"they fall\n"}) {
		t.Errorf("%q, %q; want %q", c.drawn, c.said, want)
	}
}

func TestAPanicIsAFailureAndASkippedCaseIsNone(t *testing.T) {
	c := &T{}
	if c.test(func(*T) { panic("wrong") }); !c.failed || !strings.Contains(c.said[0], "panic: wrong") {
		t.Errorf("%+v", c)
	}
	c = &T{}
	if c.test(func(t *T) { Distinct(Bool(), 3, 3).Draw(t, "three truths") }); c.failed || !c.skipped {
		t.Errorf("%+v", c)
	}
}

func TestValuesAreInTheirRanges(t *testing.T) {
	seen := map[string]bool{}
	CheckSome(t, cases, func(t *T) {
		f, i, u, s := Float64Range(-2, 3).Draw(t, "float"), IntRange(-5, 300).Draw(t, "int"), Uint64Range(7, 1<<63).Draw(t, "uint"), SliceOf(Byte()).Draw(t, "bytes")
		order, one, n := Permutation([]int{1, 2, 3}).Draw(t, "order"), OneOf(SampledFrom([]int{1}), SampledFrom([]int{2})).Draw(t, "one"), Int64().Draw(t, "n")
		if f < -2 || f > 3 || i < -5 || i > 300 || u < 7 || u > 1<<63 || len(s) > 20 || one < 1 || one > 2 || !slices.Equal(slices.Sorted(slices.Values(order)), []int{1, 2, 3}) {
			t.Error("one is not")
		}
		for what, is := range map[string]bool{"a permutation": order[0] != 1, "the second": one == 2, "below zero": n < 0, "above zero": n > 0, "large": u > 1<<60} {
			seen[what] = seen[what] || is
		}
	})
	for what, is := range seen {
		if !is {
			t.Errorf("of %d cases none is %s", cases, what)
		}
	}
}
