package claims

import (
	"fmt"
	"math/big"
	"slices"
)

// verdicts collects claims.
type verdicts []Claim

// add judges a statement. measured is the first failure, if there is one.
func (v *verdicts) add(s Statement, holds bool, count int, measured string, args ...any) {
	*v = append(*v, Claim{s, sources[s].source, sources[s].text, holds, count, fmt.Sprintf(measured, args...)})
}

// unless judges a statement that holds unless a failure was found.
func (v *verdicts) unless(failure string, s Statement, count int, measured string, args ...any) {
	if failure != "" {
		measured, args = "%s", []any{failure}
	}
	v.add(s, failure == "", count, measured, args...)
}

// claims judges S5's statements.
func (w *walks) claims() []Claim {
	var v verdicts
	v.add(OneMessage, w.copies <= 1 && w.astray == "", w.copies, "%s", or(w.astray, "at most %d", w.copies))
	v.unless(w.endWith, EndsOfPhases, w.ends, "%d ends of phases", w.ends)
	grow := true
	for m, h := range w.hypotheses[1:] {
		grow = grow && w.hypotheses[m].Less(h)
	}
	v.add(GrowingPhases, grow, len(w.hypotheses), "%v", w.hypotheses)
	v.add(OneHome, slices.Equal(w.home, w.leaders) && len(w.home) == 1, len(w.home), "arrived: %v; leaders: %v", w.home, w.leaders)
	v.add(OneWaits, w.waits <= 1, w.waits, "at most %d", w.waits)
	v.unless(w.order, OrderKept, len(w.all), "%d identities walked, %d steps", len(w.all), w.steps())
	w.addTimes(&v)
	w.addPhases(&v)
	w.addProof(&v)
	decided := 0
	for _, d := range w.decided {
		if d {
			decided++
		}
	}
	v.add(Elected, len(w.leaders) == 1 && decided == w.n, decided, "leaders: %v; %d of %d know", w.leaders, decided, w.n)
	return v
}

// or returns the failure, or otherwise if there is none.
func or(failure, otherwise string, args ...any) string {
	if failure != "" {
		return failure
	}
	return fmt.Sprintf(otherwise, args...)
}

// steps counts the steps of all identities.
func (w *walks) steps() int {
	sum := 0
	for _, messages := range w.byPhase {
		sum += messages
	}
	return sum
}

// addTimes judges the statements about the times t at which processors enter phase 1.
func (w *walks) addTimes(v *verdicts) {
	n := big.NewInt(int64(w.n))
	late, most := w.latest()
	v.add(LatestEntry, late <= 0, 0, "t(j) - t(i) - dist(i, j) is at most %d", late)
	v.add(LastEntry, most.Cmp(n) <= 0, int(most.Int64()), "%d units, n = %d", most, w.n)
	sum := w.variation()
	v.add(SumOfRises, sum.Cmp(n) <= 0, int(sum.Int64()), "%d, n = %d", sum, w.n)
}

// latest returns the largest amount by which a processor entered phase 1 later than its distance from another, and
// the time from the first wake-up to the last entry. Distances add up, so neighbours suffice.
func (w *walks) latest() (late int64, most *big.Int) {
	most = new(big.Int)
	for q, t := range w.entered {
		before := w.entered[(q+w.n-1)%w.n]
		if t == nil || before == nil || w.woken == nil {
			return 1, new(big.Int).SetUint64(1 << 63) // a processor never entered
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

// variation returns the sum of the rises of t, from each participating identity to the next, clockwise. Without some
// of them the sum is no larger.
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

// addPhases judges the messages of each phase.
func (w *walks) addPhases(v *verdicts) {
	largest, phase := 0, 0
	for m, messages := range w.byPhase[1:] {
		if messages > largest {
			largest, phase = messages, m+1
		}
	}
	v.add(PhaseMessages, largest < 2*w.n, largest, "at most %d, in phase %d: %.3g n", largest, phase, float64(largest)/float64(w.n))
}
