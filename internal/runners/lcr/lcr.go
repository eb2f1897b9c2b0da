// Package lcr holds the program of algorithm lcr. Each program is a package of its own, so that a change in one
// algorithm compiles one program.
package lcr

import (
	algorithm "ringleader.example/ringleader/algorithms/lcr"
	"ringleader.example/ringleader/internal/core/loops"
)

// Program is the algorithm.
var Program = loops.Must(loops.Of(&algorithm.Algorithm))
