package check

import (
	"fmt"
	"math/big"
	"slices"
)

// claims are S5's, with what was found.
func (w *walks) claims() []Claim {
	var all []Claim
	add := func(source, text string, holds bool, measured string, args ...any) {
		all = append(all, Claim{source, text, holds, fmt.Sprintf(measured, args...)})
	}
	found := func(failure, otherwise string, args ...any) string {
		if failure != "" {
			return failure
		}
		return fmt.Sprintf(otherwise, args...)
	}
	add("S5 section 4, observation (1)", "each participating identity has at most one message in the ring", w.copies <= 1 && w.astray == "",
		"%s", found(w.astray, "at most %d", w.copies))
	add("S5 section 4, observation (2)", "at the end of phase m an alive identity has walked h_m steps, or is home", w.endWith == "",
		"%s", found(w.endWith, "%d ends of phases", w.ends))
	grow := true
	for m, h := range w.hypotheses[1:] {
		grow = grow && w.hypotheses[m].Less(h)
	}
	add("S5 section 4, observation (3)", "each hypothesis is greater than the one before", grow, "%v", w.hypotheses)
	add("S5 section 4, observation (4)", "only the identity of the leader arrives at the processor where it started",
		slices.Equal(w.home, w.leaders) && len(w.home) == 1, "arrived: %v; leaders: %v", w.home, w.leaders)
	add("S5 section 3", "at most one message waits at a processor", w.waits <= 1, "at most %d", w.waits)
	add("S5 section 4", "the cyclic order of the alive identities never changes", w.order == "",
		"%s", found(w.order, "%d identities walked, %d steps", len(w.all), w.steps()))

	late, most := w.latest()
	add("S5 section 4", "t(j) <= t(i) + dist(i, j)", late <= 0, "t(j) - t(i) - dist(i, j) is at most %d", late)
	add("S5 theorem 4.2", "at most n units between the first to wake and the last to enter phase 1", most.Cmp(big.NewInt(int64(w.n))) <= 0,
		"%d units, n = %d", most, w.n)
	sum := w.variation()
	add("S5 lemma 4.4", "the sum of the rises of t round the ring is at most n", sum.Cmp(big.NewInt(int64(w.n))) <= 0, "%d, n = %d", sum, w.n)

	largest, phase := 0, 0
	for m, messages := range w.byPhase[1:] {
		if messages > largest {
			largest, phase = messages, m+1
		}
	}
	add("S5 theorem 4.3", "fewer than 2n messages in each phase", largest < 2*w.n, "at most %d, in phase %d: %.3g n",
		largest, phase, float64(largest)/float64(w.n))
	w.addBlack(add)
	pairs, failure := w.lemma45()
	add("S5 lemma 4.5", "t(j) < t(i) - h_m(j - i) if a processor in phase m sends j, and later i", failure == "",
		"%s", found(failure, "%d such pairs", pairs))
	decided := 0
	for _, d := range w.decided {
		if d {
			decided++
		}
	}
	add("S5 theorem 4.1", "at the end a leader has been elected", len(w.leaders) == 1 && decided == w.n,
		"leaders: %v; %d of %d know", w.leaders, decided, w.n)
	return all
}

// steps is how many steps all identities made.
func (w *walks) steps() int {
	sum := 0
	for _, messages := range w.byPhase {
		sum += messages
	}
	return sum
}

// latest is how much later than its distance from another a processor entered phase 1, at most, and how long after
// the first woke the last did so. Distances add up, so neighbours say it all.
func (w *walks) latest() (late int64, most *big.Int) {
	most = new(big.Int)
	for q, t := range w.entered {
		before := w.entered[(q+w.n-1)%w.n]
		if t == nil || before == nil || w.woken == nil {
			return 1, new(big.Int).SetUint64(1 << 63) // somebody never entered
		}
		if d := new(big.Int).Sub(t, before); d.Sub(d, big.NewInt(1)).IsInt64() && (q == 0 || d.Int64() > late) {
			late = d.Int64()
		}
		if d := new(big.Int).Sub(t, w.woken); d.Cmp(most) > 0 {
			most = d
		}
	}
	return late, most
}

// variation is by how much t rises in all, from each participating identity to the next, clockwise. Leaving some
// out makes it no larger.
func (w *walks) variation() *big.Int {
	sum := new(big.Int)
	around := slices.SortedFunc(slices.Values(w.all), func(x, y *walk) int { return x.home - y.home })
	for k, x := range around {
		if d := new(big.Int).Sub(around[(k+1)%len(around)].t, x.t); d.Sign() > 0 {
			sum.Add(sum, d)
		}
	}
	return sum
}

// addBlack is about black identities: of which no processor sends, in that phase, a smaller one later. The segment of
// each is the processors that send it.
func (w *walks) addBlack(add func(source, text string, holds bool, measured string, args ...any)) {
	disjoint, most := true, 0
	for _, processors := range w.sent {
		other := map[*walk]bool{} // red or white
		for _, row := range processors {
			for k, x := range row {
				if slices.ContainsFunc(row[k+1:], func(y *walk) bool { return y.id < x.id }) {
					other[x] = true
				}
			}
		}
		sum := 0
		for _, row := range processors {
			black := 0
			for _, x := range row {
				if !other[x] {
					black++
				}
			}
			disjoint = disjoint && black <= 1
			sum += black
		}
		most = max(most, sum)
	}
	add("S5 theorem 4.3, proof", "the segments of black identities are disjoint, and together at most n", disjoint && most <= w.n,
		"together at most %d, n = %d", most, w.n)
}

// lemma45 goes through all pairs of identities of which a processor sends in one phase first j, then i.
func (w *walks) lemma45() (pairs int, failure string) {
	for phase, processors := range w.sent {
		for _, row := range processors {
			for k, i := range row {
				for _, j := range row[:k] {
					pairs++
					least := new(big.Int).SetUint64(j.id - i.id)
					least.Mul(least, w.hypothesis(phase).Big())
					if j.id <= i.id || new(big.Int).Sub(i.t, j.t).Cmp(least) <= 0 {
						failure = fmt.Sprintf("phase %d, j = %d, i = %d: t(j) = %d, t(i) = %d", phase, j.id, i.id, j.t, i.t)
					}
				}
			}
		}
	}
	return pairs, failure
}
