// Package simulate runs an election on a simulated network, in memory: asynchronous, timed or synchronous, with the
// faults of package faults, given or drawn from the seed.
//
// The steps of the algorithm itself run, and the engine counts the messages. A seed determines the run, on every
// machine and in every later version.
//
// Small runs, and those with faults, timers or a record, use engines that check every step: clocked, which has a
// time, and links, which has a schedule only. Large ones use engines that trust the algorithm and do the same in a
// fraction of the time and memory: rounds; arcs, for unidirectional rings; tiled; and lottery. Tests show that the
// results are equal, and benchmarks measure the gain: go test -run '^$' -bench . -benchtime 5x ./simulate
//
// This package is v0: its API may change with any version.
package simulate
