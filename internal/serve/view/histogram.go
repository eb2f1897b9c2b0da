package view

import "time"

// Histogram counts lengths of time, each in the first bucket whose bound it does not exceed.
type Histogram struct {
	Buckets [len(bounds) + 1]uint64 // the last one has those above all bounds
	Sum     time.Duration
}

// bounds are those of all histograms: from a flush of a fast disk to the longest wait that ends.
var bounds = [...]time.Duration{
	100 * time.Microsecond, 250 * time.Microsecond, 500 * time.Microsecond, time.Millisecond, 2500 * time.Microsecond, 5 * time.Millisecond, 10 * time.Millisecond,
	25 * time.Millisecond, 50 * time.Millisecond, 100 * time.Millisecond, 250 * time.Millisecond, 500 * time.Millisecond, time.Second, 2500 * time.Millisecond, 5 * time.Second, 10 * time.Second,
}

// Bounds returns the bounds of all buckets but the last one, in rising order.
func Bounds() []time.Duration { return bounds[:] }

// Add counts a length of time.
func (h *Histogram) Add(d time.Duration) {
	i := 0
	for i < len(bounds) && d > bounds[i] {
		i++
	}
	h.Buckets[i]++
	h.Sum += d
}

// Count returns how many lengths were counted.
func (h *Histogram) Count() (n uint64) {
	for _, bucket := range h.Buckets {
		n += bucket
	}
	return n
}
