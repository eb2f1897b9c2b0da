package network_test

import (
	"testing"

	"ringleader.example/ringleader/election"
	"ringleader.example/ringleader/network"
)

func TestTheNumberThatAHostGivesReachesItsProcessOnly(t *testing.T) {
	d := election.Declaration{Name: "numbered", Topology: election.Complete}
	p, err := network.Prepare(&d, network.On(1, 2, 3))
	if err != nil {
		t.Fatal(err)
	}
	if p.Local(2).Incarnation != 0 {
		t.Error("a number that no host gave")
	}
	if p.Incarnate(2, 77); p.Local(2).Incarnation != 77 || p.Local(1).Incarnation != 0 {
		t.Errorf("%+v, %+v", p.Local(1), p.Local(2))
	}
}
