// Package hirschbergsinclair holds the program of algorithm hirschbergsinclair. Each program is a package of its own, so that a change in one
// algorithm compiles one program.
package hirschbergsinclair

import (
	algorithm "ringleader.example/ringleader/algorithms/hirschbergsinclair"
	"ringleader.example/ringleader/internal/core/loops"
)

// Program is the algorithm.
var Program = loops.Must(loops.Of(&algorithm.Algorithm))
