// Package electiontest is the conformance suite of the contract. Every algorithm of the catalogue passes it, and a
// user's own should, too.
//
//	func TestConformance(t *testing.T) { electiontest.Conform(t, mine.Algorithm, electiontest.Options{}) }
//
// It runs the algorithm on small networks under every timing that its declaration allows, simulated and checked over
// all schedules, and compares the results with the declaration.
//
// This package is v0: its API may change with any version.
package electiontest
