// Package count says exactly what an election costs, in messages and in time, without simulating it.
//
// The costs are closed forms over the distances from each processor of a ring to the nearest greater
// identifiers on either side. One pass finds all distances in O(n) steps and reads each identifier once,
// so that a ring that is computed, as those of package order are, can be of any size: it is never stored.
// The counts are those of a run on a ring of distinct identifiers in which every processor starts before
// the first delivery; the times are those of a synchronous one, in which a message takes one unit.
package count
