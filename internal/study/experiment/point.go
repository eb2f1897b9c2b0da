package experiment

import (
	"fmt"
	"math"
	"math/big"
	"strings"
)

// How is the method by which the messages of a run were found.
type How string

// From a proof to a sample.
const (
	Counted       How = "counted exactly" // by a closed form
	SimulatedOnce How = "simulated once"  // which is enough, because counts do not depend on the schedule
	Simulated     How = "simulated"       // the schedule, or the choices of processes, may matter
)

// Point is the total cost of all runs of an algorithm at one size and order.
type Point struct {
	Algorithm    string `json:"algorithm"`
	N            int    `json:"n"`
	Order        string `json:"order,omitempty"` // empty if it has no meaning
	How          How    `json:"how"`             // each of the runs
	Varies       bool   `json:"varies"`          // runs may differ: their mean is an average over orders, schedules or choices
	Election     Sum    `json:"election"`
	Announcement Sum    `json:"announcement"`
	Elected      *Sum   `json:"elected"` // units of delay until the leader decides, of some of the runs; nil where unknown
	Quiet        *Sum   `json:"quiet"`   // until the last message has arrived
}

// Runs returns the number of runs.
func (p *Point) Runs() uint64 { return p.Election.Runs }

// Sampled reports whether the runs are some of many.
func (p *Point) Sampled() bool { return p.Varies && p.Order != AllOrders }

// join adds other runs of the same point.
func (p *Point) join(q *Point) {
	p.Election.join(&q.Election)
	p.Announcement.join(&q.Announcement)
	switch {
	case q.Elected == nil:
	case p.Elected == nil:
		p.Elected, p.Quiet = q.Elected, q.Quiet
	default:
		p.Elected.join(q.Elected)
		p.Quiet.join(q.Quiet)
	}
}

// whole reports whether the point is complete, and its numbers are possible.
func (p *Point) whole() bool {
	if !p.Election.whole() || !p.Announcement.whole() || p.Election.Runs != p.Announcement.Runs {
		return false
	}
	if p.Elected == nil || p.Quiet == nil {
		return p.Elected == p.Quiet
	}
	return p.Elected.whole() && p.Quiet.whole() && p.Elected.Runs == p.Quiet.Runs && p.Elected.Runs <= p.Runs()
}

// key identifies a point of a study.
func (p *Point) key() string { return fmt.Sprintf("%s at %d, %s", p.Algorithm, p.N, p.Order) }

// Describe returns in words how the point was found.
func (p *Point) Describe() string {
	if !p.Varies {
		return string(p.How)
	}
	if p.Order == AllOrders {
		return fmt.Sprintf("mean of all %d orders up to rotation, each %s", p.Runs(), p.How)
	}
	of := "orders"
	if p.Order != "random" {
		of = "runs"
	}
	if p.Runs() == 1 {
		return fmt.Sprintf("one of all %s, %s", of, p.How)
	}
	return fmt.Sprintf("mean of %d %s, each %s", p.Runs(), of, p.How)
}

// Sum is the total cost of runs. It is exact, so the order of runs does not matter.
type Sum struct {
	Runs    uint64   `json:"runs"`
	Total   *big.Int `json:"total"`
	Squares *big.Int `json:"squares"` // the sum of the squares
	Least   *big.Int `json:"least"`
	Most    *big.Int `json:"most"`
}

// add adds a run.
func (s *Sum) add(x *big.Int) {
	if s.Total == nil {
		*s = Sum{0, new(big.Int), new(big.Int), x, x}
	}
	s.Runs++
	s.Total.Add(s.Total, x)
	s.Squares.Add(s.Squares, new(big.Int).Mul(x, x))
	if x.Cmp(s.Least) < 0 {
		s.Least = x
	}
	if x.Cmp(s.Most) > 0 {
		s.Most = x
	}
}

// join adds other runs.
func (s *Sum) join(t *Sum) {
	if s.Runs == 0 {
		*s = *t
		return
	}
	s.Runs += t.Runs
	s.Total = new(big.Int).Add(s.Total, t.Total)
	s.Squares = new(big.Int).Add(s.Squares, t.Squares)
	if t.Least.Cmp(s.Least) < 0 {
		s.Least = t.Least
	}
	if t.Most.Cmp(s.Most) > 0 {
		s.Most = t.Most
	}
}

// whole reports whether the sum is possible. The sum of squares is least if all values are equal.
func (s *Sum) whole() bool {
	if s.Runs == 0 || s.Total == nil || s.Squares == nil || s.Least == nil || s.Most == nil || s.Least.Sign() < 0 {
		return false
	}
	runs := new(big.Int).SetUint64(s.Runs)
	return new(big.Int).Mul(s.Least, runs).Cmp(s.Total) <= 0 && new(big.Int).Mul(s.Most, runs).Cmp(s.Total) >= 0 &&
		new(big.Int).Mul(s.Squares, runs).Cmp(new(big.Int).Mul(s.Total, s.Total)) >= 0
}

// Mean returns the mean of the runs.
func (s *Sum) Mean() *big.Rat {
	return new(big.Rat).SetFrac(s.Total, new(big.Int).SetUint64(s.Runs))
}

// StandardError returns the standard error of the mean; 0 for one run, which determines none.
func (s *Sum) StandardError() float64 {
	if s.Runs < 2 {
		return 0
	}
	k := new(big.Int).SetUint64(s.Runs)
	variance := new(big.Int).Mul(s.Squares, k) // k²(k-1) times the square of the standard error
	variance.Sub(variance, new(big.Int).Mul(s.Total, s.Total))
	below := new(big.Int).Mul(new(big.Int).Mul(k, k), new(big.Int).SetUint64(s.Runs-1))
	square, _ := new(big.Rat).SetFrac(variance, below).Float64()
	return math.Sqrt(square)
}

// HalfWidth returns half the width of the 95 % confidence interval, after Student.
func (s *Sum) HalfWidth() float64 { return student(s.Runs-1) * s.StandardError() }

// Confidence is the probability that the interval contains the mean of all runs.
const Confidence = 0.95

// student returns the 97.5 % quantile of Student's distribution with that many degrees of freedom, or with the next
// smaller number in the table.
func student(degrees uint64) float64 {
	table := []struct {
		degrees  uint64
		quantile float64
	}{
		{1, 12.706},
		{2, 4.303},
		{3, 3.182},
		{4, 2.776},
		{5, 2.571},
		{6, 2.447},
		{7, 2.365},
		{8, 2.306},
		{9, 2.262},
		{10, 2.228},
		{12, 2.179},
		{15, 2.131},
		{20, 2.086},
		{30, 2.042},
		{60, 2.000},
		{120, 1.980},
		{1000, 1.962},
	}
	quantile := 0.0
	for _, row := range table {
		if degrees >= row.degrees {
			quantile = row.quantile
		}
	}
	return quantile
}

// reached reports whether the interval is at most the given multiple of the mean.
func (s *Sum) reached(until *big.Rat) bool {
	mean, _ := new(big.Rat).Mul(s.Mean(), until).Float64()
	return s.HalfWidth() <= mean
}

// Decimal returns a number with at most the given number of decimals, and no more than it needs.
func Decimal(r *big.Rat, digits int) string {
	text := r.FloatString(digits)
	if strings.Contains(text, ".") {
		text = strings.TrimRight(strings.TrimRight(text, "0"), ".")
	}
	return text
}
