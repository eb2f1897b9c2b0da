package quorumbully_test

import (
	"testing"

	"ringleader.example/ringleader/algorithms/quorumbully"
	"ringleader.example/ringleader/election/electiontest"
)

// Terms and renewals have no end by default, so that schedules are checked with few of both, elsewhere.
func TestConformance(t *testing.T) {
	electiontest.Conform(t, quorumbully.Algorithm, electiontest.Options{
		Sizes: []int{1, 2, 3, 5}, Runs: 4, Verify: -1, Parameters: electiontest.Settings(&quorumbully.Algorithm.Declaration),
	})
}
