package model

import (
	"crypto/sha256"
	"encoding/binary"
	"reflect"

	"ringleader.example/ringleader/election"
	"ringleader.example/ringleader/internal/core/codec"
)

// interner numbers the values of one plain type: equal values have equal numbers, the first is 0. So a configuration
// is a few numbers, and a step is computed once for each number.
type interner[T any] struct {
	plan    *codec.Plan
	Values  []T           // by number; never written
	Prints  []Fingerprint // by number: of the value's portable encoding
	numbers map[string]uint32
	buffer  []byte

	// portable appends an encoding that depends on the value alone. A value that holds numbers of other interners
	// needs one of its own, because numbers depend on the order in which values were found.
	portable func(dst []byte, value *T) []byte
}

func newInterner[T any]() (*interner[T], error) {
	plan, err := codec.Of(reflect.TypeFor[T](), true)
	t := &interner[T]{plan: plan, numbers: map[string]uint32{}}
	t.portable = t.encode
	return t, err
}

func (t *interner[T]) encode(dst []byte, value *T) []byte {
	return t.plan.Append(dst, codec.At(value), election.Ticks{})
}

// Number returns the number of a value when some time has passed since its deadlines were made.
func (t *interner[T]) Number(value *T, passed election.Ticks) uint32 {
	t.buffer = t.plan.Append(t.buffer[:0], codec.At(value), passed)
	if number, found := t.numbers[string(t.buffer)]; found {
		return number
	}
	var own T // shares no slice with the value
	if _, err := t.plan.Decode(t.buffer, codec.At(&own), election.Ticks{}); err != nil {
		panic("verify: a value does not decode: " + err.Error())
	}
	number := uint32(len(t.Values))
	t.Values, t.numbers[string(t.buffer)] = append(t.Values, own), number
	t.buffer = t.portable(t.buffer[:0], &own)
	print := sha256.Sum256(t.buffer)
	t.Prints = append(t.Prints, Fingerprint{binary.LittleEndian.Uint64(print[:]), binary.LittleEndian.Uint64(print[8:])})
	return number
}

// memo is a table of what was computed before: a number for each key of two words. A map does the same in four times
// the time, and every transition looks here several times.
type memo struct {
	keys    [][2]uint64
	numbers []uint32 // one more than the number; 0 is an empty place
	used    int
}

// find returns the place of a key, and whether it is there. The table is not full.
func (m *memo) find(key [2]uint64) (place uint64, found bool) {
	last := uint64(len(m.keys) - 1)
	for place = fold(key[0]^0x9E3779B97F4A7C15, key[1]^0xD1B54A32D192ED03) & last; m.numbers[place] != 0; place = (place + 1) & last {
		if m.keys[place] == key {
			return place, true
		}
	}
	return place, false
}

func (m *memo) get(a, b uint64) (number uint32, found bool) {
	if m.used == 0 {
		return 0, false
	}
	place, found := m.find([2]uint64{a, b})
	return m.numbers[place] - 1, found
}

// put adds a number for a key that has none.
func (m *memo) put(a, b uint64, number uint32) {
	if 4*m.used >= 3*len(m.keys) {
		old := *m
		size := max(64, 2*len(old.keys))
		m.keys, m.numbers = make([][2]uint64, size), make([]uint32, size)
		for i, n := range old.numbers {
			if n != 0 {
				place, _ := m.find(old.keys[i])
				m.keys[place], m.numbers[place] = old.keys[i], n
			}
		}
	}
	place, _ := m.find([2]uint64{a, b})
	m.keys[place], m.numbers[place] = [2]uint64{a, b}, number+1
	m.used++
}
