// Package stopandgo is the algorithm of that name, ready to run. Each algorithm is compiled to a runner apart, so that who
// changes one waits for one.
package stopandgo

import (
	algorithm "ringleader.example/ringleader/algorithms/stopandgo"
	"ringleader.example/ringleader/simulate"
)

// The runners of its four protocols.
var (
	P1 = simulate.Must(simulate.OfSmall(&algorithm.P1))
	P2 = simulate.Must(simulate.OfSmall(&algorithm.P2))
	P3 = simulate.Must(simulate.OfSmall(&algorithm.P3))
	P4 = simulate.Must(simulate.OfSmall(&algorithm.P4))
)
