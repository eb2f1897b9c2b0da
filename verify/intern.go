package verify

import (
	"reflect"

	"ringleader.example/ringleader/election"
	"ringleader.example/ringleader/internal/codec"
)

// interner numbers the values of one plain type: equal values have equal numbers, the first is 0. So a configuration
// is a few numbers, and a step is computed once for each number.
type interner[T any] struct {
	plan    *codec.Plan
	values  []T // by number; never written
	numbers map[string]uint32
	buffer  []byte
}

func newInterner[T any]() (*interner[T], error) {
	plan, err := codec.Of(reflect.TypeFor[T](), true)
	return &interner[T]{plan: plan, numbers: map[string]uint32{}}, err
}

// number returns the number of a value when some time has passed since its deadlines were made.
func (t *interner[T]) number(value *T, passed election.Ticks) uint32 {
	t.buffer = t.plan.Append(t.buffer[:0], codec.At(value), passed)
	if number, found := t.numbers[string(t.buffer)]; found {
		return number
	}
	var own T // shares no slice with the value
	if _, err := t.plan.Decode(t.buffer, codec.At(&own), election.Ticks{}); err != nil {
		panic("verify: a value does not decode: " + err.Error())
	}
	number := uint32(len(t.values))
	t.values, t.numbers[string(t.buffer)] = append(t.values, own), number
	return number
}
