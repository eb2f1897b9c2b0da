// Package count says exactly what an election costs, in messages and where it can in time, without simulating it.
//
// Where identifiers travel until they meet a greater one, the costs are closed forms over the distances from
// each processor to the nearest greater identifiers on either side; one pass finds all distances. Where active
// processes compare values phase by phase, one pass takes the values through all phases at once. Either way
// a count takes O(n) steps and reads each identifier once, so that a ring that is computed, as those of
// package order are, can be of any size: it is never stored. A large ring is cut into parts that are read at
// the same time, on as many processors as there are; the results do not depend on how it is cut.
//
// The counts are those of a run on a ring of distinct identifiers in which every processor starts before
// the first delivery; the times are those of a synchronous one, in which a message takes one unit.
package count
