// Package setting compares moments, and finds by how much clocks are to be moved, from what messages between their owners allow.
package setting

import (
	"cmp"
	"hash/maphash"
	"slices"
	"time"

	"ringleader.example/ringleader/election"
)

// Knot is by how much a clock is moved at a time. Between two knots it moves by degrees.
type Knot struct{ At, By int64 }

// Moved returns by how much a time is moved.
func Moved(knots []Knot, at int64) int64 {
	if len(knots) == 0 {
		return 0
	}
	i, _ := slices.BinarySearchFunc(knots, at, func(k Knot, at int64) int { return cmp.Compare(k.At, at) })
	switch {
	case i == 0:
		return knots[0].By
	case i == len(knots):
		return knots[i-1].By
	}
	a, b := knots[i-1], knots[i]
	return a.By + int64(float64(b.By-a.By)*(float64(at-a.At)/float64(b.At-a.At)))
}

// roughly is how well clocks are set by terms.
const roughly = 2 * time.Second

// neighbours is how many terms before and after one are compared with it.
const neighbours = 2

// Smooth returns knots of which each is the median of those around it, and no two are further apart than drift allows.
func Smooth(knots []Knot, drift float64) (smoothed []Knot) {
	slices.SortStableFunc(knots, func(a, b Knot) int { return cmp.Compare(a.At, b.At) })
	for i, k := range knots {
		var around []int64
		for _, n := range knots[max(0, i-neighbours):min(len(knots), i+neighbours+1)] {
			around = append(around, n.By)
		}
		slices.Sort(around)
		if k.By = around[len(around)/2]; max(k.By, -k.By) < int64(roughly) { // it has followed late, and messages tell better
			k.By = 0
		}
		if last := len(smoothed) - 1; last >= 0 {
			if smoothed[last].At == k.At {
				continue
			}
			most := int64(2 * drift * float64(k.At-smoothed[last].At))
			k.By = min(max(k.By, smoothed[last].By-most), smoothed[last].By+most)
		}
		smoothed = append(smoothed, k)
	}
	return smoothed
}

// Bound is what a message says about a clock: what is to be added to it at a time, at least or at most.
type Bound struct {
	At, By int64
	Most   bool
}

// Rate returns the rate by which a clock is to be moved so that messages leave most room. 0: there is no sign of a drift.
func Rate(all []Bound, drift float64) float64 {
	// The room that a rate leaves is concave in the rate.
	slow, fast := -2*drift, 2*drift
	for range 50 {
		third := (fast - slow) / 3
		if Room(all, slow+third) < Room(all, fast-third) {
			slow += third
		} else {
			fast -= third
		}
	}
	if rate := (slow + fast) / 2; Room(all, 0) < 0 || Room(all, rate) >= 2*Room(all, 0) {
		return rate
	}
	return 0
}

// Limits returns between what a clock is to be moved at the first of some messages, if it is to be moved by a rate from then on.
func Limits(all []Bound, rate float64) (low, high int64) {
	low, high = -1<<62, 1<<62
	if len(all) == 0 {
		return low, high
	}
	for _, b := range all {
		by := b.By - int64(rate*float64(b.At-all[0].At))
		if b.Most {
			high = min(high, by)
		} else {
			low = max(low, by)
		}
	}
	return low, high
}

// Room returns how much the limits leave; negative: they contradict each other.
func Room(all []Bound, rate float64) int64 {
	low, high := Limits(all, rate)
	return high - low
}

// Window is a time in which a clock is compared with others.
type Window struct {
	From, To int64
	Unsure   time.Duration // negative: nothing ties it to others
	Conflict time.Duration // by how much messages arrive before they were sent, however the clock is set and drifts within its bound
}

// Near returns the window that is next to a time.
func Near(all []Window, at int64) (next Window) {
	next.Unsure = -1
	distance := int64(-1)
	for _, w := range all {
		if d := max(w.From-at, at-w.To, 0); distance < 0 || d < distance {
			next, distance = w, d
		}
	}
	return next
}

// Common returns how long two times overlap.
func Common(a, b, from, to int64) time.Duration {
	return time.Duration(max(0, min(b, to)-max(a, from)))
}

// Overlapping returns those of some times that are in a span.
func Overlapping(times [][2]int64, span [2]int64) (all [][2]int64) {
	for _, t := range times {
		if span[1] >= t[0] && span[0] <= t[1] {
			all = append(all, t)
		}
	}
	return all
}

// Last returns the last of some moments that is not after another one; that one, if all are.
func Last(all []int64, before int64) (last int64) {
	for _, at := range all {
		if at <= before {
			last = max(last, at)
		}
	}
	return cmp.Or(last, before)
}

// Passage is a message, for those that compare it: between whom, and what.
type Passage struct {
	from, to uint64
	kind     election.Kind
	payload  uint64
}

var digests = maphash.MakeSeed()

// PassageOf returns the passage of a message.
func PassageOf(from, to uint64, kind election.Kind, payload []byte) Passage {
	return Passage{from, to, kind, maphash.Bytes(digests, payload)}
}
