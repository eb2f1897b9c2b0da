// Package count computes the exact cost of an election, in messages and for some algorithms in time, without a
// simulation.
//
// For algorithms in which identifiers travel until they meet a greater one, the costs are closed forms over the
// distances from each processor to the nearest greater identifiers on either side. One pass finds all distances. For
// algorithms in which active processes compare values phase by phase, one pass takes the values through all phases at
// once. Both take O(n) steps and read each identifier once. So a computed ring, such as those of package order, can
// be of any size: it is never stored. A large ring is cut into [Ranges] that are read in parallel, or by several
// processes; the results do not depend on the cuts. Two closed forms need one pass from end to end: higham-przytycka
// and dolev-klawe-rodeh-b.
//
// It counts a run on a ring of distinct identifiers in which every processor starts before the first
// delivery. Its times belong to a synchronous run, in which a message takes one unit.
//
// This package is v0: its API may change with any version.
package count
