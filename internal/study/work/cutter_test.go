package work_test

import (
	"math/rand/v2"
	"slices"
	"testing"
	"time"

	"ringleader.example/ringleader/internal/study/work"
)

// Each unit is in one open piece at most, and nothing is forgotten, whatever is taken back, adopted, or done elsewhere.
func TestACutterForgetsNoUnit(t *testing.T) {
	for seed := range uint64(100) {
		random := rand.New(rand.NewPCG(seed, 3))
		task := &sums{Of: 120}
		r := results(t, task, nil, nil)
		c := work.NewCutter(task, r, 3)
		var open []work.Piece
		take := func(p work.Piece) bool {
			return taken(t, task, r, p)
		}
		free := func(p work.Piece) bool {
			var taken work.Ranges
			for _, o := range open {
				taken.Add(o)
			}
			return !taken.Meets(p)
		}
		for steps := 0; len(r.Missing()) > 0; steps++ {
			if steps > 10_000 {
				t.Fatalf("seed %d: missing %v, open %v", seed, r.Missing(), open)
			}
			c.Suit(1 + random.IntN(5))
			from := random.Uint64N(120)
			p := work.Piece{From: from, To: min(120, from+1+random.Uint64N(6))}
			switch random.IntN(5) {
			case 0: // another commander has cut a piece
				if free(p) && untouched(r, p) {
					c.Claim(p)
					open = append(open, p)
				}
			case 1: // … and has its result
				take(p)
			}
			if p, ok := c.Next(); ok {
				if !free(p) {
					t.Fatalf("seed %d: %s is cut, and %v are open", seed, p, open)
				}
				open = append(open, p)
			}
			if len(open) == 0 {
				continue
			}
			at := random.IntN(len(open))
			p = open[at]
			open = slices.Delete(open, at, at+1)
			if random.IntN(3) == 0 || !take(p) {
				c.Recut(p)
			} else {
				c.Done(p, time.Millisecond)
			}
		}
		for _, p := range open {
			c.Recut(p)
		}
		if at := c.Progress(); at.Done != 120 || at.Workers != 0 || at.Left > 0 {
			t.Errorf("seed %d: %+v", seed, at)
		}
	}
}

// taken computes a piece, and reports whether its result is taken.
func taken(t *testing.T, task work.Task, r *work.Results, p work.Piece) bool {
	t.Helper()
	result, err := task.Compute(t.Context(), p)
	if err != nil {
		t.Fatal(err)
	}
	taken, err := r.Take(p, result)
	if err != nil {
		t.Fatal(err)
	}
	return taken
}

// untouched reports whether each unit of a piece is missing.
func untouched(r *work.Results, p work.Piece) bool {
	return slices.ContainsFunc(r.Missing(), func(m work.Piece) bool { return m.From <= p.From && p.To <= m.To })
}

func TestPiecesSuitTheNumberOfWorkers(t *testing.T) {
	length := func(workers int) uint64 {
		task := &sums{Of: 1000}
		c := work.NewCutter(task, results(t, task, nil, nil), 1)
		for range 4 {
			p, _ := c.Next()
			c.Done(p, time.Duration(p.Len())*time.Millisecond)
		}
		c.Suit(workers)
		p, _ := c.Next()
		return p.Len()
	}
	if few, many := length(1), length(10); many*5 > few {
		t.Errorf("a piece for 1 worker has %d units, and one for 10 has %d", few, many)
	}
}

func TestPiecesForManyWorkersAreLonger(t *testing.T) {
	for workers, want := range map[int]uint64{1: 1000, 500: 1000, 20_000: 40_000} {
		task := &sums{Of: 1 << 40}
		c := work.NewCutter(task, results(t, task, nil, nil), workers)
		var p work.Piece
		for range 8 {
			p, _ = c.Next()
			c.Done(p, time.Duration(p.Len())*time.Millisecond)
		}
		if p.Len() != want {
			t.Errorf("a piece for %d workers takes %d ms, and %d suit", workers, p.Len(), want)
		}
	}
}
