// Package simulate runs an election on a simulated network, in memory: asynchronous, timed or
// synchronous, with the faults of package faults, given or drawn from the seed.
//
// The algorithm's own steps run, unchanged, and the engine counts what they send. A seed determines a run, on every
// machine and in every later version.
//
// Small runs, and those with faults, timers or a record, go through engines that check every step: clocked, which has
// a time, and links, which has only a schedule. Large runs go through engines that trust the algorithm and do the
// same in a fraction of the time and memory: rounds; arcs, for one-directional rings; tiled; and lottery. Tests check
// that they do the same, and benchmarks measure what they gain:
// go test -run '^$' -bench . -benchtime 5x ./simulate
package simulate
