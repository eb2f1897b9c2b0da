// Package stopandgo is the algorithm of that name, ready to run. Each algorithm is compiled apart, so that a change
// in one compiles one.
package stopandgo

import (
	algorithm "ringleader.example/ringleader/algorithms/stopandgo"
	"ringleader.example/ringleader/internal/loops"
)

// The programs of its four protocols.
var (
	P1 = loops.Must(loops.OfSmall(&algorithm.P1))
	P2 = loops.Must(loops.OfSmall(&algorithm.P2))
	P3 = loops.Must(loops.OfSmall(&algorithm.P3))
	P4 = loops.Must(loops.OfSmall(&algorithm.P4))
)
