package election

import (
	"math"
	"math/bits"
)

// Harmonic returns 1 + 1/2 + … + 1/n, for the averages in bounds.
func Harmonic(n uint64) float64 {
	if n > 1000 { // the asymptotic series is exact in float64 from here on
		x := float64(n)
		return math.Log(x) + 0.57721566490153286061 + 1/(2*x) - 1/(12*x*x) + 1/(120*x*x*x*x)
	}
	sum := 0.0
	for i := n; i > 0; i-- {
		sum += 1 / float64(i)
	}
	return sum
}

// CeilLog returns the least k with 2^k >= n, for n of at least 1.
func CeilLog(n uint64) uint64 { return uint64(bits.Len64(n - 1)) }
