// Package electiontest is the conformance suite of the contract: every algorithm of the catalogue passes
// it, and your own should, too.
//
//	func TestConformance(t *testing.T) { electiontest.Conform(t, mine.Algorithm, electiontest.Options{}) }
//
// It runs the algorithm on small networks under every timing that its declaration allows, simulated and
// checked over all schedules, and compares what happens with what is declared.
package electiontest
