// Package franklin holds the program of algorithm franklin. Each program is a package of its own, so that a change in one
// algorithm compiles one program.
package franklin

import (
	algorithm "ringleader.example/ringleader/algorithms/franklin"
	"ringleader.example/ringleader/internal/core/loops"
)

// Program is the algorithm.
var Program = loops.Must(loops.Of(&algorithm.Algorithm))
