package mean_test

import (
	"math"
	"testing"

	"ringleader.example/ringleader/internal/core/mean"
)

func TestProbesIsTheMeanOverAllOrders(t *testing.T) {
	for n := 1; n <= 7; n++ {
		var probes, replies, orders int
		permute(upTo(n), 0, func(ring []int) {
			for p := range ring {
				clockwise, counter := greater(ring, p, 1), greater(ring, p, n-1)
				for reach := 1; ; reach *= 2 {
					for _, distance := range []int{clockwise, counter} {
						probes += min(reach, distance)
						if reach < distance {
							replies += reach
						}
					}
					if reach >= min(clockwise, counter) {
						break
					}
				}
			}
			orders++
		})
		wantProbes, wantReplies := float64(probes)/float64(orders), float64(replies)/float64(orders)
		gotProbes, gotReplies := mean.Probes(uint64(n))
		if math.Abs(gotProbes-wantProbes) > 1e-9 || math.Abs(gotReplies-wantReplies) > 1e-9 {
			t.Errorf("n = %d: %v probes and %v replies, want %v and %v", n, gotProbes, gotReplies, wantProbes, wantReplies)
		}
	}
}

// greater is how far a greater identifier is, or the own one, in steps of that many positions.
func greater(ring []int, p, step int) int {
	for d := 1; ; d++ {
		if ring[(p+d*step)%len(ring)] > ring[p] || d == len(ring) {
			return d
		}
	}
}

func upTo(n int) (all []int) {
	for i := range n {
		all = append(all, i)
	}
	return all
}

// permute visits all orders of what follows the first few.
func permute(all []int, fixed int, visit func([]int)) {
	if fixed == len(all) {
		visit(all)
	}
	for i := fixed; i < len(all); i++ {
		all[fixed], all[i] = all[i], all[fixed]
		permute(all, fixed+1, visit)
		all[fixed], all[i] = all[i], all[fixed]
	}
}
