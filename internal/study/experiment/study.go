// Package experiment measures the costs of algorithms on the same networks, over sizes and orders of identifiers:
// exactly with a closed form, by one run if no schedule matters, and otherwise as an average with its confidence
// interval. A seed determines the numbers: [Measuring] makes pieces of runs of a study, which merge exactly.
package experiment

import (
	"cmp"
	"errors"
	"fmt"
	"math/big"
	"math/bits"
	"slices"
	"strconv"
	"strings"

	"ringleader.example/ringleader/election"
	"ringleader.example/ringleader/network"
	"ringleader.example/ringleader/order"
)

// ErrStudy reports that a study is impossible; the text names the reason, and what is possible.
var ErrStudy = errors.New("cannot compare")

// Study is a comparison of algorithms.
type Study struct {
	Subjects []*Subject
	Sizes    []int
	Orders   []string // of identifiers, by name; see OrderNames
	Runs     uint64   // the number of averaged runs if runs vary; 0: determined by Until
	Until    *big.Rat // the width of the confidence interval of the election messages at which runs end, as a multiple of the mean
	Seed     uint64   // run i has seed Seed + i
	Program  string   // the name of the program in a shell; empty: ringleader
}

// MostRuns is the largest number of averaged runs of a point. With Until the confidence interval may then still be wider.
const MostRuns = 1 << 20

// With Until, the interval is tested after that many runs: the least number, or, for small cheap networks, as many as
// together read that many positions, up to a number that is enough.
const (
	leastRuns  = 64
	enoughRead = 1 << 18
	enoughRuns = 1024
)

// New returns the study with its defaults, or an ErrStudy.
func New(s Study) (*Study, error) {
	switch {
	case len(s.Subjects) == 0:
		return nil, fmt.Errorf("%w: there is no algorithm; name at least one, such as lcr", ErrStudy)
	case len(s.Sizes) == 0:
		return nil, fmt.Errorf("%w: there is no size; at least one is needed, such as 16,64,256 or 8..1024", ErrStudy)
	case len(s.Orders) == 0:
		return nil, fmt.Errorf("%w: there is no order; choose from %s", ErrStudy, strings.Join(OrderNames, ", "))
	case s.Runs > MostRuns:
		return nil, fmt.Errorf("%w: %d runs are too many; at most %d", ErrStudy, s.Runs, MostRuns)
	case s.Runs == 0 && s.Until == nil:
		return nil, fmt.Errorf("%w: no number of orders to average, of at least 1, and no percentage to reach", ErrStudy)
	case s.Runs == 0 && (s.Until.Sign() <= 0 || s.Until.Cmp(big.NewRat(1, 1)) >= 0):
		return nil, fmt.Errorf("%w: a confidence interval can reach a percentage above 0%% and below 100%%, not %s", ErrStudy, percent(s.Until))
	}
	for i, name := range s.Orders {
		switch {
		case !slices.Contains(OrderNames, name):
			return nil, fmt.Errorf("%w: no such order: %q; choose from %s", ErrStudy, name, strings.Join(OrderNames, ", "))
		case slices.Contains(s.Orders[:i], name):
			return nil, fmt.Errorf("%w: the order %s occurs twice", ErrStudy, name)
		}
	}
	for i, subject := range s.Subjects {
		if slices.ContainsFunc(s.Subjects[:i], func(other *Subject) bool { return other.Label == subject.Label }) {
			return nil, fmt.Errorf("%w: %s occurs twice", ErrStudy, subject.Label)
		}
	}
	for _, p := range s.places() {
		if err := p.check(s.Seed); err != nil {
			return nil, err
		}
	}
	return &s, nil
}

// Command returns the command line of the study, with all defaults written out.
func (s *Study) Command() string {
	return strings.Join(append([]string{cmp.Or(s.Program, "ringleader"), "compare"}, s.Words()...), " ")
}

// Words returns the arguments and flags of that command.
func (s *Study) Words() (words []string) {
	for _, subject := range s.Subjects {
		words = append(words, subject.Label)
	}
	words = append(words, "--n", formatSizes(s.Sizes), "--order", strings.Join(s.Orders, ","))
	if s.Runs > 0 {
		words = append(words, "--orders", fmt.Sprint(s.Runs))
	} else {
		words = append(words, "--until", percent(s.Until))
	}
	return append(words, "--seed", fmt.Sprint(s.Seed))
}

// percent returns a fraction as a percentage.
func percent(r *big.Rat) string {
	hundredfold := new(big.Rat).Mul(r, big.NewRat(100, 1))
	return Decimal(hundredfold, 12) + "%"
}

