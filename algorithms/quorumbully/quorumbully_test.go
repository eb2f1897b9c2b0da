package quorumbully_test

import (
	"testing"

	"ringleader.example/ringleader/algorithms/quorumbully"
	"ringleader.example/ringleader/election/electiontest"
)

func TestConformance(t *testing.T) {
	electiontest.Conform(t, quorumbully.Algorithm, electiontest.Options{Verify: -1})
}
