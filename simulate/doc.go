// Package simulate runs an election on a simulated network, in memory: asynchronous, timed or
// synchronous, with all that can go wrong: package faults, given or drawn from the seed.
//
// The algorithm's own steps run, unchanged, and the engine counts what they send. One seed means one
// run, on every machine and in every later version.
//
// Small runs, and those with faults, timers or a record, go through engines that look at every step:
// clocked, which has a time, and links, which has a schedule only. Large ones go through engines that trust
// the algorithm and do the same in a fraction of the time and memory: rounds; arcs, for rings of one
// direction; tiled; and lottery. Tests show that they do the same, and benchmarks what they gain:
// go test -run '^$' -bench . -benchtime 5x ./simulate
package simulate
