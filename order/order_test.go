package order_test

import (
	"errors"
	"fmt"
	"math"
	"slices"
	"strconv"
	"strings"
	"testing"

	"ringleader.example/ringleader/order"
)

func ExampleParse() {
	ring, err := order.Parse("bit-reversal", 8, 0)
	if err != nil {
		fmt.Println(err)
		return
	}
	for p := range ring.Len() {
		fmt.Print(ring.At(p), " ")
	}
	fmt.Println("and 8 stands at", ring.Position(8))
	// Output: 1 5 3 7 2 6 4 8 and 8 stands at 7
}

func TestNamedOrders(t *testing.T) {
	for _, test := range []struct {
		name string
		n    int
		want []uint64
	}{
		{"increasing", 1, []uint64{1}},
		{"increasing", 5, []uint64{1, 2, 3, 4, 5}},
		{"decreasing", 1, []uint64{1}},
		{"decreasing", 5, []uint64{5, 4, 3, 2, 1}},
		{"random", 1, []uint64{1}},
		{"bit-reversal", 1, []uint64{1}},
		{"bit-reversal", 2, []uint64{1, 2}},
		{"bit-reversal", 4, []uint64{1, 3, 2, 4}},
		{"bit-reversal", 16, []uint64{1, 9, 5, 13, 3, 11, 7, 15, 2, 10, 6, 14, 4, 12, 8, 16}},
	} {
		o := parse(t, test.name, test.n, 1)
		if got := all(o); !slices.Equal(got, test.want) {
			t.Errorf("%s of %d is %v, want %v", test.name, test.n, got, test.want)
		}
		if o.Name() != test.name {
			t.Errorf("%s is called %s", test.name, o.Name())
		}
	}
}

func TestErrorsAreOneLineThatNamesWhatWouldDo(t *testing.T) {
	for _, test := range []struct {
		name string
		n    int
		says string
	}{
		{"rising", 5, "increasing, decreasing, random, bit-reversal"},
		{"", 5, "increasing, decreasing, random, bit-reversal"},
		{"increasing", 0, "1 to 4294967295"},
		{"decreasing", -1, "1 to 4294967295"},
		{"random", 0, "1 to 4294967295"},
		{"random", math.MaxInt, "1 to 4294967295"},
		{"bit-reversal", 0, "1 to 4294967295"},
		{"bit-reversal", -8, "1 to 4294967295"},
		{"bit-reversal", 12, "a power of two, such as 8"},
	} {
		o, err := order.Parse(test.name, test.n, 1)
		if !errors.Is(err, order.ErrOrder) || o != nil {
			t.Errorf("%s of %d: %v, %v", test.name, test.n, o, err)
		} else if text := err.Error(); !strings.Contains(text, test.says) || strings.Contains(text, "\n") {
			t.Errorf("%s of %d: %q does not say %q in one line", test.name, test.n, text, test.says)
		}
	}
}

func TestOutsideIsRefused(t *testing.T) {
	for _, name := range order.Names {
		for _, n := range []int{8, 1 << 13} {
			o := parse(t, name, n, 1)
			for what, call := range map[string]func(){
				"At(-1)":           func() { o.At(-1) },
				"At(n)":            func() { o.At(n) },
				"Position(0)":      func() { o.Position(0) },
				"Position(n+1)":    func() { o.Position(uint64(n) + 1) },
				"Fill beyond n":    func() { o.Fill(make([]uint64, 2), n-1) },
				"Fill from before": func() { o.Fill(make([]uint64, 2), -1) },
			} {
				if !panics(call) {
					t.Errorf("%s of %d: %s is accepted", name, n, what)
				}
			}
		}
	}
}

