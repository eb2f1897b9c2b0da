package count

import (
	"context"
	"testing"

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
		s := newScan(n, func([]distances) {})
		highest := 0
		for i := range n {
			s.next([]uint64{o.At((leader + 1 + i) % n)})
			highest = max(highest, len(s.stack))
		}
		if highest > 60 {
			t.Errorf("%s: the stack is %d high", name, highest)
		}
		if len(s.stack) != 1 || s.top.id != n {
			t.Errorf("%s: the leader pops all but %d", name, len(s.stack))
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
		if _, err := survey(context.Background(), o, nil, func(batch []distances) { seen += len(batch) }); err != nil || seen != n {
			t.Errorf("%d of %d, %v", seen, n, err)
		}
	}
}
