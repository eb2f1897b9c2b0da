package property

import (
	"fmt"
	"slices"
)

// Generator makes values.
type Generator[V any] struct{ draw func(*T) V }

// Draw makes a value. A failure shows it with its label.
func (g *Generator[V]) Draw(t *T, label string) V {
	t.nested++
	value := g.draw(t)
	if t.nested--; t.nested == 0 && t.source == nil {
		t.drawn = append(t.drawn, fmt.Sprintf("%s: %+v", label, value))
	}
	return value
}

// Custom makes values with a function.
func Custom[V any](draw func(*T) V) *Generator[V] { return &Generator[V]{draw} }

// Bool makes truths.
func Bool() *Generator[bool] { return Custom(func(t *T) bool { return t.pick(1) == 1 }) }

// Byte makes bytes.
func Byte() *Generator[byte] { return Custom(func(t *T) byte { return byte(t.pick(255)) }) }

// IntRange makes numbers from least to most.
func IntRange(least, most int) *Generator[int] {
	return Custom(func(t *T) int { return least + int(t.pick(uint64(most-least))) })
}

// Int64 makes numbers. The smallest ones are those near 0.
func Int64() *Generator[int64] {
	return Custom(func(t *T) int64 {
		n := t.pick(1<<64 - 1)
		return int64(n>>1) ^ -int64(n&1)
	})
}

// Uint64 makes numbers.
func Uint64() *Generator[uint64] { return Uint64Range(0, 1<<64-1) }

// Uint64Range makes numbers from least to most.
func Uint64Range(least, most uint64) *Generator[uint64] {
	return Custom(func(t *T) uint64 { return least + t.pick(most-least) })
}

// Float64Range makes numbers from least to most.
func Float64Range(least, most float64) *Generator[float64] {
	return Custom(func(t *T) float64 { return least + (most-least)*(float64(t.pick(1<<53))/(1<<53)) })
}

// SampledFrom makes one of some values. The smallest one is the first.
func SampledFrom[V any](values []V) *Generator[V] {
	return Custom(func(t *T) V { return values[t.pick(uint64(len(values)-1))] })
}

// OneOf makes a value with one of some generators. The smallest ones are those of the first.
func OneOf[V any](generators ...*Generator[V]) *Generator[V] {
	return Custom(func(t *T) V { return SampledFrom(generators).draw(t).draw(t) })
}

// SliceOf makes slices of a few values.
func SliceOf[V any](of *Generator[V]) *Generator[[]V] { return SliceOfN(of, 0, 20) }

// SliceOfN makes slices of least to most values.
func SliceOfN[V any](of *Generator[V], least, most int) *Generator[[]V] {
	return Custom(func(t *T) []V {
		values := make([]V, least+int(t.pick(uint64(most-least))))
		for i := range values {
			values[i] = of.draw(t)
		}
		return values
	})
}

// Distinct makes slices of least to most values that differ.
func Distinct[V comparable](of *Generator[V], least, most int) *Generator[[]V] {
	return Custom(func(t *T) (values []V) {
		n := least + int(t.pick(uint64(most-least)))
		for tries := 0; len(values) < n; tries++ {
			if v := of.draw(t); !slices.Contains(values, v) {
				values = append(values, v)
			} else if tries > 100*n {
				t.Skip()
			}
		}
		return values
	})
}

// Permutation makes orders of some values. The smallest one is their own.
func Permutation[V any](values []V) *Generator[[]V] {
	return Custom(func(t *T) []V {
		all := slices.Clone(values)
		for i := range all[:max(len(all), 1)-1] {
			j := i + int(t.pick(uint64(len(all)-1-i)))
			all[i], all[j] = all[j], all[i]
		}
		return all
	})
}
