// Package simulate runs an election on a simulated network, in memory: asynchronous, timed or
// synchronous, with crashes, recoveries and mistakes of the failure detector.
//
// The algorithm's own steps run, unchanged, and the engine counts what they send. One seed means one
// run, on every machine and in every later version.
package simulate
