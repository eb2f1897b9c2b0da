package stopandgo_test

import (
	"math"
	"runtime"
	"slices"
	"testing"

	"ringleader.example/ringleader/algorithms/stopandgo"
	"ringleader.example/ringleader/internal/core/random"
	"ringleader.example/ringleader/simulate"
)

// trial is an adversary's choice: a ring and hypotheses.
type trial struct {
	ring
	hypotheses []int64
}

// phase returns the most messages of a phase.
func (c *trial) phase(t *testing.T) uint64 {
	a := listed(c.hypotheses...)
	return slices.Max(counted(t, a, c.options(nil)).byPhase[1:])
}

// changed returns a trial with one change.
func (c *trial) changed(source *random.Source) *trial {
	n := len(c.ids)
	below := func(n int) int { return int(source.Below(uint64(n))) }
	d := &trial{ring{slices.Clone(c.ids), slices.Clone(c.wakes), slices.Clone(c.unwilling)}, c.hypotheses}
	p, q := below(n), below(n)
	switch below(5) {
	case 0:
		d.ids[p], d.ids[q] = d.ids[q], d.ids[p]
	case 1:
		if id := uint64(1 + below(2*n)); !slices.Contains(d.ids, id) {
			d.ids[p] = id
		}
	case 2:
		d.wakes[p] = below(n+2) - 1
	case 3:
		if k := slices.Index(d.unwilling, p); k >= 0 {
			d.unwilling = slices.Delete(d.unwilling, k, k+1)
		} else if len(d.unwilling) < n-1 {
			d.unwilling = append(d.unwilling, p)
		}
	case 4:
		d.hypotheses = nil
		for h := int64(1 + below((n+1)/2)); ; h += int64(1 + below(n)) { // the leader alone takes n if h_1 is n
			if d.hypotheses = append(d.hypotheses, h); h >= int64(n) {
				break
			}
		}
	}
	if slices.Max(d.wakes) < 0 {
		d.wakes[p] = 0
	}
	return d
}

// Theorem 4.3 against an adversary that climbs from random rings to ones with larger phases. It is known to find 9
// messages with n = 8, and 15 with n = 12.
func TestAnAdversaryFindsPhasesOfMoreThanNMessagesAndNoneOf2N(t *testing.T) {
	for _, n := range []int{2, 4, 6, 8, 12} {
		source, largest := random.New(uint64(n), random.Schedule), uint64(0)
		for range 20 {
			c := &trial{hypotheses: []int64{1, int64(n)}}
			for p := range n {
				c.ids, c.wakes = append(c.ids, uint64(p+1)), append(c.wakes, 0)
			}
			for range 30 {
				c = c.changed(source)
			}
			best := c.phase(t)
			for range 3000 {
				d := c.changed(source)
				if found := d.phase(t); found >= best {
					c, best = d, found
				}
			}
			largest = max(largest, best)
		}
		t.Logf("n = %d: the largest phase found has %d messages, %.4g n", n, largest, float64(largest)/float64(n))
		if largest >= uint64(2*n) || n >= 8 && largest <= uint64(n) {
			t.Errorf("n = %d: the largest phase has %d messages", n, largest)
		}
	}
}

func TestAProcessorTakesAtMost200BytesInTheEngine(t *testing.T) {
	const n = 1 << 15
	var r ring
	for k := range n {
		r.ids = append(r.ids, uint64((12345*k)%n+1))
	}
	least := uint64(math.MaxUint64) // of some runs: the runtime allocates beside them
	for range 3 {
		var before, after runtime.MemStats
		runtime.ReadMemStats(&before)
		result, err := simulate.Must(simulate.OfSmall(&stopandgo.P1)).Run(r.options(nil))
		runtime.ReadMemStats(&after)
		if err != nil {
			t.Fatal(err)
		}
		if result.Bytes > 200*n {
			t.Errorf("%d bytes a processor", result.Bytes/n)
		}
		least = min(least, after.TotalAlloc-before.TotalAlloc)
	}
	if least > 200*n {
		t.Errorf("%d bytes a processor with all that was dropped on the way", least/n)
	}
}
