package order_test

import (
	"reflect"
	"testing"

	"ringleader.example/ringleader/order"
)

func TestArrangeMakesStepsOfNext(t *testing.T) {
	ids := []uint64{5, 4, 3, 2, 1}
	for steps, more := uint64(0), true; more; steps, more = steps+1, order.Next(ids) {
		got := []uint64{5, 4, 3, 2, 1}
		if order.Arrange(got, steps); !reflect.DeepEqual(got, ids) {
			t.Fatalf("%d steps: %v, want %v", steps, got, ids)
		}
	}
}

func TestNextListsEveryOrderOnce(t *testing.T) {
	ids, seen := []uint64{4, 3, 2, 1}, map[[4]uint64]bool{}
	for more := true; more; more = order.Next(ids) {
		seen[[4]uint64(ids)] = true
	}
	if len(seen) != 24 {
		t.Errorf("%d orders of 4", len(seen))
	}
}
