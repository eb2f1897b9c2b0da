// Package mean holds mean costs over all orders of identifiers that more than one algorithm declares.
package mean

import "ringleader.example/ringleader/election"

// Probes returns the exact mean, over all orders of identifiers on a ring of n, of the messages that Hirschberg and
// Sinclair's processors send in search of a greater one, and of the hops of the replies that let them continue. In stage
// i a probe may make 2^i hops to either side. It makes hop t if its sender is the greatest of all that the earlier
// stages and this probe have reached.
func Probes(n uint64) (probes, replies float64) {
	for side, reach := uint64(0), uint64(1); side <= n-1; side, reach = reach, 2*reach {
		probes += 2 * meanHops(n, side, min(reach, n))
		if reach <= n-1 {
			replies += 2 * float64(reach) / float64(min(n, 1+side+reach))
		}
	}
	return float64(n) * probes, float64(n) * replies
}

// meanHops is the mean number of hops of a probe that may make reach, of a processor whose earlier stages
// have reached side to either side: hop t is made if it is the greatest of 1 + side + max(side, t-1)
// processors, but no more than n.
func meanHops(n, side, reach uint64) float64 {
	near := min(reach, side+1)           // hops among those that are known to be smaller
	far := max(near, min(reach, n-side)) // hops before the two sides of the segment meet
	hops := float64(near)/float64(min(n, 2*side+1)) + float64(reach-far)/float64(n)
	if far > near {
		hops += election.Harmonic(side+far) - election.Harmonic(side+near)
	}
	return hops
}
