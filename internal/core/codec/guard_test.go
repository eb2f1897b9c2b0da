package codec

import (
	"reflect"
	"slices"
	"testing"

	"ringleader.example/ringleader/election"
)

type nested struct {
	Flat  []uint16
	Empty []uint64
	Deep  [][]bool
	Pair  [2]struct{ List []uint8 }
}

// roomy returns a value whose lists have room, but for one.
func roomy() nested {
	return nested{
		Flat: append(make([]uint16, 0, 9), 1, 2), Empty: make([]uint64, 0, 4), Deep: [][]bool{{true}, {}, {false, true}},
		Pair: [2]struct{ List []uint8 }{{[]uint8{7}}, {}},
	}
}

// Each way to write into a list is seen, and what is no write into one is not.
func TestAGuardSeesEveryWriteIntoAList(t *testing.T) {
	for name, test := range map[string]struct {
		write           func(n *nested)
		element, beyond bool
	}{
		"nothing":                  {write: func(*nested) {}},
		"an element":               {func(n *nested) { n.Flat[1] = 3 }, true, false},
		"a deep element":           {func(n *nested) { n.Deep[2][0] = true }, true, false},
		"a list within a list":     {func(n *nested) { n.Deep[0] = nil }, true, false},
		"an element in an array":   {func(n *nested) { n.Pair[0].List[0]++ }, true, false},
		"an append":                {func(n *nested) { n.Flat = append(n.Flat, 3) }, false, true},
		"an append of zero":        {func(n *nested) { n.Flat = append(n.Flat, 0) }, false, true},
		"an append of many":        {func(n *nested) { n.Flat = append(n.Flat, make([]uint16, leastRoom)...) }, false, true},
		"an append to none":        {func(n *nested) { n.Empty = append(n.Empty, 1) }, false, true},
		"a deep append":            {func(n *nested) { _ = append(n.Deep[0], true) }, false, true},
		"an append of a list":      {func(n *nested) { n.Deep = append(n.Deep, []bool{true}) }, false, true},
		"a clipped append":         {write: func(n *nested) { n.Flat = append(slices.Clip(n.Flat), 3) }},
		"an append to nothing":     {write: func(n *nested) { n.Pair[1].List = append(n.Pair[1].List, 3) }},
		"another list":             {write: func(n *nested) { n.Flat, n.Deep = []uint16{5}, nil }},
		"an append to another one": {write: func(n *nested) { n.Flat = append(append(slices.Clip(n.Flat), 3), 4) }},
	} {
		plan, err := Of(reflect.TypeFor[nested](), false)
		if err != nil {
			t.Fatal(err)
		}
		var g Guard
		for range 3 { // the room is used again
			original := roomy()
			n := original
			g.Clear()
			if g.Add(plan, At(&n)); !reflect.DeepEqual(n, original) {
				t.Fatalf("guarded: %v, not %v", n, original)
			}
			test.write(&n)
			if element, beyond := g.Written(); element != test.element || beyond != test.beyond {
				t.Errorf("%s: written %v, beyond %v", name, element, beyond)
			}
			if !reflect.DeepEqual(original, roomy()) {
				t.Fatalf("%s: the original became %v", name, original)
			}
		}
	}
}

// A copy has room where the original has, behind lists without elements.
func TestACopyHasTheRoomOfEmptyLists(t *testing.T) {
	plan, err := Of(reflect.TypeFor[nested](), false)
	if err != nil {
		t.Fatal(err)
	}
	original := roomy()
	original.Deep[1] = make([]bool, 0, 2)
	n := plan.Copy(At(&original), election.Ticks{}).(nested)
	plan.Room(At(&n), At(&original))
	if cap(n.Empty) == 0 || cap(n.Deep[1]) == 0 || cap(n.Pair[1].List) != 0 {
		t.Errorf("room for %d, %d and %d elements; want some, some and none", cap(n.Empty), cap(n.Deep[1]), cap(n.Pair[1].List))
	}
}
