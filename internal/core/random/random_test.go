package random

import (
	"math"
	"math/bits"
	"math/rand/v2"
	"slices"
	"testing"
)

// A change of these values breaks every published seed.
func TestASeedMeansTheSameNumbersForEver(t *testing.T) {
	for _, test := range []struct {
		seed, stream uint64
		want         []uint64 // Uint64 twice; Below 6, 1000, 2⁶³ + 1, 1, 2⁶⁴ - 1
	}{
		{0, Schedule, []uint64{2111928348701501016, 1888987939428075008, 0, 305, 1683976925530278221, 0, 6698229756060712560}},
		{1, Schedule, []uint64{18395765901794496440, 1890700816702069259, 5, 912, 2632256011784848610, 0, 14986086895252505313}},
		{1, Choices, []uint64{14192431797130687760, 11371241257079532652, 4, 796, 4610872105503713596, 0, 2449715415482412440}},
		{1, Order, []uint64{10471207216685475634, 12790621911787687525, 5, 930, 5226739740705344125, 0, 17199834493618797600}},
		{7, Network, []uint64{14035364124659327250, 640305499992465274, 5, 821, 3475379759694940375, 0, 7947102147682966142}},
		{1<<64 - 1, Choices, []uint64{9356088710977450850, 14271914233159252743, 0, 258, 8106396968257458601, 0, 2466998374027276205}},
	} {
		s := New(test.seed, test.stream)
		got := []uint64{s.Uint64(), s.Uint64(), s.Below(6), s.Below(1000), s.Below(1<<63 + 1), s.Below(1), s.Below(math.MaxUint64)}
		if !slices.Equal(got, test.want) {
			t.Errorf("{%d, %d, []uint64{%d, %d, %d, %d, %d, %d, %d}},", test.seed, test.stream, got[0], got[1], got[2], got[3], got[4], got[5], got[6])
		}
	}
}

// The streams are part of the promise too.
func TestStreamsAreThese(t *testing.T) {
	if got := []uint64{Schedule, Choices, Order, Network}; !slices.Equal(got, []uint64{1, 2, 3, 4}) {
		t.Errorf("%d", got)
	}
}

func TestStreamsOfOneSeedDiffer(t *testing.T) {
	seen := map[uint64]bool{}
	for seed := range uint64(100) {
		for stream := Schedule; stream <= Network; stream++ {
			first := New(seed, stream).Uint64()
			if seen[first] {
				t.Errorf("seed %d, stream %d begins as one before", seed, stream)
			}
			seen[first] = true
		}
	}
}

func TestBelowIsInRange(t *testing.T) {
	s := New(1, Choices)
	for _, n := range []uint64{1, 2, 3, 6, 1000, 1 << 32, 1<<32 + 1, 1 << 63, 1<<63 + 1, math.MaxUint64} {
		for range 1000 {
			if i := s.Below(n); i >= n {
				t.Fatalf("%d is not below %d", i, n)
			}
		}
	}
}

// With n = 3·2⁶² every third result would come twice as often as the others, if nothing were rejected.
func TestBelowFavoursNoValue(t *testing.T) {
	s := New(7, Choices)
	for _, n := range []uint64{2, 6, 9, 1000, 1<<63 + 1, 3 << 62, math.MaxUint64} {
		const draws = 120_000
		k := min(n, 9)
		parts, residues := make([]float64, k), make([]float64, k)
		for range draws {
			i := s.Below(n)
			hi, lo := bits.Mul64(i, k)
			part, _ := bits.Div64(hi, lo, n) // ⌊i·k/n⌋
			parts[part]++
			residues[i%k]++
		}
		if n == 1000 { // 9 does not divide it
			residues = parts
		}
		for _, counts := range [][]float64{parts, residues} {
			chi, each := 0.0, draws/float64(k)
			for _, c := range counts {
				chi += (c - each) * (c - each) / each
			}
			if chi > 40 { // with 8 degrees of freedom, a chance of 3 in a million; the seed is fixed
				t.Errorf("n = %d: %.0f, χ² = %.1f", n, counts, chi)
			}
		}
	}
}

// Of 2⁶⁴ numbers, 2⁶⁴ mod n are rejected: none to speak of, half, a quarter.
func TestBelowRejectsNoMoreThanItMust(t *testing.T) {
	for _, test := range []struct{ n, most uint64 }{
		{1, 0}, {6, 0}, {1 << 63, 0}, {1<<63 + 1, 1100}, {3 << 62, 400},
	} {
		s, same := New(3, Schedule), rand.NewPCG(3, Schedule)
		const draws = 1000
		for range draws {
			s.Below(test.n)
		}
		next, rejected := s.Uint64(), uint64(0)
		for range draws {
			same.Uint64()
		}
		for same.Uint64() != next {
			rejected++
		}
		if rejected > test.most {
			t.Errorf("n = %d: %d of %d rejected", test.n, rejected, draws+rejected)
		}
	}
}
