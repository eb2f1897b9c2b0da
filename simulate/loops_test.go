package simulate

import (
	"testing"

	"ringleader.example/ringleader/algorithms/lcr"
	"ringleader.example/ringleader/algorithms/ringbully"
	"ringleader.example/ringleader/algorithms/tree"
	"ringleader.example/ringleader/election"
	"ringleader.example/ringleader/internal/loops"
)

func TestLoopsAreForOneKindOfNetwork(t *testing.T) {
	for name, fit := range map[string][3]bool{
		"lcr":        fits(&lcr.Algorithm),
		"ring-bully": fits(&ringbully.Algorithm),
		"tree":       fits(&tree.Algorithm),
	} {
		if want := [3]bool{name == "lcr", name == "ring-bully", name == "tree"}; fit != want {
			t.Errorf("%s has loops for one-directional rings, rings and networks: %v, want %v", name, fit, want)
		}
	}
}

// fits reports which of OfOneWay, OfRing and OfNetwork take an algorithm.
func fits[S, M any](a *election.Algorithm[S, M]) [3]bool {
	_, oneWay := loops.OfOneWay(a)
	_, ring := loops.OfRing(a)
	_, network := loops.OfNetwork(a)
	return [3]bool{oneWay == nil, ring == nil, network == nil}
}
