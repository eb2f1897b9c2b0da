// Package preferencetree holds the program of algorithm preferencetree. Each program is a package of its own, so that a change in one
// algorithm compiles one program.
package preferencetree

import (
	algorithm "ringleader.example/ringleader/algorithms/preferencetree"
	"ringleader.example/ringleader/internal/core/loops"
)

// Program is the algorithm.
var Program = loops.Must(loops.OfRounds(&algorithm.Algorithm))
