// Package preferencering holds the program of algorithm preferencering. Each program is a package of its own, so that a change in one
// algorithm compiles one program.
package preferencering

import (
	algorithm "ringleader.example/ringleader/algorithms/preferencering"
	"ringleader.example/ringleader/internal/core/loops"
)

// Program is the algorithm.
var Program = loops.Must(loops.Of(&algorithm.Algorithm))
