package order_test

import (
	"errors"
	"slices"
	"testing"

	"ringleader.example/ringleader/election"
	"ringleader.example/ringleader/order"
)

// repeats declares an algorithm that accepts rings of so many different identifiers.
func repeats(different int) *election.Declaration {
	return &election.Declaration{AllowDuplicates: func(ids election.Arrangement) error {
		seen := map[uint64]bool{}
		for q := range ids.Len() {
			seen[ids.At(q)] = true
		}
		if len(seen) != different {
			return errors.New("another number")
		}
		return nil
	}}
}

func TestIdentifiersAreMadeEqualForAnAlgorithmThatAcceptsNoOthers(t *testing.T) {
	const top = 1<<64 - 4
	for _, c := range []struct {
		by         *election.Declaration
		first      uint64
		ids, wants []uint64
	}{
		{&election.Declaration{}, 1, []uint64{2, 4, 1, 3}, []uint64{2, 4, 1, 3}},
		{repeats(2), 1, []uint64{2, 4, 1, 3}, []uint64{1, 2, 1, 1}},
		{repeats(3), 1, []uint64{2, 4, 1, 3}, []uint64{1, 3, 1, 2}},
		{repeats(4), 1, []uint64{2, 4, 1, 3}, []uint64{2, 4, 1, 3}},
		{repeats(2), 0, []uint64{1, 0, 2, 3}, []uint64{0, 0, 0, 1}},
		{repeats(3), top, []uint64{top + 3, top, top + 1, top + 2}, []uint64{top + 2, top, top, top + 1}},
		{repeats(2), 7, []uint64{8, 7}, []uint64{8, 7}},
		{repeats(3), 7, []uint64{8, 7}, []uint64{8, 7}},
		{repeats(2), 7, []uint64{7}, []uint64{7}},
		{repeats(2), 1, nil, nil},
	} {
		ring := order.Accepted(c.by, election.List(c.ids), c.first)
		var got []uint64
		for q := range ring.Len() {
			got = append(got, ring.At(q))
		}
		if !slices.Equal(got, c.wants) {
			t.Errorf("%v: %v, not %v", c.ids, got, c.wants)
		}
	}
}

func TestARingOfEqualIdentifiersIsNotDense(t *testing.T) {
	four, err := order.Random(4, 1)
	two, failed := order.Random(2, 1)
	if err != nil || failed != nil {
		t.Fatal(err, failed)
	}
	if order.Accepted(repeats(2), four, 1).Dense() || !order.Accepted(repeats(2), two, 1).Dense() {
		t.Error("identifiers are 1 … n for two of two, and for no other number")
	}
}
