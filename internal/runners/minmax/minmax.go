// Package minmax holds the program of algorithm minmax. Each program is a package of its own, so that a change in one
// algorithm compiles one program.
package minmax

import (
	algorithm "ringleader.example/ringleader/algorithms/minmax"
	"ringleader.example/ringleader/internal/core/loops"
)

// Program is the algorithm.
var Program = loops.Must(loops.Of(&algorithm.Algorithm))
