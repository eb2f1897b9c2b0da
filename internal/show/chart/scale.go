package chart

import (
	"fmt"
	"math"
	"slices"
	"strings"
)

// scale maps values to places on the drawing.
type scale struct {
	log       bool
	low, high float64 // values, or their logarithms
	from, to  float64 // where these are
	ticks     []tick
}

type tick struct {
	value float64
	name  string // empty: a line only
}

// scale returns a scale that shows all these values.
func (a *Axis) scale(values []float64) (scale, error) {
	s := scale{log: a.Log}
	values = slices.DeleteFunc(values, func(v float64) bool {
		return math.IsNaN(v) || math.IsInf(v, 0) || a.Log && v <= 0
	})
	if len(values) == 0 {
		return s, fmt.Errorf("%w: no number fits the axis of %s", ErrEmpty, a.Name)
	}
	least, most := slices.Min(values), slices.Max(values)
	if s.log {
		s.low, s.high = math.Log10(least), math.Log10(most)
	} else {
		s.low, s.high = min(0, least), most
	}
	room := 0.06 * (s.high - s.low)
	if room == 0 {
		room = max(0.3, 0.1*math.Abs(s.high))
	}
	if s.high += room; s.log || s.low < 0 {
		s.low -= room
	}
	switch {
	case a.Ticks != nil:
		for _, v := range a.Ticks {
			if !s.log || v > 0 {
				s.ticks = append(s.ticks, tick{v, number(v)})
			}
		}
	case s.log:
		s.ticks = s.decades()
	default:
		s.ticks = s.round()
	}
	s.ticks = slices.DeleteFunc(s.ticks, func(t tick) bool { v := s.of(t.value); return v < s.low || v > s.high })
	return s, nil
}

func (s *scale) of(v float64) float64 {
	if s.log {
		return math.Log10(v)
	}
	return v
}

// at returns the place of a value on the drawing.
func (s *scale) at(v float64) float64 {
	return s.from + (s.of(v)-s.low)/(s.high-s.low)*(s.to-s.from)
}

// decades returns the powers of ten; if there are few, also 2 and 5 times these, and if there are many, some of them.
// Less than one decade is marked as a linear axis.
func (s *scale) decades() (ticks []tick) {
	if s.high-s.low < 0.8 {
		linear := scale{low: math.Pow(10, s.low), high: math.Pow(10, s.high)}
		return linear.round()
	}
	step := max(1, math.Ceil((s.high-s.low)/10))
	factors := []float64{1}
	if s.high-s.low < 3.2 {
		factors = []float64{1, 2, 5}
	}
	for k := math.Floor(s.low/step) * step; k <= s.high; k += step {
		for _, factor := range factors {
			v := factor * math.Pow(10, k)
			ticks = append(ticks, tick{v, number(v)})
		}
	}
	return ticks
}

// round returns multiples of 1, 2 or 5 times a power of ten.
func (s *scale) round() (ticks []tick) {
	step := math.Pow(10, math.Floor(math.Log10((s.high-s.low)/4)))
	for _, factor := range []float64{5, 2} {
		if (s.high-s.low)/(factor*step) >= 4 {
			step *= factor
			break
		}
	}
	for k := math.Ceil(s.low / step); k*step <= s.high; k++ {
		ticks = append(ticks, tick{k * step, grouped(k * step)})
	}
	return ticks
}

// number returns a large or small number as a power of ten, and any other in groups of digits.
func number(v float64) string {
	exponent := math.Round(math.Log10(v))
	if v > 0 && (exponent > 4 || exponent < -4) && math.Abs(v/math.Pow(10, exponent)-1) < 1e-9 {
		return "10" + raised(int(exponent))
	}
	return grouped(v)
}

// grouped returns a number in groups of three digits, up to a readable size.
func grouped(v float64) string {
	if math.Abs(v) >= 1e9 {
		mantissa := math.Pow(10, math.Floor(math.Log10(math.Abs(v))))
		return fmt.Sprintf("%.3g·10%s", v/mantissa, raised(int(math.Round(math.Log10(mantissa)))))
	}
	text := strings.TrimRight(strings.TrimRight(fmt.Sprintf("%.6f", v), "0"), ".")
	whole, rest, _ := strings.Cut(text, ".")
	sign := ""
	if whole[0] == '-' {
		sign, whole = "−", whole[1:]
	}
	for i := len(whole) - 3; i > 0; i -= 3 {
		whole = whole[:i] + "\u2009" + whole[i:] // a thin space
	}
	if rest != "" {
		whole += "." + rest
	}
	return sign + whole
}

// raised returns a number in superscript.
func raised(i int) string {
	return strings.Map(func(r rune) rune {
		if r == '-' {
			return '⁻'
		}
		return []rune("⁰¹²³⁴⁵⁶⁷⁸⁹")[r-'0']
	}, fmt.Sprint(i))
}
