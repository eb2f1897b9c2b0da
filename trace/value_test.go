package trace_test

import (
	"errors"
	"slices"
	"testing"

	"ringleader.example/ringleader/election"
	"ringleader.example/ringleader/trace"
)

func TestAFieldOfAValueIsReadByItsName(t *testing.T) {
	v := trace.Value{
		Is: struct {
			ID     election.ID
			Hops   uint8
			List   []election.ID
			hidden int
		}{2, 7, []election.ID{1, 2}, 1},
		RealOf: func(id election.ID) uint64 { return 10 * uint64(id) },
	}
	if id, err := v.Identifier("ID"); id != 20 || err != nil {
		t.Errorf("ID: %d, %v; want 20, as it was given", id, err)
	}
	if hops, err := trace.Field[int](v, "Hops"); hops != 7 || err != nil {
		t.Errorf("Hops: %d, %v", hops, err)
	}
	if list, err := trace.Field[[]election.ID](v, "List"); !slices.Equal(list, []election.ID{1, 2}) || err != nil {
		t.Errorf("List: %d, %v", list, err)
	}
	for _, name := range []string{"hidden", "Phase", "List"} {
		if _, err := trace.Field[int](v, name); !errors.Is(err, trace.ErrField) {
			t.Errorf("%s as a number: %v", name, err)
		}
	}
	for _, other := range []trace.Value{{}, {Is: 7}} {
		if _, err := other.Identifier("ID"); !errors.Is(err, trace.ErrField) {
			t.Errorf("the ID of %v: %v", other.Is, err)
		}
	}
}