// ParsePercent reads a percentage such as 1% or 0.5%.
func ParsePercent(text string) (*big.Rat, error) {
	number, found := strings.CutSuffix(text, "%")
	r, ok := election.Rational(number)
	if !found || !ok {
		return nil, fmt.Errorf("%q is not a percentage, such as 1%% or 0.5%%", text)
	}
	return r.Quo(r, big.NewRat(100, 1)), nil
}

// ParseSizes reads sizes: numbers and doublings such as 8..1024, separated by commas. They are sorted.
func ParseSizes(text string) ([]int, error) {
	var sizes []int
	for part := range strings.SplitSeq(text, ",") {
		from, to, doublings := strings.Cut(strings.TrimSpace(part), "..")
		first, err := parseSize(from)
		if err != nil {
			return nil, err
		}
		last := first
		if doublings {
			if last, err = parseSize(to); err != nil {
				return nil, err
			}
			if last < first {
				return nil, fmt.Errorf("%s is an empty range; sizes increase, such as 8..1024", part)
			}
		}
		for n := first; n <= last; n *= 2 {
			if slices.Contains(sizes, n) {
				return nil, fmt.Errorf("%d occurs twice", n)
			}
			sizes = append(sizes, n)
		}
	}
	slices.Sort(sizes)
	return sizes, nil
}

func parseSize(text string) (int, error) {
	n, err := strconv.ParseUint(strings.TrimSpace(text), 10, 64)
	if err != nil || n < 1 || n > order.MaxLen {
		return 0, fmt.Errorf("%q is not a number of processes from 1 to %d, such as 16,64,256 or 8..1024", text, uint64(order.MaxLen))
	}
	return int(n), nil
}

// formatSizes writes sizes as ParseSizes reads them: at least three doublings as such.
func formatSizes(sizes []int) string {
	var parts []string
	for i := 0; i < len(sizes); {
		last := i
		for last+1 < len(sizes) && sizes[last+1] == 2*sizes[last] {
			last++
		}
		if last-i < 2 {
			last = i
			parts = append(parts, fmt.Sprint(sizes[i]))
		} else {
			parts = append(parts, fmt.Sprintf("%d..%d", sizes[i], sizes[last]))
		}
		i = last + 1
	}
	return strings.Join(parts, ",")
}

// place is the algorithm, size and order of a point.
type place struct {
	*Subject
	n     int
	order string // empty if an order has no meaning
}

// places returns the places of the study, in the order of the table: by order, size and algorithm.
func (s *Study) places() []place {
	var places []place
	for i, name := range s.Orders {
		for _, n := range s.Sizes {
			for _, subject := range s.Subjects {
				switch {
				case subject.ordered():
					places = append(places, place{subject, n, name})
				case i == 0:
					places = append(places, place{subject, n, ""})
				}
			}
		}
	}
	return places
}

// setup returns the network of a run. Of all orders the seed is the number of one, from 0.
func (p *place) setup(seed uint64) (network.Setup, error) {
	if p.exhausted() {
		return p.on(arranged(p.n, seed)), nil
	}
	ids, err := order.Parse(cmp.Or(p.order, order.Names[0]), p.n, seed)
	if err != nil {
		return network.Setup{}, fmt.Errorf("%w: %w", ErrStudy, err)
	}
	i := p.on(ids)
	if p.Topology == election.Tree { // a path
		i.Edges = make([][2]int, p.n-1)
		for q := range i.Edges {
			i.Edges[q] = [2]int{q, q + 1}
		}
	}
	return i, nil
}

// on returns the network of the identifiers 1 … n in an order.
func (p *place) on(ids election.Arrangement) network.Setup {
	return network.Setup{IDs: order.Accepted(p.Declaration, ids, 1), Parameters: p.given}
}

// check returns an error if the algorithm cannot be run there.
func (p *place) check(seed uint64) error {
	if p.exhausted() {
		if err := p.exhaustible(); err != nil {
			return err
		}
		seed = 0
	}
	i, err := p.setup(seed)
	if err != nil || p.counted() && p.n > network.MaxRing {
		return err
	}
	_, err = network.Prepare(p.Declaration, i)
	return err
}

// weight returns the approximate work of some runs.
func (p *place) weight(from, to uint64) float64 {
	run := float64(p.n) * float64(bits.Len(uint(p.n)))
	const simulation = 16 // times as much as a count
	weight := run * float64(to-from)
	switch {
	case !p.simulated():
	case !p.counted():
		weight *= simulation
	case from < timedRuns:
		weight += run * simulation * float64(min(to, timedRuns)-from)
	}
	return weight
}
