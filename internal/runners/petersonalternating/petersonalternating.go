// Package petersonalternating holds the program of algorithm petersonalternating. Each program is a package of its own, so that a change in one
// algorithm compiles one program.
package petersonalternating

import (
	algorithm "ringleader.example/ringleader/algorithms/petersonalternating"
	"ringleader.example/ringleader/internal/core/loops"
)

// Program is the algorithm.
var Program = loops.Must(loops.Of(&algorithm.Algorithm))
