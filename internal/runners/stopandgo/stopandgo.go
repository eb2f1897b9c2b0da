// Package stopandgo holds the program of algorithm stopandgo. Each program is a package of its own, so that a change in one
// algorithm compiles one program.
package stopandgo

import (
	algorithm "ringleader.example/ringleader/algorithms/stopandgo"
	"ringleader.example/ringleader/internal/core/loops"
)

// The programs of its four protocols.
var (
	P1 = loops.Must(loops.OfSmall(&algorithm.P1))
	P2 = loops.Must(loops.OfSmall(&algorithm.P2))
	P3 = loops.Must(loops.OfSmall(&algorithm.P3))
	P4 = loops.Must(loops.OfSmall(&algorithm.P4))
)
