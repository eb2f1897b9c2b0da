package cli

import (
	"testing"

	"ringleader.example/ringleader/catalogue/all"
	"ringleader.example/ringleader/election"
	"ringleader.example/ringleader/network"
	"ringleader.example/ringleader/order"
	"ringleader.example/ringleader/simulate"
)

// Under some faults, and with timeouts that are too short, elections never end; without a time to end they have a limit
// then, with room for those that end late.
func TestARunWithFaultsOrTimeoutsIsEndedIfNothingElseEndsIt(t *testing.T) {
	faulty := faultFlags{read: []faultLine{{"--fault", "partition 1 | 2"}}}
	for _, c := range []struct {
		algorithm string
		n         int
		faults    faultFlags
		until     uint64
		limit     uint64
	}{
		{"bully", 5, faulty, 0, 100_000_000},
		{"bully", 1000, faulty, 0, 4_000_000_000},
		{"lcr", 1 << 24, faulty, 0, 1 << 62},
		{"lcr", 5, faultFlags{}, 0, 0},
		{"logical-ring", 5, faultFlags{}, 0, 100_000_000},
		{"bully", 5, faulty, 100, 0},
		{"invitation", 5, faulty, 0, 0}, // it has settled some time after the last fault
	} {
		e, err := all.Algorithms.Find(c.algorithm)
		if err != nil {
			t.Fatal(err)
		}
		ids, err := order.Increasing(c.n)
		if err != nil {
			t.Fatal(err)
		}
		s := simulate.Options{Instance: network.Setup{IDs: ids}, Until: election.Units(c.until)}
		if limit := c.faults.patience(e, &s); limit != c.limit {
			t.Errorf("%s, n = %d, until %d: %d, want %d", c.algorithm, c.n, c.until, limit, c.limit)
		}
	}
}