func TestEveryOrderIsABijectionThatPositionInvertsAndFillRepeats(t *testing.T) {
	sizes := []int{4095, 4096, 4097, 5000, 8191, 8192, 8193, 1 << 14, 1<<16 + 1}
	for n := 1; n <= 130; n++ {
		sizes = append(sizes, n)
	}
	for _, n := range sizes {
		for _, name := range order.Names {
			for seed := range uint64(3) {
				if name == "bit-reversal" && n&(n-1) != 0 || name != "random" && seed > 0 {
					continue
				}
				o := parse(t, name, n, seed)
				ids := all(o)
				for p, id := range ids {
					if q := o.Position(id); (n < 200 || p%37 == 0) && q != p {
						t.Fatalf("%s of %d, seed %d: %d stands at %d, not at %d", name, n, seed, id, p, q)
					}
				}
				for _, from := range []int{0, n / 3, n - 1} {
					filled := make([]uint64, n-from)
					if o.Fill(filled, from); !slices.Equal(filled, ids[from:]) {
						t.Fatalf("%s of %d, seed %d: Fill from %d differs from At", name, n, seed, from)
					}
				}
				slices.Sort(ids)
				for i, id := range ids {
					if id != uint64(i)+1 {
						t.Fatalf("%s of %d, seed %d: no bijection at %d", name, n, seed, i+1)
					}
				}
			}
		}
	}
}

func TestAnOrderFromAnotherIdentifierOnIsTheSameOrder(t *testing.T) {
	for _, n := range []int{1, 2, 64, 4096, 1 << 13} {
		for _, name := range order.Names {
			o := parse(t, name, n, 3)
			for _, first := range []uint64{0, 1, 90, math.MaxUint64 - uint64(n) + 1} {
				moved, err := o.From(first)
				if err != nil {
					t.Fatal(err)
				}
				filled := make([]uint64, n)
				moved.Fill(filled, 0)
				for p := range n {
					id := o.At(p) - 1 + first
					if moved.At(p) != id || filled[p] != id || p%37 == 0 && moved.Position(id) != p {
						t.Fatalf("%s of %d from %d on: %d and %d at position %d, not %d", name, n, first, moved.At(p), filled[p], p, id)
					}
				}
				if moved.Dense() != (first == 1) || moved.Len() != n || moved.Name() != name {
					t.Errorf("%s of %d from %d on: dense %v", name, n, first, moved.Dense())
				}
			}
			if _, err := o.From(math.MaxUint64 - uint64(n) + 2); n > 1 && !errors.Is(err, order.ErrOrder) {
				t.Errorf("identifiers beyond 2^64: %v", err)
			}
		}
	}
}

func TestTheLargestOrdersAreInverted(t *testing.T) {
	for _, name := range order.Names {
		n := min(order.MaxLen, math.MaxInt)
		if name == "bit-reversal" {
			n = min(1<<31, 1<<(strconv.IntSize-2))
		}
		o := parse(t, name, n, 5)
		for p := 0; p < n; p += n / 1000 {
			id := o.At(p)
			if id < 1 || id > uint64(n) || o.Position(id) != p {
				t.Fatalf("%s: %d stands at %d, not at %d", name, id, p, o.Position(id))
			}
		}
	}
}

func parse(t testing.TB, name string, n int, seed uint64) *order.Order {
	t.Helper()
	o, err := order.Parse(name, n, seed)
	if err != nil {
		t.Fatal(err)
	}
	return o
}

func all(o *order.Order) []uint64 {
	ids := make([]uint64, o.Len())
	for p := range ids {
		ids[p] = o.At(p)
	}
	return ids
}

func panics(call func()) (yes bool) {
	defer func() { yes = recover() != nil }()
	call()
	return false
}

func BenchmarkFill(b *testing.B) {
	ids := make([]uint64, 4096)
	for _, n := range []int{4096, 1 << 20, 1e9, 1<<30 + 1} { // a table; no walks; the usual; two evaluations an identifier
		b.Run(fmt.Sprint("n=", n), func(b *testing.B) {
			o := parse(b, "random", n, 1)
			from := 0
			for b.Loop() {
				o.Fill(ids, from)
				from = (from + len(ids)) % (n - len(ids) + 1)
			}
			b.ReportMetric(float64(b.Elapsed().Nanoseconds())/float64(b.N)/float64(len(ids)), "ns/identifier")
		})
	}
}
