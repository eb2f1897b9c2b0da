package experiment

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"sort"

	"ringleader.example/ringleader/internal/study/work"
)

// Measuring is a study as work whose units are runs: those of the first point, then those of the next one. A result has the
// sums of some runs of consecutive points.
type Measuring struct {
	*Study
	places []place
	begin  []uint64 // the unit of the first run of each place, and the number of units
	index  map[string]int
}

// Measuring returns the study as work.
func (s *Study) Measuring() *Measuring {
	m := &Measuring{Study: s, places: s.places(), begin: []uint64{0}, index: map[string]int{}}
	for i := range m.places {
		p := &m.places[i]
		m.begin = append(m.begin, m.begin[i]+s.most(p))
		m.index[p.point().key()] = i
	}
	return m
}

// most returns the largest number of runs of a point.
func (s *Study) most(p *place) uint64 {
	switch {
	case !p.varies():
		return 1
	case p.exhausted():
		return rotations(p.n)
	case s.Runs > 0:
		return s.Runs
	}
	return MostRuns
}

// Units implements [work.Task].
func (m *Measuring) Units() uint64 { return m.begin[len(m.places)] }

// Adaptive reports whether the number of runs depends on their results.
func (m *Measuring) Adaptive() bool {
	return slices.ContainsFunc(m.places, func(p place) bool { return m.first(&p) < m.most(&p) })
}

// runs calls use for the runs in a piece, place by place.
func (m *Measuring) runs(p work.Piece, use func(place *place, from, to uint64) error) error {
	i := sort.Search(len(m.places), func(i int) bool { return m.begin[i+1] > p.From })
	for ; i < len(m.places) && m.begin[i] < p.To; i++ {
		begin := m.begin[i]
		if err := use(&m.places[i], max(p.From, begin)-begin, min(p.To, m.begin[i+1])-begin); err != nil {
			return err
		}
	}
	return nil
}

// Weight implements [work.Weighted].
func (m *Measuring) Weight(p work.Piece) (weight float64) {
	_ = m.runs(p, func(place *place, from, to uint64) error {
		weight += place.weight(from, to)
		return nil
	})
	return weight
}

// Compute implements [work.Task].
func (m *Measuring) Compute(ctx context.Context, p work.Piece) ([]byte, error) {
	var points []*Point
	err := m.runs(p, func(place *place, from, to uint64) error {
		point := place.point()
		for run := from; run < to; run++ {
			if err := ctx.Err(); err != nil {
				return err
			}
			seed := m.Seed + run
			if place.exhausted() {
				seed = run
			}
			c, err := place.run(ctx, seed, run < timedRuns && place.simulated())
			if err != nil {
				return fmt.Errorf("%s: %w", point.key(), err)
			}
			point.add(c)
		}
		points = append(points, point)
		return nil
	})
	if err != nil {
		return nil, err
	}
	return json.Marshal(points)
}

// Join implements [work.Task].
func (m *Measuring) Join(first, second []byte) ([]byte, error) {
	points, err := m.Points(first, second)
	if err != nil {
		return nil, err
	}
	return json.Marshal(points)
}

// errForeign reports a result that is not of a study.
var errForeign = errors.New("this is no result of the study")

// Points returns the points of results, in the order of the study.
func (m *Measuring) Points(results ...[]byte) (points []*Point, err error) {
	all := make([]*Point, len(m.places))
	for _, result := range results {
		var some []*Point
		if err := json.Unmarshal(result, &some); err != nil {
			return nil, err
		}
		for _, point := range some {
			if point == nil {
				return nil, errForeign
			}
			i, known := m.index[point.key()]
			if !known {
				return nil, errForeign
			}
			if place := m.places[i].point(); point.How != place.How || point.Varies != place.Varies || !point.whole() {
				return nil, errForeign
			}
			if all[i] == nil {
				all[i] = point
			} else {
				all[i].join(point)
			}
		}
	}
	for _, point := range all {
		if point != nil {
			points = append(points, point)
		}
	}
	return points, nil
}

// Needed implements [work.Growing]: the runs of each point, as many as it takes. The interval of a point is judged
// when all runs up to a number are known. Runs beyond it are made only if it was too wide, so where there are some, it was.
func (m *Measuring) Needed(results [][]byte) (needed []work.Piece, err error) {
	points, err := m.byPlace(results)
	if err != nil {
		return nil, err
	}
	for i := range m.places {
		needed = append(needed, work.Piece{From: m.begin[i], To: m.begin[i] + m.target(&m.places[i], points[i])})
	}
	return needed, nil
}

// byPlace returns the points of results by their place; nil where there are none.
func (m *Measuring) byPlace(results [][]byte) ([]*Point, error) {
	all := make([]*Point, len(m.places))
	points, err := m.Points(results...)
	for _, point := range points {
		all[m.index[point.key()]] = point
	}
	return all, err
}

// target returns the number of runs that a point takes, as far as is known.
func (m *Measuring) target(p *place, known *Point) uint64 {
	target := m.first(p)
	for known != nil && known.Runs() >= target && target < m.most(p) {
		if known.Runs() == target && known.Election.reached(m.Until) {
			break
		}
		target *= 2
	}
	return min(target, m.most(p))
}

// Finished returns how many points are complete, and how many there are.
func (m *Measuring) Finished(results [][]byte) (finished, all int) {
	points, _ := m.byPlace(results)
	for i, point := range points {
		if point != nil && point.Runs() >= m.target(&m.places[i], point) {
			finished++
		}
	}
	return finished, len(m.places)
}

// first returns the least number of runs.
func (s *Study) first(p *place) uint64 {
	switch {
	case !p.varies() || p.exhausted() || s.Runs > 0:
		return s.most(p)
	}
	return min(max(enoughRead/uint64(p.n), leastRuns), enoughRuns)
}
