// Package knownsize holds the program of algorithm knownsize. Each program is a package of its own, so that a change in one
// algorithm compiles one program.
package knownsize

import (
	algorithm "ringleader.example/ringleader/algorithms/knownsize"
	"ringleader.example/ringleader/internal/core/loops"
)

// Program is the algorithm.
var Program = loops.Must(loops.OfSmall(&algorithm.Algorithm))
