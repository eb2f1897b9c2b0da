package experiment

import (
	"fmt"
	"math"
	"math/big"
	"slices"
)

// Growth is the growth of messages and time of a protocol by S5's theorem 5.1, on a ring of n with smallest
// identifier 1.
type Growth struct {
	Phases   func(n float64) float64 // messages are O(n · that)
	Messages string
	Time     func(n float64) float64
	TimeText string
}

// growth returns S5's statement about an algorithm; nil if none can be fitted.
func (s *Subject) growth() *Growth {
	value := func(name string) float64 {
		exact, _ := new(big.Rat).SetString(s.Parameters.Text(name))
		v, _ := exact.Float64()
		return v
	}
	switch s.Name {
	case "stop-and-go-p1":
		c := value("c")
		return &Growth{
			func(n float64) float64 { return math.Log2(n) / math.Log2(c) }, "lg n / lg c",
			func(n float64) float64 { return c * n }, "c·n·i",
		}
	case "stop-and-go-p2":
		c, a := value("c"), value("a")
		return &Growth{
			func(n float64) float64 { return math.Log2(math.Log2(n)/math.Log2(c)) / math.Log2(a) }, "log_a log_c n",
			func(n float64) float64 { return math.Pow(n, a) }, "n^a·i",
		}
	case "stop-and-go-p3":
		return &Growth{
			func(n float64) float64 { return math.Log2(math.Log2(math.Log2(n))) }, "lg lg lg n",
			func(n float64) float64 { return math.Pow(n, math.Log2(n)) }, "n^(lg n)·i",
		}
	case "stop-and-go-p4":
		epsilon := value("epsilon")
		return &Growth{
			iterated, "lg* n",
			func(n float64) float64 { return math.Pow(2, math.Pow(n, epsilon)) }, "2^(n^ε)·i",
		}
	}
	return nil
}

// iterated returns lg* n: the number of logarithms until the result is at most 1.
func iterated(n float64) float64 {
	times := 0.0
	for ; n > 1; n = math.Log2(n) {
		times++
	}
	return times
}

// Fit is theorem 5.1 with constants: messages, with the announcement, are about n·(Base + Slope·Phases), and never
// more than Most·n·Phases if that is at least 1; the time until the leader leads is at most Time times the claim.
// Constants that so few points do not determine are nil.
type Fit struct {
	Algorithm, Order  string
	Growth            *Growth
	From, To          int // sizes
	Base, Slope, Most *float64
	Time              *float64
}

// Fits returns the fits of all algorithms with a growth by S5.
func (s *Study) Fits(points []*Point) []Fit {
	var fits []Fit
	for _, name := range s.Orders {
		for _, subject := range s.Subjects {
			if g := subject.growth(); g != nil {
				of := slices.DeleteFunc(slices.Clone(points), func(p *Point) bool { return p.Algorithm != subject.Label || p.Order != name })
				fits = append(fits, fit(g, of))
			}
		}
	}
	return fits
}

// fit fits the constants to the points of one algorithm, in the order of their sizes.
func fit(g *Growth, points []*Point) Fit {
	f := Fit{
		Algorithm: points[0].Algorithm, Order: points[0].Order, Growth: g,
		From: points[0].N, To: points[len(points)-1].N,
	}
	var phases, each []float64
	for _, p := range points {
		n := float64(p.N)
		messages := toFloat(new(big.Rat).Add(p.Election.Mean(), p.Announcement.Mean()))
		if x := g.Phases(n); x >= 0 && !math.IsInf(x, 0) {
			phases, each = append(phases, x), append(each, messages/n)
			if x >= 1 {
				f.Most = most(f.Most, messages/(n*x))
			}
		}
		if p.Elected != nil && p.N > 1 {
			if ratio := toFloat(p.Elected.Mean()) / g.Time(n); !math.IsInf(ratio, 0) && !math.IsNaN(ratio) {
				f.Time = most(f.Time, ratio)
			}
		}
	}
	f.Base, f.Slope = leastSquares(phases, each)
	return f
}

// leastSquares returns the line base + slope·x through the points; nil if all have the same x.
func leastSquares(x, y []float64) (base, slope *float64) {
	if len(x) == 0 || slices.Max(x) == slices.Min(x) {
		return nil, nil
	}
	n := float64(len(x))
	mean := func(of func(i int) float64) (sum float64) {
		for i := range x {
			sum += of(i)
		}
		return sum / n
	}
	mx, my := mean(func(i int) float64 { return x[i] }), mean(func(i int) float64 { return y[i] })
	s := mean(func(i int) float64 { return (x[i] - mx) * (y[i] - my) }) / mean(func(i int) float64 { return (x[i] - mx) * (x[i] - mx) })
	b := my - s*mx
	return &b, &s
}

func most(so *float64, far float64) *float64 {
	if so != nil && *so >= far {
		return so
	}
	return &far
}

func toFloat(r *big.Rat) float64 {
	f, _ := r.Float64()
	return f
}

// String returns the fit as one line.
func (f *Fit) String() string {
	text := f.Algorithm + ": messages"
	if f.Slope != nil {
		text += fmt.Sprintf(" ≈ n·(%.3g + %.3g·%s)", *f.Base, *f.Slope, f.Growth.Messages)
	}
	if f.Most != nil {
		text += fmt.Sprintf(" ≤ %.3g·n·%s", *f.Most, f.Growth.Messages)
	}
	if f.Slope == nil && f.Most == nil {
		text += ": too few sizes to fit n·" + f.Growth.Messages
	}
	if f.Time != nil {
		text += fmt.Sprintf("; time ≤ %.3g·%s", *f.Time, f.Growth.TimeText)
	}
	return text
}
