// Package logicalring holds the program of algorithm logicalring. Each program is a package of its own, so that a change in one
// algorithm compiles one program.
package logicalring

import (
	algorithm "ringleader.example/ringleader/algorithms/logicalring"
	"ringleader.example/ringleader/internal/core/loops"
)

// Program is the algorithm.
var Program = loops.Must(loops.OfSmall(&algorithm.Algorithm))
