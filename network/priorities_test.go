package network_test

import (
	"errors"
	"slices"
	"testing"

	"ringleader.example/ringleader/election"
	"ringleader.example/ringleader/network"
)

func TestPrioritiesAreOfTheProcessesThatHaveTheIdentifiers(t *testing.T) {
	for topology, want := range map[election.Topology][]uint16{election.Ring: {7, 0, 5}, election.Complete: {0, 5, 7}} {
		d := election.Declaration{Name: "ranked", Topology: topology, Priorities: true}
		for _, given := range [][]uint16{{7, 0, 5}, nil} {
			p, err := network.Prepare(&d, network.Setup{IDs: election.List{30, 10, 20}, Priorities: given})
			if err != nil {
				t.Fatal(err)
			}
			got := []uint16{p.Local(0).Priority, p.Local(1).Priority, p.Local(2).Priority}
			if given == nil {
				want = []uint16{1, 1, 1}
			}
			if !slices.Equal(got, want) {
				t.Errorf("%s, %v: %v; want %v", topology, given, got, want)
			}
		}
	}
}

func TestPrioritiesThatCannotBeAreRefused(t *testing.T) {
	for _, c := range []struct {
		knows bool
		given []uint16
	}{
		{true, []uint16{1, 2}},
		{true, []uint16{0, 0, 0}},
		{false, []uint16{1, 1, 1}},
	} {
		d := election.Declaration{Name: "ranked", Topology: election.Complete, Priorities: c.knows}
		if _, err := network.Prepare(&d, network.Setup{IDs: election.List{1, 2, 3}, Priorities: c.given}); !errors.Is(err, network.ErrSetup) {
			t.Errorf("%+v: %v", c, err)
		}
	}
}
