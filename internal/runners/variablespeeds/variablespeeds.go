// Package variablespeeds holds the program of algorithm variablespeeds. Each program is a package of its own, so that a change in one
// algorithm compiles one program.
package variablespeeds

import (
	algorithm "ringleader.example/ringleader/algorithms/variablespeeds"
	"ringleader.example/ringleader/internal/core/loops"
)

// Program is the algorithm.
var Program = loops.Must(loops.OfSmall(&algorithm.Algorithm))
