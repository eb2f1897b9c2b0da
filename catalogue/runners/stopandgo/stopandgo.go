// Package stopandgo holds the runner of algorithm stopandgo. Each runner is a package of its own, so that a change in one
// algorithm compiles one runner.
package stopandgo

import (
	algorithm "ringleader.example/ringleader/algorithms/stopandgo"
	"ringleader.example/ringleader/simulate"
)

// The runners of the four protocols.
var (
	P1 = simulate.Must(simulate.OfSmall(&algorithm.P1))
	P2 = simulate.Must(simulate.OfSmall(&algorithm.P2))
	P3 = simulate.Must(simulate.OfSmall(&algorithm.P3))
	P4 = simulate.Must(simulate.OfSmall(&algorithm.P4))
)
